"""Compilation of real-time code: the marker, the compiler of marked functions, and object files."""
