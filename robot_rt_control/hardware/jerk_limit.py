"""Limits with a bound on jerk: the next velocity from which a joint can still come to rest before its limits.

The joint's state is (q, v, a). With jerk J and deceleration A it comes to rest by a ramp of three pieces: the
deceleration builds up, holds, and is released so that v and a become 0 together. Its farthest point is known in closed
form. Of all accelerations that the jerk allows next, the one nearest to the command is taken from which that point is
still within the range (found by bisection: the point moves monotonically with the acceleration).
"""

import math

from robot_rt_control.native.realtime_code import realtime

_BISECTIONS = 30


@realtime
def braking_speed(distance, acceleration, dt):
    """Highest speed [rad/s] for the next period from which the joint can still brake within `distance` [rad]."""
    if distance <= 0.0:
        return 0.0
    step = acceleration * dt
    return math.sqrt(step * step + 2.0 * acceleration * distance) - step


@realtime
def stop_reach(v, a, most, jerk):
    """How far [rad] the joint gets, in positive direction, while it comes to rest from (v, a) as fast as it can.

    Args:
        most: deceleration [rad/s^2]; |a| beyond it counts as it.
        jerk: [rad/s^3]
    """
    a = min(max(a, -most), most)
    if a < 0.0 and 2.0 * jerk * v < a * a:
        # It will turn round: the farthest point is where the velocity passes zero while the brake is released.
        if v <= 0.0:
            return 0.0
        t = (-a - math.sqrt(a * a - 2.0 * jerk * v)) / jerk
        return t * (v + t * (a / 2.0 + t * jerk / 6.0))
    if v < 0.0 and 2.0 * jerk * v + a * a <= 0.0:
        return 0.0  # it moves the other way, and never turns
    peak = math.sqrt(max(jerk * v + 0.5 * a * a, 0.0))
    held = 0.0
    if peak > most:
        peak = most
        held = (v - (2.0 * most * most - a * a) / (2.0 * jerk)) / most
    t = (peak + a) / jerk
    q = t * (v + t * (a / 2.0 - t * jerk / 6.0))
    v += t * (a - t * jerk / 2.0)
    q += held * (v - held * peak / 2.0)
    v -= held * peak
    t = peak / jerk
    return q + t * (v + t * (-peak / 2.0 + t * jerk / 6.0))


@realtime
def _farthest(sign, q, v_last, a, most, jerk, dt):
    """The farthest point in direction `sign`, mirrored to positive, after a period with acceleration a."""
    v = sign * (v_last + a * dt)
    reach = sign * q + v * dt + stop_reach(v, sign * a, most, jerk)
    if sign * a > 0.0:
        reach += sign * a * dt * (sign * a / jerk + dt)  # what periods add to the ramp while it still speeds up
    return reach


@realtime
def _held_back(sign, bound, q, v_last, wanted, safest, most, jerk, dt):
    """The acceleration nearest to `wanted` whose farthest point is not beyond `bound`; `safest` where none is."""
    bound = max(bound, sign * q)  # beyond its limit it may come back, and need not
    if not _farthest(sign, q, v_last, wanted, most, jerk, dt) > bound:
        return wanted
    good = safest
    bad = wanted
    for _ in range(_BISECTIONS):
        middle = 0.5 * (good + bad)
        if _farthest(sign, q, v_last, middle, most, jerk, dt) > bound:
            bad = middle
        else:
            good = middle
    return good


@realtime
def jerk_limited_velocity(limits, j, q, v_last, a_last, v, settle, dt):
    """The velocity nearest to `v` that keeps velocity, acceleration, jerk and range of joint j.

    Args:
        q, v_last, a_last: where the joint is, and the last command's velocity and acceleration.
        settle: `v` is not just the next velocity, but one to stay at: it is reached without acceleration.
    """
    top = limits.velocity[j]
    most = limits.acceleration[j]
    jerk = limits.jerk[j]
    step = jerk * dt
    a_last = min(max(a_last, -most), most)
    low = max(a_last - step, -most)
    high = min(a_last + step, most)
    v = min(max(v, -top), top)
    change = v - v_last
    wanted = change / dt
    if wanted < low or wanted > high or (settle and abs(wanted) > step):
        # Not reachable in one tick: choose the acceleration that is zero again when the velocity is reached.
        wanted = braking_speed(abs(change), jerk, dt)
        if change < 0.0:
            wanted = -wanted
        wanted = min(max(wanted, low), high)
    wanted = _within(limits, j, q, v_last, wanted, low, high, dt)
    if wanted == change / dt:
        return v  # no rounding creeps in
    return v_last + wanted * dt


@realtime
def _within(limits, j, q, v_last, wanted, low, high, dt):
    """The acceleration nearest to `wanted` that keeps velocity and range of joint j; it is between low and high."""
    top, most, jerk = limits.velocity[j], limits.acceleration[j], limits.jerk[j]
    wanted = min(wanted, max(braking_speed(top - v_last, jerk, dt), low))
    wanted = max(wanted, min(-braking_speed(top + v_last, jerk, dt), high))
    wanted = _held_back(1.0, limits.position_upper[j], q, v_last, wanted, low, most, jerk, dt)
    return _held_back(-1.0, -limits.position_lower[j], q, v_last, wanted, high, most, jerk, dt)


@realtime
def jerk_limited_approach(limits, j, q, v_last, a_last, gap, follow, dt):
    """The next velocity of joint j towards a position that moves, as `limit_step.approach`."""
    most, step = limits.acceleration[j], limits.jerk[j] * dt
    a_last = min(max(a_last, -most), most)
    low = max(a_last - step, -most)
    high = min(a_last + step, most)
    relative = v_last - follow
    if gap > 0.0 or (gap == 0.0 and relative < 0.0):
        wanted = _held_back(1.0, gap, 0.0, relative, high, low, most, limits.jerk[j], dt)
    else:
        wanted = _held_back(-1.0, -gap, 0.0, relative, low, high, most, limits.jerk[j], dt)
    return v_last + _within(limits, j, q, v_last, wanted, low, high, dt) * dt
