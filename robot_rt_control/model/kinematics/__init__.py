"""Kinematics and dynamics of chains, compiled for the loop."""
