"""Step 6, limits: whatever an action wrote, what leaves is finite, within the limits, and can still brake.

A limited jerk: jerk_limit.py. Efforts near a limit: effort_barrier.py. Otherwise, for a joint with position q,
velocity v and deceleration a, moving towards a limit at distance d, the next period's velocity must leave room to
brake: v dt + v^2 / (2 a) <= d, hence v <= -a dt + sqrt((a dt)^2 + 2 a d).

A position command that a joint cannot reach within a period is approached like such a limit, in the frame that moves
with the command. Else a joint that was late once would come to its command with the velocity that made up for it, and
swing about it for good.
"""

import math

from robot_rt_control.memory.joint_modes import commanded_modes, mode_of, with_mode
from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.realtime.tick.action_time import keep_speed
from robot_rt_control.realtime.tick.effort_barrier import bounded_effort, braking_effort
from robot_rt_control.realtime.tick.feedback import judge_feedback
from robot_rt_control.realtime.tick.jerk_limit import braking_speed, jerk_limited_approach, jerk_limited_velocity
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


@inlined
def limited_velocity(limits, j, q, v_last, v, dt):
    """The velocity nearest to `v` that keeps all limits of joint j, from position q and last velocity v_last."""
    top = limits.velocity[j]
    v = min(max(v, -top), top)
    # A joint that is too fast (after effort commands) comes down to its limit without a jolt.
    change = limits.acceleration[j] * dt
    v = min(max(v, v_last - change), v_last + change)
    return _able_to_brake(limits, j, q, v, dt)


@inlined
def _able_to_brake(limits, j, q, v, dt):
    # Braking before a limit comes before the bound on acceleration: it is the last to be applied.
    v = min(v, braking_speed(limits.position_upper[j] - q, limits.acceleration[j], dt))
    return max(v, -braking_speed(q - limits.position_lower[j], limits.acceleration[j], dt))


@inlined
def _next_velocity(part, limits, j, q, v, settle, dt):
    """The velocity nearest to `v` that keeps all limits of joint j, from position q and the last command."""
    if limits.jerk[j] <= 0.0:
        return limited_velocity(limits, j, q, part.commanded_velocity[j], v, dt)
    v = jerk_limited_velocity(limits, j, q, part.commanded_velocity[j], part.commanded_acceleration[j], v, settle, dt)
    # Where it was not braked in time (its range or its state jumped), this comes before the bound on jerk.
    return _able_to_brake(limits, j, q, v, dt)


@realtime
def _leave(part, j, q, v, dt):
    """Remember the command: where joint j shall be at the end of this period, and how fast."""
    part.former_acceleration[j] = part.commanded_acceleration[j]
    part.commanded_acceleration[j] = (v - part.commanded_velocity[j]) / dt
    part.commanded_velocity[j] = v
    part.commanded_position[j] = q


@realtime
def approach(part, limits, j, wanted, last, dt):
    """The velocity of a position command: `wanted`, with which the joint is there at the end of this period, or if it
    could not stay there, the fastest one from which it still can.

    Args:
        last: position command of the tick before.
    """
    q, v_last, jerk = part.commanded_position[j], part.commanded_velocity[j], limits.jerk[j]
    follow, gap = (part.position_command[j] - last) / dt, last - q
    if not abs(follow) <= limits.velocity[j]:  # it has jumped
        follow, gap = 0.0, part.position_command[j] - q
    v = _next_velocity(part, limits, j, q, wanted, False, dt)
    if v == wanted:
        most = limits.acceleration[j] * dt if jerk <= 0.0 else jerk * dt * dt
        if gap == 0.0 or abs(v - follow) <= most:
            return v
    if jerk > 0.0:
        v = jerk_limited_approach(limits, j, q, v_last, part.commanded_acceleration[j], gap, follow, dt)
        return _able_to_brake(limits, j, q, v, dt)
    sign = 1.0 if gap > 0.0 or (gap == 0.0 and v_last < follow) else -1.0
    v = follow + sign * braking_speed(abs(gap), limits.acceleration[j], dt)
    return limited_velocity(limits, j, q, v_last, v, dt)


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
    v = _next_velocity(part, limits, j, q, part.velocity_command[j], settle, dt)
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
        v = _next_velocity(part, limits, j, q, 0.0, True, dt)
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
