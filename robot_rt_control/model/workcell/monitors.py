"""The monitors of a part's measured motion: their limits from the workcell file, with defaults, and which are off."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.model.workcell.limits import LimitedJoint, given_for_joints, unit_of
from robot_rt_control.model.workcell.workcell_schema import FollowingError, FrozenFeedback, Monitors
from robot_rt_control.text.document import Place
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import PartKind

BLOCKED_BY_DESIGN = "a gripper that holds something is blocked"
"""Why monitors of a gripper are off unless the file gives them."""


def resolve_monitors(
    record: np.record,
    joints: Sequence[LimitedJoint],
    kind: PartKind,
    given: Monitors,
    period: float,
    place: Place,
) -> tuple[str, ...]:
    """Fill the monitors' fields of a part's system limits.

    Args:
        record: of `layout.limits_dtype`, with its limits.
        period: [s]
        place: of the monitors in the file.

    Returns:
        Which monitors are off, in words, with the key that does it.

    Raises:
        DefinitionError: a list has the wrong length, or a number is not above 0.
    """
    n, off = len(joints), []
    units = [unit_of(joint) for joint in joints]
    following = given.following_error
    if following is None:
        following = False if kind == PartKind.GRIPPER else FollowingError()
        if following is False:
            off.append(f"following_error: {BLOCKED_BY_DESIGN}")
    elif following is False:
        off.append("following_error: monitors.following_error is false")
    if isinstance(following, FollowingError):
        values = given_for_joints(following.position, joints, place / "following_error" / "position")
        record.following[:n] = [defaults.POSITION_TOLERANCE[unit] for unit in units] if values is None else values
        lag = defaults.FOLLOWING_LAG_S + defaults.FOLLOWING_LAG_TICKS * period
        record.following_lag = lag if following.lag is None else following.lag
        fading = defaults.FOLLOWING_PACE * record.following_lag
        record.pace_kept = max(0.0, 1.0 - period / fading) if fading > 0.0 else 0.0
        record.following_ticks = math.ceil(following.time / period)
        record.stall_ticks = math.ceil(defaults.STALL_TIME_S / period)
        record.following_kept = max(0.0, 1.0 - period / defaults.FOLLOWING_FORGET_S)
    frozen = given.frozen_feedback
    if frozen is None:
        frozen = False if kind == PartKind.GRIPPER else FrozenFeedback()
        if frozen is False:
            off.append(f"frozen_feedback: {BLOCKED_BY_DESIGN}")
    elif frozen is False:
        off.append("frozen_feedback: monitors.frozen_feedback is false")
    if isinstance(frozen, FrozenFeedback):
        values = given_for_joints(frozen.motion, joints, place / "frozen_feedback" / "motion")
        record.frozen_motion[:n] = [defaults.FROZEN_MOTION[unit] for unit in units] if values is None else values
        record.frozen_ticks = math.ceil(frozen.time / period)
    if given.position_jump is False:
        off.append("position_jump: monitors.position_jump is false")
    else:
        values = given_for_joints(given.position_jump, joints, place / "position_jump")
        record.jump[:n] = [defaults.POSITION_JUMP[unit] for unit in units] if values is None else values
        record.jump_speed[:n] = record.velocity[:n] * defaults.JUMP_SPEED
    return tuple(off) + _limits_off(record, units)


def _limits_off(record: np.record, units: Sequence[str]) -> tuple[str, ...]:
    """The monitors of position and velocity whose tolerances are so large that they see nothing."""
    off = []
    tolerance, unit = float(record.position_tolerance), "/".join(dict.fromkeys(units))
    if tolerance > defaults.TOLERANCE_OFF * min(defaults.POSITION_TOLERANCE[u] for u in units):
        off.append(f"position_limit: system_limits.position_tolerance is {tolerance:g} {unit}")
    if record.velocity_tolerance > defaults.TOLERANCE_OFF * defaults.VELOCITY_TOLERANCE:
        off.append(f"velocity_limit: system_limits.velocity_tolerance is {float(record.velocity_tolerance):g}")
    return tuple(off)
