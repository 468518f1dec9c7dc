"""Planning again from where robot and body are measured, started from the rest of the last plan.

    found = plan_again(task, last, joints=measured, body=pose)                  after its end, robot back at its start
    found = plan_again(task, last, joints=measured, body=pose, elapsed=0.4)     stopped on its way

The target stays, and so does the accuracy that is asked for: a correction's own way would make it ever stricter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.guess.pushing import Pushing
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.plan.plan import LEAST_WAY, Plan, distance_to
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve.planner import Cancel, Progress, Result, plan
from robot_rt_control.planning.task import Start, Task

Array = NDArray[np.float64]

_TINY = 1e-9
_MOST_TOO_FAR = 0.003
"""[m] Engines and grounds differ by 1 to 2 mm."""
_OWN_MISS = 0.15
"""Fraction of its way. A body farther from where its push should end was moved by something else as well. That is three
times what a replay may miss by."""
_SHARE = 0.5
"""Fraction of a way that is shorter than what is left: the error that is accepted, at most."""
_MOST_TIME = 5.0
"""Factor of what is left of the horizon, for a way around the body."""
_LEAST_TIME = 0.5
"""Fraction of the task's horizon: what is left to do takes time as well."""


def plan_again(
    task: Task,
    last: Plan,
    *,
    joints: Mapping[str, Sequence[float]],
    body: Pose,
    elapsed: float = 0.0,
    way: float | None = None,
    settings: Settings | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    cancel: Cancel | None = None,
    time_limit: float | None = None,
) -> Result:
    """Plan the rest of a task.

    Args:
        task: as it was planned.
        last: the plan that was carried out, wholly or in part.
        joints: part → [rad or m] where it is, at rest.
        body: X_WB as measured.
        elapsed: [s] on the last plan when it was stopped: its inputs from there on are the first guess. 0: all of them.
        way: [m] that `accept_position` counts per, such as `first.way` for a row of corrections; default: the last
            plan's.
        settings, progress, cancel, time_limit: as of `plan`.

    Raises:
        DefinitionError: as `plan`.
    """
    settings = settings or Settings()
    at, rest = np.array(body.position), remaining(task, joints=joints, body=body, elapsed=elapsed)
    if elapsed == 0.0:
        rest = _aimed(rest, last, at)
    accepted = settings.accept_position * (last.way if way is None else max(way, LEAST_WAY))
    left = distance_to(rest.target.position, at, task.free)
    if rest.target != task.target:  # else to stay would do
        accepted = min(accepted, _SHARE * left)
    settings = replace(settings, accept_position=accepted / max(left, LEAST_WAY))
    return plan(
        _in_time(rest, settings),
        settings,
        progress=progress,
        cancel=cancel,
        start_from=last.rest(elapsed),
        time_limit=time_limit,
    )


def _in_time(task: Task, settings: Settings) -> Task:
    """With time to go around the body, if it has to be pushed back: in haste a robot grazes it."""
    needed = min(Pushing(Problem(task, settings, build_scene(task))).needed_time(), _MOST_TIME * task.time)
    steps = max(task.steps, math.ceil(needed / task.control_step))
    return replace(task, time=task.control_step * steps, steps=steps)


def _aimed(task: Task, last: Plan, at: Array) -> Task:
    """Short by what the last push went too far, or beyond: bodies stop elsewhere than planned by the same each time.

    Unless something else moved the body: a push does not do that again.
    """
    counts = np.array([axis not in task.free for axis in ("x", "y", "z")])
    way = counts * (np.array(task.target.position) - at)
    before = counts * (np.array(last.header["target"][0]) - last.body_position[0])
    missed = counts * (at - last.body_position[-1])
    left, length = float(np.linalg.norm(way)), float(np.linalg.norm(before))
    if left < _TINY or length < _TINY or float(np.linalg.norm(missed)) > _OWN_MISS * length:
        return task
    most = min(_MOST_TOO_FAR, 0.75 * left)
    too_far = float(np.clip(missed @ before / length, -most, most))
    position = np.array(task.target.position) - too_far / left * way
    return replace(task, target=task.target.model_copy(update={"position": tuple(map(float, position))}))


def remaining(task: Task, *, joints: Mapping[str, Sequence[float]], body: Pose, elapsed: float = 0.0) -> Task:
    """The task from a measured state: with what is left of its horizon, but at least half of it."""
    step = task.control_step
    steps = max(task.steps - int(elapsed / step), int(np.ceil(_LEAST_TIME * task.steps)))
    given: dict[str, Any] = {part: tuple(float(q) for q in values) for part, values in joints.items()}
    return replace(task, start=Start(joints=given, body=body), time=step * steps, steps=steps)
