"""Contact-interaction planning, offline: where, when and how to touch a body so that it moves to a target.

`planner.plan` is the façade. How it works and what is open: docs/planning_design.md.
"""
