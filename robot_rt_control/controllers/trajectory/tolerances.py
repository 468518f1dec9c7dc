"""Which differences a goal permits: its own tolerances over the controller's defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused, JointTolerance
from robot_rt_control.controllers.trajectory.options import Constraints
from robot_rt_control.vocabulary.errors import unknown

_ERASED = -1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Tolerances:
    """Largest differences, each (dof,); 0: any."""

    path_position: np.ndarray
    path_velocity: np.ndarray
    goal_position: np.ndarray
    goal_velocity: np.ndarray
    goal_time: float
    """[s]; 0: any."""


def tolerances_of(goal: Goal, defaults: Constraints, joints: Sequence[str]) -> Tolerances:
    """The tolerances that hold for a goal.

    Args:
        joints: of the part, in its order.

    Raises:
        GoalRefused: an unknown joint, a value without a meaning, or one that cannot be watched.
    """
    per_joint = [defaults.joints.get(name) for name in joints]
    n = len(joints)
    made = Tolerances(
        path_position=np.array([0.0 if d is None else d.trajectory for d in per_joint]),
        path_velocity=np.zeros(n),
        goal_position=np.array([0.0 if d is None else d.goal for d in per_joint]),
        goal_velocity=np.full(n, defaults.stopped_velocity_tolerance),
        goal_time=_resolved("goal_time_tolerance", goal.goal_time_tolerance, defaults.goal_time),
    )
    _take("path_tolerance", goal.path_tolerances, joints, made.path_position, made.path_velocity)
    _take("goal_tolerance", goal.goal_tolerances, joints, made.goal_position, made.goal_velocity)
    return made


def _take(
    of: str, given: Sequence[JointTolerance], joints: Sequence[str], position: np.ndarray, velocity: np.ndarray
) -> None:
    for tolerance in given:
        if tolerance.joint not in joints:
            raise GoalRefused.because(
                Code.INVALID_JOINTS,
                f"{of} of joint {tolerance.joint!r}",
                expected=unknown("joint", tolerance.joint, joints),
                got=repr(tolerance.joint),
            )
        j, where = joints.index(tolerance.joint), f"{of} of joint {tolerance.joint!r}"
        position[j] = _resolved(f"{where}: position", tolerance.position, position[j])
        velocity[j] = _resolved(f"{where}: velocity", tolerance.velocity, velocity[j])
        if tolerance.acceleration > 0.0:
            raise GoalRefused(
                f"{where}: acceleration",
                expected="0 or -1: accelerations are not measured",
                got=f"{tolerance.acceleration:g}",
            )
        _resolved(f"{where}: acceleration", tolerance.acceleration, 0.0)


def _resolved(where: str, given: float, default: float) -> float:
    if given == 0.0:
        return default
    if abs(given - _ERASED) < 1e-6:
        return 0.0
    if not 0.0 < given < np.inf:
        raise GoalRefused(where, expected="0 (the default), -1 (any), or a positive number", got=f"{given:g}")
    return given
