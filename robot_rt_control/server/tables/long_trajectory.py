"""A track_trajectory of more points than its record holds, or of tool poses: a motion group of one part.

Its set points come through a queue, so that it may have any length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robot_rt_control.actions.path_control import is_position_mode
from robot_rt_control.actions.track_trajectory import MAX_SEGMENTS
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.definitions.motion_command import POINTS, MotionCommand, Trajectory, points_in_time

_TYPE = "track_trajectory"


def as_group(action: ActionDefinition) -> ActionDefinition:
    """The action, as a motion group if it is a trajectory that only a group can follow.

    Raises:
        DefinitionError: its lists of numbers do not fit together.
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
