"""Efforts near a limit: an action's effort fades before the joint's end, and brakes a joint that is too fast.

An effort says nothing about motion, and the loop does not know the inertia that it moves. The bounds of the effort are
therefore a law of what is measured: with room d to a limit, a joint may approach it with speed

    w(d) = min(k d, sqrt(A d), V)       (half of the deceleration A; linear near the end; never above the limit V)

and the effort towards the limit is at most E (w - v) L / A, within ±E: all of it far below that speed, none at it,
full braking A / L above it. So the excess decays with the rate L if the joint's inertia is E / A, the largest
that the limits of effort and acceleration allow, and faster if it is less; k = L / 4 lets the joint creep to
its limit without overshoot. L = 10 /s is stable down to 1/300 of that inertia at a period of 1 ms with the default
rate of efforts. A joint that is lighter than 1/20 of it and pushed with its full effort may pass its velocity limit
before the effort, whose rate is limited, has come down; then the monitor faults it.
"""

import math

from robot_rt_control.native.realtime_code import realtime

_RATE = 10.0
"""L [1/s]"""


@realtime
def approach_speed(room, velocity, acceleration):
    """The speed [rad/s] with which a joint may approach a limit that is `room` [rad] away; negative: it must return."""
    w = 0.25 * _RATE * room
    if room > 0.0:
        w = min(w, math.sqrt(acceleration * room))
    return min(max(w, -velocity), velocity)


@realtime
def _bound(limits, j, room, v):
    """The largest effort towards a limit, -E to E."""
    excess = approach_speed(room, limits.velocity[j], limits.acceleration[j]) - v
    return limits.effort[j] * min(max(excess * _RATE / limits.acceleration[j], -1.0), 1.0)


@realtime
def bounded_effort(limits, j, q, v, effort):
    """The effort nearest to `effort` that does not drive joint j into a limit. Unknown q or v: as it is."""
    if not (math.isfinite(q) and math.isfinite(v)):
        return effort
    effort = min(effort, _bound(limits, j, limits.position_upper[j] - q, v))
    return max(effort, -_bound(limits, j, q - limits.position_lower[j], -v))


@realtime
def braking_effort(limits, j, v):
    """The effort that brakes joint j from velocity v: a damper, as strong as the limits allow. Unknown v: none."""
    if not math.isfinite(v):
        return 0.0
    return limits.effort[j] * min(max(-v * _RATE / limits.acceleration[j], -1.0), 1.0)
