"""The engine: one machine that walks through a graph."""
