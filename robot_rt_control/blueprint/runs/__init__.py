"""Runs of blueprints on a robot: started, controlled, logged, rehearsed."""
