"""Real-time code as machine code: the mark, how marked functions are compiled, and object files."""
