"""Whether a part's measured motion can be believed, and is that which was commanded: judged in each tick it is enabled.

Four faults. A value that the part needs is not known. A position has moved farther since the last tick than the joint
can. Positions and velocities stay the same to the last bit while the joint is commanded to move. A joint does not
follow: each mode has its own measure of that.

==========  =============================================================================================
POSITION    |commanded - measured position| is beyond the limit, which grows with the commanded speed
VELOCITY    likewise, where the commanded position is the velocity's integral; the error fades with a time
            constant, so that a velocity which is a little wrong all the time is no fault
EFFORT      the joint moves against an effort near its limit, and is not slowed down by it; or it stands
            still under one
==========  =============================================================================================

Each must last for a time. Limits that are 0 are not watched. An effort below its limit says nothing about motion.
"""

import math

from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode, FaultReason

_POSITION, _VELOCITY = int(CommandMode.POSITION), int(CommandMode.VELOCITY)
_EFFORT = int(CommandMode.EFFORT)
_JUMP, _FROZEN = int(FaultReason.POSITION_JUMP), int(FaultReason.FROZEN_FEEDBACK)
_FOLLOWING = int(FaultReason.FOLLOWING_ERROR)
_REST = defaults.REST_SPEED_FRACTION
_NEAR_LIMIT = 0.9
"""Fraction of the effort limit from which an effort must show in the motion."""
_MOVING = 0.1
"""Fraction of the velocity limit from which a motion against such an effort counts."""
_TURN = 2.0 * math.pi


@realtime
def unknown_joint(w, p):
    """The first joint with a position, or a velocity that was known when the part was enabled, that is not finite.

    -1: there is none.
    """
    part = w.parts[p]
    for j in range(part.dof):
        if not math.isfinite(part.position[j]):
            return j
        if w.feedback[p].velocities >> j & 1 and not math.isfinite(part.velocity[j]):
            return j
    return -1


@realtime
def begin_feedback(w, p):
    """The part is enabled in this tick: nothing that was measured before counts."""
    part, f = w.parts[p], w.feedback[p]
    f.velocities = 0
    f.modes = 0
    f.age = part.age
    f.now_ns = w.now_ns
    for j in range(part.dof):
        if math.isfinite(part.velocity[j]):
            f.velocities |= 1 << j
        f.position[j], f.velocity[j] = part.position[j], part.velocity[j]
        f.still[j] = 0
        f.motion[j] = 0.0


@realtime
def _change(limits, j, change):
    """A difference of positions; joints without end may count within a turn."""
    if math.isinf(limits.position_upper[j]) and math.isinf(limits.position_lower[j]):
        change -= _TURN * math.floor(change / _TURN + 0.5)
    return change


@realtime
def _is_frozen(limits, f, part, j, commanded):
    """Count for how long the joint has shown the same state, and how far it was commanded to move meanwhile [rad]."""
    q, v = part.position[j], part.velocity[j]
    if q != f.position[j] or (v != f.velocity[j] and not math.isnan(v)):
        f.still[j] = 0
        f.motion[j] = 0.0
        return False
    f.still[j] += 1
    f.motion[j] += commanded
    return f.still[j] > limits.frozen_ticks and abs(f.motion[j]) > limits.frozen_motion[j]


@realtime
def _opposes(limits, f, part, j):
    """Whether a joint under an effort near its limit has moved against it, or stood still, for too long."""
    e, v = part.commanded_effort[j], part.velocity[j]
    if abs(e) < _NEAR_LIMIT * limits.effort[j]:
        f.beyond[j] = f.stalled[j] = 0
        return False
    f.stalled[j] = f.stalled[j] + 1 if abs(v) <= _REST * limits.velocity[j] else 0
    if e * v >= 0.0 or abs(v) < _MOVING * limits.velocity[j] or (f.beyond[j] > 0 and abs(v) < f.error[j]):
        f.beyond[j] = 0
    else:
        f.beyond[j] += 1
    if f.beyond[j] <= 1:
        f.error[j] = abs(v)  # a joint that is being slowed down is fine
    return f.beyond[j] > limits.following_ticks or f.stalled[j] > limits.stall_ticks


@realtime
def _lags(limits, f, part, j, mode, change, commanded):
    """Whether a joint has been too far from its commanded position for too long."""
    if mode == _POSITION:
        f.error[j] = _change(limits, j, part.commanded_position[j] - part.position[j])
    else:
        f.error[j] = f.error[j] * limits.following_kept + commanded - change
    f.pace[j] = max(abs(part.commanded_velocity[j]), f.pace[j] * limits.pace_kept)
    f.beyond[j] = f.beyond[j] + 1 if abs(f.error[j]) > limits.following[j] + limits.following_lag * f.pace[j] else 0
    return f.beyond[j] > limits.following_ticks


@realtime
def judge_feedback(w, p):
    """Judge what is measured in this tick of an enabled part against its last command.

    Returns:
        FaultReason and joint; 0, -1: nothing is wrong.
    """
    part, f, limits = w.parts[p], w.feedback[p], w.limits[p]
    modes = w.parts_runtime[p].last_modes
    # A late tick, and data that was late, let a joint move farther.
    since = max(w.period * (1.0 + max(part.age, f.age)), (w.now_ns - f.now_ns) * 1e-9)
    f.age = part.age
    f.now_ns = w.now_ns
    reason, joint = 0, -1
    for j in range(part.dof):
        mode = mode_of(modes, j)
        if mode != mode_of(f.modes, j):
            f.error[j] = f.pace[j] = 0.0
            f.beyond[j] = f.stalled[j] = 0
        change = _change(limits, j, part.position[j] - f.position[j])
        commanded = part.commanded_velocity[j] * w.period
        found = 0
        if limits.following[j] > 0.0:
            if mode == _EFFORT:
                if _opposes(limits, f, part, j):
                    found = _FOLLOWING
            elif _lags(limits, f, part, j, mode, change, commanded):
                found = _FOLLOWING
        if limits.frozen_motion[j] > 0.0 and mode != _EFFORT and _is_frozen(limits, f, part, j, commanded):
            found = _FROZEN
        if limits.jump[j] > 0.0 and abs(change) > limits.jump[j] + limits.jump_speed[j] * since:
            found = _JUMP
        f.position[j], f.velocity[j] = part.position[j], part.velocity[j]
        if found != 0 and reason == 0:
            reason, joint = found, j
    f.modes = modes
    return reason, joint
