"""Workcell and robot description, and the kinematics kernel of the loop.

Façades: `workcell.load_workcell` for descriptions, `kinematics` for the compiled kernel.
"""
