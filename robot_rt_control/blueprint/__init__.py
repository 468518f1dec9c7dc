"""Behavior blueprints: skills in levels, and the engine that decides what comes after what, outside real time."""
