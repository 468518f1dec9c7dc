"""Text files with line numbers: each value knows where it was written."""
