"""The next velocity of a joint within all its limits, towards a velocity or a position that is commanded.

With deceleration a, moving towards a limit at distance d, the next period's velocity v must leave room to brake:
v dt + v^2 / (2 a) <= d, hence v <= -a dt + sqrt((a dt)^2 + 2 a d). A limited jerk: jerk_limit.py.

A position command that a joint cannot reach within a period is approached like such a limit, in the frame that moves
with the command. Else a joint that was late once would come to its command with the velocity that made up for it, and
swing about it for good.
"""

from robot_rt_control.hardware.jerk_limit import braking_speed, jerk_limited_approach, jerk_limited_velocity
from robot_rt_control.native.realtime_code import inlined, realtime


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
def next_velocity(part, limits, j, q, v, settle, dt):
    """The velocity nearest to `v` that keeps all limits of joint j, from position q and the last command.

    Args:
        part: `layout.part_dtype`, or a record with its fields `commanded_…` and `position_command`.
        limits: `layout.limits_dtype`.
        settle: `v` is one to stay at.
    """
    if limits.jerk[j] <= 0.0:
        return limited_velocity(limits, j, q, part.commanded_velocity[j], v, dt)
    v = jerk_limited_velocity(limits, j, q, part.commanded_velocity[j], part.commanded_acceleration[j], v, settle, dt)
    # Where it was not braked in time (its range or its state jumped), this comes before the bound on jerk.
    return _able_to_brake(limits, j, q, v, dt)


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
    v = next_velocity(part, limits, j, q, wanted, False, dt)
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
