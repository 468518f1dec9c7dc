"""Events with names, numbered and published."""
