"""Contact-interaction planning, offline: where, when and how to touch a body so that it moves to a target.

`plan_file` plans from a task file, `planner.plan` from a `Task`. Names here are imported when they are first used: a
plan is read without MuJoCo. How it works: docs/planning.md; what was decided: docs/planning_design.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_rt_control.planning.files.from_file import plan_file
    from robot_rt_control.planning.files.task_file import TaskFile, read_task
    from robot_rt_control.planning.optimise.settings import Settings
    from robot_rt_control.planning.plan.plan import Plan
    from robot_rt_control.planning.solve.planner import Progress, Result
    from robot_rt_control.planning.task import PairGroup, Start, Task

_PLACES = {
    "PairGroup": "task",
    "Plan": "plan.plan",
    "Progress": "solve.planner",
    "Result": "solve.planner",
    "Settings": "optimise.settings",
    "Start": "task",
    "Task": "task",
    "TaskFile": "files.task_file",
    "plan_file": "files.from_file",
    "read_task": "files.task_file",
}

__all__ = [
    "PairGroup", "Plan", "Progress", "Result", "Settings", "Start", "Task", "TaskFile", "plan_file", "read_task",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
