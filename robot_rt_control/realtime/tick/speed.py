"""The speed override on its way to what was asked for, so that no motion on its path needs more than it is allowed.

A motion q(sigma) that is planned within velocity V, acceleration A and jerk J runs at d(sigma)/dt = s. Then it needs

    acceleration  q'' s^2 + q' s'                  at most  A s^2 + V |s'|
    jerk          q''' s^3 + 3 q'' s s' + q' s''   at most  J s^3 + 3 A s |s'| + V |s''|

A little more than the plan is allowed: a = ACCELERATION_MARGIN A and j = JERK_MARGIN J, or a system limit that is
lower. The override has what is left, of the jerk b = j - J s^3:

    |s'|   at most  (a - A s^2) / V  and  b (2 - s) / (6 A), with which 3 A s |s'| is at most b / 2
    |s''|  at most  (b - 3 A s |s'|) / V, which is at least b / (2 V)

So it changes slowly at full speed, since the plan itself may need nearly everything, and faster below. On the way up
s' has to fall as its bounds do: both are such that s'' can follow them. No plan is looked at: it may begin to brake in
any tick.
"""

import math

from robot_rt_control.hardware.jerk_limit import braking_speed
from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.realtime.tick.action_time import is_real, set_time
from robot_rt_control.vocabulary.defaults import ACCELERATION_MARGIN, JERK_MARGIN
from robot_rt_control.vocabulary.enums import OperationalState

_ENABLED = int(OperationalState.ENABLED)
_FLOOR = 0.1
"""This fraction is left to the override even if the system limits leave less beside a plan: a stop always ends."""


@realtime
def _obeys(w, p):
    """Whether a part's motion runs at the override: what the loop itself or a safety action brakes does not."""
    pr = w.parts_runtime[p]
    return pr.state == _ENABLED and pr.active_action >= 0 and not is_real(w, p)


@realtime
def _moves(part):
    """Whether a joint moves, or turns round."""
    for j in range(part.dof):
        if part.commanded_velocity[j] != 0.0 or part.commanded_acceleration[j] != 0.0:
            return True
        if part.former_acceleration[j] != 0.0:
            return True
    return False


@realtime
def _may_move(w):
    """Whether a motion runs, or may stand in its midst: the override was 0 a moment ago."""
    if w.speed == 0.0 or w.past_speeds[1] == 0.0 or w.past_speeds[2] == 0.0:
        return True
    for p in range(w.n_parts):
        if _obeys(w, p) and _moves(w.parts[p]):
            return True
    return False


@realtime
def _left(most, planned):
    return max(most - planned, _FLOOR * most)


@realtime
def _bounds(w, s, rate, target):
    """What all parts allow at override s: |s'|, |s''| beside the present s', and |s''| at the target.

    A part that stands under its default action is left out, unless the override is 0: a slow axis that nobody uses
    would make a stop slow.
    """
    fastest = hardest = later = math.inf
    for p in range(w.n_parts):
        part = w.parts[p]
        if not _obeys(w, p):
            continue
        idle = w.parts_runtime[p].active_action == w.tables[w.active_tables].default_action[p]
        if idle and w.speed > 0.0 and not _moves(part):
            continue
        limits = w.limits[p]
        for j in range(part.dof):
            v, a, jerk = part.velocity_limit[j], part.acceleration_limit[j], part.jerk_limit[j]
            if not v > 0.0 or not a > 0.0 or not jerk > 0.0:
                continue
            most = JERK_MARGIN * jerk
            if limits.jerk[j] > 0.0:
                most = min(most, limits.jerk[j])
            free = _left(most, jerk * s * s * s)
            room = _left(min(limits.acceleration[j], ACCELERATION_MARGIN * a), a * s * s)
            fastest = min(fastest, min(room / v, free * (2.0 - s) / (6.0 * a)))
            hardest = min(hardest, max(free - 3.0 * a * s * abs(rate), 0.5 * free) / v)
            later = min(later, _left(most, jerk * target * target * target) / (2.0 * v))
    return fastest, hardest, later


@inlined
def advance_speed(w):
    """One tick of the way to `speed_target`. What conditions read as `speed` is what actions get as dt."""
    if w.speed != w.speed_target or w.speed_rate != 0.0:
        _advance(w)


@realtime
def _advance(w):
    s, rate, target, dt = w.speed, w.speed_rate, w.speed_target, w.period
    way = target - s
    fastest = hardest = later = math.inf
    if _may_move(w):
        ahead = min(s + abs(rate) * dt, target) if way > 0.0 else s
        fastest, hardest, later = _bounds(w, ahead, rate, target)
    if math.isinf(fastest):  # nothing moves
        w.speed, w.speed_rate = target, 0.0
    else:
        braking = min(hardest, later) if way > 0.0 else hardest
        room = 1.0 - s if rate > 0.0 else s
        if room > 0.0:  # a part that has begun to move may have lowered the bounds: 0 and 1 are the ends all the same
            hardest = max(hardest, rate * rate / (2.0 * room))
        most = hardest * dt
        if abs(way) <= braking * dt * dt and abs(way / dt - rate) <= most:
            w.speed, w.speed_rate = target, way / dt
        else:
            wanted = math.copysign(min(fastest, braking_speed(abs(way), braking, dt)), way)
            rate = min(max(wanted, rate - most), rate + most)
            w.speed, w.speed_rate = min(max(s + rate * dt, 0.0), 1.0), rate
    for p in range(w.n_parts):
        set_time(w, p)
