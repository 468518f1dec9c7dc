"""Skills that are kept, with their versions."""
