"""Taking samples of one stream input: from its ring into the window of those that the loop keeps at hand."""

import math

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import offset_of, stream_ring_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import capacities

_N = capacities.STREAM_RING_ENTRIES
_W = capacities.STREAM_WINDOW
_AHEAD = _W // 2
"""Number of future samples kept in the window; further samples wait in the ring."""
_HEAD = offset_of(stream_ring_dtype, "head")
_TAIL = offset_of(stream_ring_dtype, "tail")
_SHORTEST = 1e-9
"""A shorter quaternion is no rotation."""


@realtime
def reset_stream(s, identity):
    """Reset the stream for another action."""
    s.identity = identity
    s.activation = 0
    s.missed = 0
    s.late = 0
    s.clamped = 0
    s.last_sequence = 0
    s.fresh_tick = 0
    s.version += 1
    s.first = 0
    s.count = 0
    s.present = -1
    s.used = -1
    s.latency = math.nan
    s.not_before = -math.inf
    s.way_end = -1
    s.sent = 0


@realtime
def _make_room(s):
    """Forget the oldest sample of the window."""
    for k in range(s.count - 1):
        s.ticks[k] = s.ticks[k + 1]
        s.times[k] = s.times[k + 1]
        s.made[k] = s.made[k + 1]
        for j in range(capacities.MAX_STREAM_VALUES):
            s.values[k, j] = s.values[k + 1, j]
            s.rates[k, j] = s.rates[k + 1, j]
            s.given[k, j] = s.given[k + 1, j]
    s.count -= 1
    s.first += 1
    s.present = max(s.present - 1, -1)


@realtime
def forget_earlier(s, n):
    """Forget the samples that an activation has seen take effect, and those made before `not_before`, even if later
    partial samples build on them."""
    last = s.used
    for k in range(s.count):
        if s.made[k] < s.not_before:
            last = max(last, s.first + k)
    if last < s.first:
        return
    while s.count > 0 and s.first <= last:
        _make_room(s)
    if s.present < 0:
        s.latency = math.nan
    for k in range(s.count):
        for j in range(n):
            if s.given[k, j] == 0:
                s.values[k, j] = s.values[k - 1, j] if k > 0 else math.nan
    s.version += 1


@realtime
def _keep_rotation(s, k, before, i):
    """Give the quaternion at values i to i + 3 unit length, and the sign that is nearer to the sample's before."""
    length = 0.0
    product = 0.0
    for j in range(i, i + 4):
        length += s.values[k, j] * s.values[k, j]
        if before >= 0:
            product += s.values[k, j] * s.values[before, j]
    length = math.sqrt(length)
    scale = 1.0 / length if length > _SHORTEST else math.nan
    if before >= 0 and not math.isfinite(scale):
        for j in range(i, i + 4):
            s.values[k, j] = s.values[before, j]
            s.given[k, j] = 0
        return
    if product < 0.0:
        scale = -scale
    for j in range(i, i + 4):
        s.values[k, j] *= scale


@realtime
def _insert(s, e, n, quaternion, tick, period):
    """Append a sample to the window. A sample older than the last one is skipped."""
    now = tick * period
    due = e.tick if e.tick > 0 else tick
    time = e.time if math.isfinite(e.time) else due * period
    if s.last_sequence > 0 and e.sequence > s.last_sequence + 1:
        s.missed += e.sequence - s.last_sequence - 1
    s.last_sequence = e.sequence
    if due < tick:
        s.late += 1
    if e.clamped != 0:
        s.clamped += 1
    time = min(time, now + 1e6)
    made = e.made if math.isfinite(e.made) else time
    if made < s.not_before:
        return
    before = s.count - 1
    if before >= 0 and (time <= s.times[before] or due < s.ticks[before]):
        return
    if s.count == _W:
        _make_room(s)
        before = s.count - 1
    k = s.count
    s.ticks[k] = due
    s.times[k] = time
    s.made[k] = made
    for j in range(capacities.MAX_STREAM_VALUES):
        value = math.nan
        s.given[k, j] = 0
        if j < n:
            value = e.values[j]
            if math.isfinite(value):
                s.given[k, j] = 1
            else:  # not given: it keeps what it was
                value = s.values[before, j] if before >= 0 else math.nan
        s.values[k, j] = value
        s.rates[k, j] = e.rates[j] if j < n and math.isfinite(e.rates[j]) else math.nan
    if quaternion >= 0:
        _keep_rotation(s, k, before, quaternion)
    s.count += 1
    s.version += 1


@realtime
def _advance(s, tick, period):
    """Let samples take effect whose tick has come."""
    while s.present + 1 < s.count and s.ticks[s.present + 1] <= tick:
        s.present += 1
        s.fresh_tick = tick
        s.latency = max(tick * period - s.made[s.present], 0.0)
        s.version += 1


@realtime
def take_samples(s, ring, n, quaternion, tick, period):
    """Take what is due in this tick, and keep the next few samples at hand. In every tick, active or not.

    Args:
        s: record of `layout.stream_runtime_dtype`.
        ring: record of `layout.stream_ring_dtype`; this is its one reader.
        n: values in a sample.
        quaternion: index of a unit quaternion among the values, -1: there is none.
        tick: the present one.
        period: of a tick [s].
    """
    base = address_of(ring)
    head = load_acquire(base + _HEAD)
    begin = ring.tail
    tail = begin
    if head < tail or head - tail > _N:
        tail = head  # a correct writer never leaves this
    for _ in range(_N + 1):
        _advance(s, tick, period)
        if tail >= head or s.count - 1 - s.present >= _AHEAD:
            break
        e = ring.entries[tail % _N]
        if e.identity == s.identity:
            _insert(s, e, n, quaternion, tick, period)
        tail += 1
    if tail != begin:
        store_release(base + _TAIL, tail)
