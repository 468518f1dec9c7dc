"""The compiled tick: one file for each step. Nothing here allocates, raises, or calls Python."""
