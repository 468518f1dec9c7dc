"""A track_trajectory of more points than its record holds, or of tool poses: a motion group of one part.

Its set points come through a queue, so that it may have any length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robot_rt_control.actions.path_control import is_position_mode
from robot_rt_control.actions.track_trajectory import MAX_SEGMENTS, SLOWEST
from robot_rt_control.definitions.action_type import Part
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.definitions.motion_command import POINTS, MotionCommand, Trajectory, points_in_time
from robot_rt_control.motion_group.limits import part_limits
from robot_rt_control.motion_group.retiming import keep_limits
from robot_rt_control.motion_group.trajectory import curve_through

_TYPE = "track_trajectory"


def as_group(action: ActionDefinition, parts: Mapping[str, Part]) -> ActionDefinition:
    """The action, as a motion group if it is a trajectory that only a group can follow.

    Args:
        parts: of the workcell, by name.

    Raises:
        DefinitionError: its lists of numbers do not fit together, or it would have to be too slow.
    """
    if action.type != _TYPE or action.strategies:
        return action
    given = {p.name: p for p in action.parameters}
    if not is_position_mode({name: p.value for name, p in given.items()}):
        return action
    numbers = {name: np.atleast_1d(np.asarray(p.value, float)) for name, p in given.items()}
    times = numbers.get("times", np.zeros(0))
    if len(times) <= MAX_SEGMENTS + 1 and "poses" not in given:
        return action
    (part,) = action.parts.values() if isinstance(action.parts, Mapping) else action.parts
    lists = {name: numbers[name] for name in POINTS if name in numbers}
    points = points_in_time(f"action {action.id!r}: number of ", len(times), lists)
    slowest = float(numbers["slowest"][0]) if "slowest" in numbers else SLOWEST
    times, points = _slowed(f"action {action.id!r}", times, points, parts[part], slowest)
    options: dict[str, Any] = {}
    if "start_tolerance" in numbers:
        options["start_tolerance"] = float(numbers["start_tolerance"][0])
    kept = [given["tolerance"]] if "tolerance" in given else []
    return replace(
        action,
        type="motion_group",
        parts=(part,),
        parameters=(ParameterValue(name="profile", value="async"), *kept),
        commands=(MotionCommand(part=part, trajectory=Trajectory(times=times, **points), **options),),
    )


def _slowed(
    where: str, times: np.ndarray, points: dict[str, np.ndarray], part: Part, slowest: float
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The points, slowed as `track_trajectory` does; what is wrong with them is found later, with other mistakes."""
    q, v, a = (points.get(name) for name in POINTS[:3])
    n, dof = len(times), part.dof
    shapes = {(n, dof), (2 * n - 2, dof)}
    if (
        q is None
        or (v is None and a is not None)
        or not all(x is None or (x.shape in shapes and np.isfinite(x).all()) for x in (q, v, a))
        or not (times[0] == 0.0 and np.isfinite(times[-1]) and (np.diff(times) > 0.0).all())
    ):
        return times, points
    if a is not None and len(a) != n:
        a = a.reshape(2, n - 1, dof)
    made = keep_limits(where, curve_through(times, q, v, a), part_limits(part), slowest=slowest)
    if not made.slowings:
        return times, points
    return made.times, {"positions": made.q, "velocities": made.v, "accelerations": made.a.reshape(-1, dof)}
