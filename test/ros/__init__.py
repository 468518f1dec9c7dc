"""A package, so that fixtures of its scope end with its last test: a workcell takes a processor."""
