"""Step 6, limits: whatever an action wrote, what leaves is finite, within the limits, and can still brake.

Positions and velocities: hardware/approach.py. Efforts near a limit: effort_barrier.py.
"""

import math

from robot_rt_control.hardware.approach import approach, next_velocity
from robot_rt_control.memory.joint_modes import commanded_modes, mode_of, with_mode
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import keep_speed
from robot_rt_control.realtime.tick.effort_barrier import bounded_effort, braking_effort
from robot_rt_control.realtime.tick.feedback import judge_feedback
from robot_rt_control.realtime.tick.outputs import limit_outputs
from robot_rt_control.realtime.tick.parts import fault_part
from robot_rt_control.vocabulary.enums import (
    CommandMode,
    FaultReason,
    OperationalState,
)

_NONE = int(CommandMode.NONE)
_POSITION = int(CommandMode.POSITION)
_VELOCITY = int(CommandMode.VELOCITY)
_EFFORT = int(CommandMode.EFFORT)
_ENABLED = int(OperationalState.ENABLED)
_NON_FINITE = int(FaultReason.NON_FINITE_COMMAND)
_UNSUPPORTED = int(FaultReason.UNSUPPORTED_COMMAND_MODE)
_UNKNOWN = int(FaultReason.UNKNOWN_FEEDBACK)
_POSITION_LIMIT = int(FaultReason.POSITION_LIMIT)
_VELOCITY_LIMIT = int(FaultReason.VELOCITY_LIMIT)


@realtime
def _leave(part, j, q, v, dt):
    """Remember the command: where joint j shall be at the end of this period, and how fast."""
    part.former_acceleration[j] = part.commanded_acceleration[j]
    part.commanded_acceleration[j] = (v - part.commanded_velocity[j]) / dt
    part.commanded_velocity[j] = v
    part.commanded_position[j] = q


@realtime
def _limit_position(part, limits, j, last, dt):
    q = part.commanded_position[j]
    wanted = (part.position_command[j] - q) / dt
    v = approach(part, limits, j, wanted, last, dt)
    # The action's own number where nothing was limited: no rounding creeps in.
    _leave(part, j, part.position_command[j] if v == wanted else q + v * dt, v, dt)
    part.commanded_effort[j] = 0.0


@realtime
def _present_position(part, j):
    """Position of joint j as a velocity or an effort leaves: measured if known, else as the last command implies."""
    return part.position[j] if math.isfinite(part.position[j]) else part.commanded_position[j]


@realtime
def _limit_velocity(part, limits, j, settle, dt):
    q = _present_position(part, j)
    v = next_velocity(part, limits, j, q, part.velocity_command[j], settle, dt)
    _leave(part, j, q + v * dt, v, dt)
    part.commanded_effort[j] = 0.0


@realtime
def _limit_effort(part, limits, j, dt):
    change = limits.effort_rate[j] * dt
    last = part.commanded_effort[j]
    e = bounded_effort(limits, j, part.position[j], part.velocity[j], part.effort_command[j])
    e = min(max(e, last - change), last + change)
    part.commanded_effort[j] = min(max(e, -limits.effort[j]), limits.effort[j])
    v = part.velocity[j] if math.isfinite(part.velocity[j]) else 0.0
    _leave(part, j, _present_position(part, j) + v * dt, v, dt)


@realtime
def _brake(part, limits, j, mode, dt):
    """Towards rest with the full deceleration of the limits, then hold. Effort alone: a damper, which holds nothing."""
    if mode == _EFFORT:
        part.effort_command[j] = braking_effort(limits, j, part.velocity[j])
        _limit_effort(part, limits, j, dt)
    elif mode == _VELOCITY:
        part.velocity_command[j] = 0.0
        _limit_velocity(part, limits, j, True, dt)
    else:
        q = part.commanded_position[j]
        v = next_velocity(part, limits, j, q, 0.0, True, dt)
        _leave(part, j, q if v == 0.0 else q + v * dt, v, dt)
        part.commanded_effort[j] = 0.0


@realtime
def _braking_mode(limits, last):
    """The mode to brake in: position if the hardware has it, else velocity, else effort."""
    if last == _POSITION or last == _VELOCITY:
        return last
    if limits.supported_modes & (1 << _POSITION):
        return _POSITION
    if limits.supported_modes & (1 << _VELOCITY):
        return _VELOCITY
    return _EFFORT


@realtime
def _limit_joint(part, limits, j, mode, last, target, dt):
    """Limit the command of joint j, or brake the joint if it has none. Returns the mode in which its command leaves.

    Args:
        mode: of the command; NONE: there is none.
        last: mode of the last command.
        target: position command of the tick before.
    """
    braking = mode == _NONE
    if braking:
        mode = _braking_mode(limits, last)
    if mode == _EFFORT and last != _EFFORT and math.isfinite(part.effort[j]):
        part.commanded_effort[j] = part.effort[j]  # what its drive exerts: from there the effort changes at its rate
    if braking:
        _brake(part, limits, j, mode, dt)
    elif mode == _POSITION:
        _limit_position(part, limits, j, target, dt)
    elif mode == _VELOCITY:
        _limit_velocity(part, limits, j, False, dt)
    else:
        _limit_effort(part, limits, j, dt)
    return mode


@realtime
def _refused(part, limits, modes):
    """The first joint whose command cannot be followed, and the reason: a FaultReason, 0 if there is none."""
    for j in range(part.dof):
        mode = mode_of(modes, j)
        x = part.position_command[j]
        if mode == _VELOCITY:
            x = part.velocity_command[j]
        elif mode == _EFFORT:
            x = part.effort_command[j]
        if mode != _NONE and limits.supported_modes & (1 << mode) == 0:
            return _UNSUPPORTED, j if part.joint_modes != 0 else -1
        if mode != _NONE and not math.isfinite(x):
            return _NON_FINITE, j
        if mode == _EFFORT and not math.isfinite(part.velocity[j]):
            return _UNKNOWN, j  # its limits could not be kept
    return 0, -1


@realtime
def _monitor(w, ch, p):
    """Fault the part if the measured motion violates a system limit, or is not that which was commanded.

    What the part needs is known here (`unknown_joint`); a velocity that its device never knew violates nothing.
    """
    part = w.parts[p]
    limits = w.limits[p]
    for j in range(part.dof):
        q = part.position[j]
        v = part.velocity[j]
        slow = limits.velocity[j] * 0.01
        if (q > limits.position_upper[j] + limits.position_tolerance and v > slow) or (
            q < limits.position_lower[j] - limits.position_tolerance and v < -slow
        ):
            fault_part(w, ch, p, _POSITION_LIMIT, j)
            return
        if abs(v) > limits.velocity[j] * (1.0 + limits.velocity_tolerance):
            fault_part(w, ch, p, _VELOCITY_LIMIT, j)
            return
    reason, joint = judge_feedback(w, p)
    if reason != 0:
        fault_part(w, ch, p, reason, joint)


@realtime
def limit_joints(w, p, modes):
    """Limit the commands of a part's joints; brake those without a mode."""
    part, limits, pr = w.parts[p], w.limits[p], w.parts_runtime[p]
    last, left = pr.last_modes, 0
    for j in range(part.dof):
        commanded = mode_of(modes, j)
        mode = _limit_joint(part, limits, j, commanded, mode_of(last, j), pr.target[j], w.period)
        pr.target[j] = part.position_command[j] if commanded == _POSITION else part.commanded_position[j]
        left = with_mode(left, j, mode)
    pr.last_modes = left


@realtime
def limit(w, ch):
    """Limit what every part with joints is commanded, or bring it to rest if no action commands it."""
    keep_speed(w)
    for p in range(w.n_parts):
        part = w.parts[p]
        pr = w.parts_runtime[p]
        limits = w.limits[p]
        if part.dof == 0:
            if limits.n_outputs > 0 and pr.state == _ENABLED and pr.active_action >= 0:
                reason = limit_outputs(w, p)
                if reason != 0:
                    fault_part(w, ch, p, reason, -1)
            continue
        if pr.state == _ENABLED:
            _monitor(w, ch, p)
        modes = 0
        if pr.state == _ENABLED and pr.active_action >= 0:
            reason, joint = _UNSUPPORTED, -1
            if 0 <= part.command_mode <= _EFFORT:
                modes = commanded_modes(part)
                reason, joint = _refused(part, limits, modes)
            if reason == 0 and limits.n_outputs > 0:
                reason, joint = limit_outputs(w, p), -1
            if reason != 0:
                fault_part(w, ch, p, reason, joint)
                modes = 0
        limit_joints(w, p, modes)
