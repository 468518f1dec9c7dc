"""Programs by name, and which of their states sessions are in."""
