"""What a stream input's values are in a tick: the gap policies.

The loop follows a *way* from one sample to the next that is known. It begins at the earlier sample; where the next
one became known only after that had passed (or several passed in one tick), it begins at the present values, so
that values never jump because a next sample has become known. On the cubic way the velocity is also continuous.
"""

import math

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.stream_window import forget_earlier
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import GapPolicy

_HOLD, _LINEAR = int(GapPolicy.HOLD), int(GapPolicy.LINEAR)
_EXTRAPOLATE, _CUSTOM = int(GapPolicy.EXTRAPOLATE), int(GapPolicy.CUSTOM)
_JOINING = -2
"""A value of `way_end`: the action has just started, and the way begins at the samples."""


@realtime
def join_stream(s, n, activation, timeout, now):
    """An action has started: its stream's times and counts are reset.

    Samples that an earlier activation has used are gone: its goal is not this one's. Those that have come since stay,
    unless no time-out says how old they may be.
    """
    s.not_before = -math.inf if timeout > 0.0 else now
    forget_earlier(s, n)
    s.activation = activation
    s.start_time = now
    s.missed_before = s.missed
    s.late_before = s.late
    s.clamped_before = s.clamped
    s.way_end = _JOINING
    s.time = now


@realtime
def _rate(s, k, j):
    """Rate of value j at sample k: given, or as since the sample before, else none."""
    rate = s.rates[k, j]
    if math.isfinite(rate):
        return rate
    if k > 0:
        rate = (s.values[k, j] - s.values[k - 1, j]) / (s.times[k] - s.times[k - 1])
    return rate if math.isfinite(rate) else 0.0


@realtime
def _begin_way(s, n):
    """Begin the way to the next sample of the window."""
    k = s.present
    end = k + 1
    at_sample = s.way_end == _JOINING or (s.way_end == s.first + k and s.time <= s.times[k])
    for j in range(n):
        if not at_sample:
            s.way_value[j] = s.value[j]
            s.way_velocity[j] = s.velocity[j]
        else:
            s.way_value[j] = s.values[k, j]
            s.way_velocity[j] = _rate(s, k, j) if s.way_end == _JOINING else s.end_velocity[j]
        if not math.isfinite(s.way_value[j]):  # its first value comes with the next sample
            s.way_value[j] = s.values[end, j]
            s.way_velocity[j] = 0.0
    s.way_time = s.times[k] if at_sample else s.time
    span = s.times[end] - s.way_time
    for j in range(n):
        velocity = s.rates[end, j]
        if not math.isfinite(velocity):
            if end + 1 < s.count:
                velocity = (s.values[end + 1, j] - s.way_value[j]) / (s.times[end + 1] - s.way_time)
            else:
                velocity = (s.values[end, j] - s.way_value[j]) / span
        s.end_velocity[j] = velocity if math.isfinite(velocity) else 0.0
    s.way_end = s.first + end


@realtime
def _follow_way(s, n, cubic, now):
    end = s.present + 1
    span = s.times[end] - s.way_time
    u = min(max((now - s.way_time) / span, 0.0), 1.0) if span > 0.0 else 1.0
    for j in range(n):
        a, b = s.way_value[j], s.values[end, j]
        if cubic and span > 0.0:
            # Hermite's form, and its derivative
            va, vb = s.way_velocity[j] * span, s.end_velocity[j] * span
            d = b - a
            c2 = 3.0 * d - 2.0 * va - vb
            c3 = va + vb - 2.0 * d
            s.value[j] = a + u * (va + u * (c2 + u * c3))
            s.velocity[j] = (va + u * (2.0 * c2 + 3.0 * u * c3)) / span
        else:
            s.value[j] = a + u * (b - a)
            s.velocity[j] = (b - a) / span if span > 0.0 else 0.0


@realtime
def _rest_of_way(s, n, gap, horizon, now):
    """No next sample is known, or it does not matter: the newest one that has taken effect, held or extrapolated."""
    k = s.present
    passed = max(now - s.times[k], 0.0)
    for j in range(n):
        s.value[j] = s.values[k, j]
        s.velocity[j] = 0.0
        if gap == _EXTRAPOLATE and math.isfinite(s.value[j]):
            rate = _rate(s, k, j)
            s.value[j] += rate * min(passed, horizon)
            s.velocity[j] = rate if passed < horizon else 0.0


@realtime
def find_values(s, n, quaternion, gap, horizon, now):
    """Find `s.value` and `s.velocity` at the time `now`. Once in a tick of an active action.

    Args:
        s: record of `layout.stream_runtime_dtype`; the action has joined it.
        n: values in a sample.
        quaternion: index of a unit quaternion among the values, -1: there is none.
        gap: a GapPolicy; what is none of them counts as hold. For a custom one the values are held.
        horizon: [s] of extrapolation.
        now: [s] on the loop's clock.
    """
    if s.present < 0:
        for j in range(n):
            s.value[j] = math.nan
            s.velocity[j] = 0.0
        s.time = now
        return
    s.used = s.first + s.present
    follows = gap > _HOLD and gap < _CUSTOM
    if follows and s.present + 1 < s.count:
        if s.way_end != s.first + s.present + 1:
            _begin_way(s, n)
        _follow_way(s, n, gap != _LINEAR, now)
    else:
        if s.way_end == _JOINING:
            s.way_end = -1
        _rest_of_way(s, n, gap, horizon, now)
    s.time = now
    if quaternion >= 0:
        _keep_length(s, quaternion)


@realtime
def _keep_length(s, i):
    """Between two rotations, and beyond, on the unit sphere again."""
    length = 0.0
    for j in range(i, i + 4):
        length += s.value[j] * s.value[j]
    length = math.sqrt(length)
    if not (length > 1e-6):
        for j in range(i, i + 4):  # halfway between opposite ones
            s.value[j] = s.values[s.present, j]
        length = 1.0
    for j in range(i, i + 4):
        s.value[j] /= length


@realtime
def is_known(s, n):
    """1.0 where all values are known, else 0.0."""
    for j in range(min(n, capacities.MAX_STREAM_VALUES)):
        if not math.isfinite(s.value[j]):
            return 0.0
    return 1.0
