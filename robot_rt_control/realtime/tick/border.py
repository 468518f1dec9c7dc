"""The border: the last look at what leaves, against what left a tick before, whatever the part's state.

The limits (limit_step.py) keep it by construction. This is the second lock on the same door: a command that would step
out of the system limits in spite of that does not leave. The part brakes from its last command, and is faulted.
"""

import math

from robot_rt_control.hardware.jerk_limit import braking_speed
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.limit_step import limit_joints
from robot_rt_control.realtime.tick.parts import fault_part
from robot_rt_control.vocabulary.enums import CommandMode, FaultReason

_NONE, _POSITION = int(CommandMode.NONE), int(CommandMode.POSITION)
_EFFORT = int(CommandMode.EFFORT)
_BORDER = int(FaultReason.COMMAND_BORDER)
_SLACK = 1.0 + 1e-6
"""Sums are rounded."""
_ROUNDING = 1e-9
"""[rad or m], and of a large position the fraction: a command may differ by this from where its velocity leads."""


@realtime
def _keeps_effort(limits, left, j, former, e, dt):
    if not abs(e) <= limits.effort[j] * _SLACK:
        return False
    if former != _EFFORT:
        return True  # the limits began with what the drive exerts, which is measured
    # An effort from outside its limit, which is measured as well, comes back at once.
    return abs(e - left.effort[j]) <= limits.effort_rate[j] * dt * _SLACK or abs(e) >= limits.effort[j]


@realtime
def _stops_before_limit(limits, j, q, v, v_last, dt):
    """Whether the joint is as fast as it may be to stop before its position limit: that comes before acceleration."""
    up = braking_speed(limits.position_upper[j] - q, limits.acceleration[j], dt)
    down = braking_speed(q - limits.position_lower[j], limits.acceleration[j], dt)
    slack = (_SLACK - 1.0) * limits.velocity[j]
    return abs(v) <= abs(v_last) and (abs(v - up) <= slack or abs(v + down) <= slack)


@realtime
def _keeps_motion(part, limits, left, j, mode, former, dt):
    q, v = part.commanded_position[j], part.commanded_velocity[j]
    q_last, v_last = left.position[j], left.velocity[j]
    if former == _NONE:
        # Where it is unknown, only outputs leave: its position is held.
        q_last, v_last = part.position[j] if math.isfinite(part.position[j]) else q, 0.0
    if mode == _POSITION and not abs(q - q_last - v * dt) <= _ROUNDING * (1.0 + abs(q)):
        return False
    change = limits.acceleration[j] * dt
    top = abs(v_last)
    if limits.jerk[j] > 0.0:
        top += change  # an acceleration caused by efforts ends with limited jerk
    if not abs(v) <= max(limits.velocity[j], top) * _SLACK:
        return False
    if abs(v - v_last) <= change * _SLACK:
        return True
    where = q_last if mode == _POSITION or not math.isfinite(part.position[j]) else part.position[j]
    return _stops_before_limit(limits, j, where, v, v_last, dt)


@realtime
def _joint_beyond(w, p):
    """The first joint whose command steps out of the limits; -1: there is none."""
    part, limits, left = w.parts[p], w.limits[p], w.left[p]
    modes = w.parts_runtime[p].last_modes
    for j in range(part.dof):
        mode, former = mode_of(modes, j), mode_of(left.modes, j)
        if mode == _EFFORT:
            kept = _keeps_effort(limits, left, j, former, part.commanded_effort[j], w.period)
        else:
            kept = _keeps_motion(part, limits, left, j, mode, former, w.period)
        if not kept:
            return j
    return -1


@realtime
def hold_border(w, ch, p):
    """Let no command of a part beyond the border: it brakes from its last command instead, and is faulted.

    Call it for each part whose command leaves, before it does.
    """
    left = w.left[p]
    joint = _joint_beyond(w, p)
    if joint < 0:
        return
    part, pr = w.parts[p], w.parts_runtime[p]
    fault_part(w, ch, p, _BORDER, joint)
    known = True
    for j in range(part.dof):
        left_before = mode_of(left.modes, j) != _NONE
        part.commanded_position[j] = left.position[j] if left_before else part.position[j]
        part.commanded_velocity[j] = left.velocity[j] if left_before else 0.0
        part.commanded_effort[j] = left.effort[j] if left_before else 0.0
        part.commanded_acceleration[j] = 0.0
        if not (left_before or math.isfinite(part.position[j])):
            part.commanded_position[j], known = 0.0, False
    if left.modes != 0:
        pr.last_modes = left.modes
        limit_joints(w, p, 0)
    elif not known:
        pr.last_modes = 0  # only outputs leave


@realtime
def note_left(w, p, leaves):
    """Remember what of a part has left; nothing, if its motors are still being enabled and follow nothing yet."""
    part, left = w.parts[p], w.left[p]
    left.modes = w.parts_runtime[p].last_modes if leaves else 0
    for j in range(part.dof):
        left.position[j] = part.commanded_position[j]
        left.velocity[j] = part.commanded_velocity[j]
        left.effort[j] = part.commanded_effort[j]
