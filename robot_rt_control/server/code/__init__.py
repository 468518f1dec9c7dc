"""The code of action types: where classes are found and loaded, which files it is, and what clients have sent."""
