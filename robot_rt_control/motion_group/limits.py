"""What a motion command may use of a part's limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.definitions.motion_command import MotionCommand


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanLimits:
    """Limits of a plan, each (dof,)."""

    names: tuple[str, ...]  # of the joints
    lower: np.ndarray  # [rad or m]; -inf: none
    upper: np.ndarray
    velocity: np.ndarray  # [rad/s or m/s]
    acceleration: np.ndarray
    jerk: np.ndarray
    keeps_jerk: bool = False
    """Whether what follows given points in time has to keep the limit of jerk."""


def part_limits(part: Part) -> PlanLimits:
    """The limits that actions of this part may plan with."""
    return PlanLimits(
        names=tuple(part.joint_names),
        lower=part.limits("position_lower"),
        upper=part.limits("position_upper"),
        velocity=part.limits("velocity_limit"),
        acceleration=part.limits("acceleration_limit"),
        jerk=part.limits("jerk_limit"),
    )


def command_limits(part: Part, command: MotionCommand) -> PlanLimits:
    """The part's limits times the command's fractions. The command must have been checked."""
    limits = part_limits(part)
    velocity = command.speed * limits.velocity
    if command.joint_speed is not None:
        velocity = np.minimum(velocity, command.joint_speed)
    return replace(
        limits,
        velocity=velocity,
        acceleration=limits.acceleration * (command.acceleration_percent / 100.0),
        jerk=limits.jerk * (command.jerk_percent / 100.0),
    )
