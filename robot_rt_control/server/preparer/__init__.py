"""The preparer: runs `create` and `prepare_parameters` of users' action types in processes of their own."""
