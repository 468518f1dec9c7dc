"""The graph of a blueprint as it runs: its nodes and results, its orders and its events."""
