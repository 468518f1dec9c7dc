"""Streams in the tick: samples are taken in before `sense`, and what actions have written leaves after `control`."""

import math

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import (
    channel_dtype,
    offset_of,
    stream_ring_dtype,
    world_dtype,
)
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.realtime.tick.stream_values import find_values, is_known, join_stream
from robot_rt_control.realtime.tick.stream_window import reset_stream, take_samples
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import GapPolicy, Status

_N = capacities.STREAM_RING_ENTRIES
_W = capacities.STREAM_WINDOW
_CUSTOM = int(GapPolicy.CUSTOM)
_OK = int(Status.OK)
_STATE = offset_of(world_dtype, "state_arena")
_PARAMETERS = offset_of(world_dtype, "parameter_arena")
_RING_HEAD = offset_of(stream_ring_dtype, "head")
_RING_TAIL = offset_of(stream_ring_dtype, "tail")
_SAMPLES_OUT = offset_of(channel_dtype, "samples_out")
_FLAGS = 4
"""Numbers of an input after value and velocity: age, valid, timed_out, fresh; then a gap function's window."""


@inlined
def take_streams(w, ch):
    """Take what has come in all stream inputs, of active actions and others: what is written before a start counts."""
    t = w.tables[w.active_tables]
    if t.n_streams > 0:
        _take(w, ch, t)


@realtime
def _take(w, ch, t):
    for i in range(t.n_streams):
        d = t.streams[i]
        s = w.streams_runtime[d.place]
        if s.identity != d.identity:
            reset_stream(s, d.identity)
        if d.is_output == 0:
            take_samples(s, ch.streams[d.place], int(d.n_values), int(d.quaternion), w.tick, w.period)


@realtime
def write_window(s, width, address, now):
    """Show the samples themselves to a gap function.

    Args:
        s: record of `layout.stream_runtime_dtype`.
        width: values in a row of the state's record.
        address: of the field `now` of `streams.input_record`.
    """
    store_f8(address, now)
    store_release(address + 8, s.count)
    store_release(address + 16, s.present)
    times = address + 24
    values = times + 8 * _W
    rates = values + 8 * _W * width
    for k in range(s.count):
        store_f8(times + 8 * k, s.times[k])
        for j in range(width):
            store_f8(values + 8 * (k * width + j), s.values[k, j])
            store_f8(rates + 8 * (k * width + j), s.rates[k, j])


@realtime
def read_custom(s, n, width, record):
    """What a gap function has written; its velocity is per second of the loop's clock, as its times are."""
    for j in range(n):
        s.value[j] = load_f8(record + 8 * j)
        s.velocity[j] = load_f8(record + 8 * (width + j))


@realtime
def show_values(s, n, width, record, per_action_time):
    """Write value and velocity into the state's record.

    Args:
        per_action_time: seconds of the loop's clock in a second of the action's own time; 0: its time stands still.
    """
    for j in range(width):
        store_f8(record + 8 * j, s.value[j] if j < n else 0.0)
        store_f8(record + 8 * (width + j), s.velocity[j] * per_action_time if j < n else 0.0)


@realtime
def show_flags(s, n, width, record, variables, timeout, tick, now):
    """Write the state variables and their like in the state's record.

    Args:
        variables: address of the first of them, see `streams.VARIABLES`.
        timeout: [s]; 0: never.
    """
    # A sample is as old as it is, however late it took effect or the action started: one older than the time-out
    # leads nowhere.
    since = s.made[s.present] if s.present >= 0 else s.start_time
    age = max(now - since, 0.0)
    valid = is_known(s, n)
    timed_out = 1.0 if timeout > 0.0 and age > timeout else 0.0
    flags = record + 16 * width
    store_f8(flags, age)
    store_f8(flags + 8, valid)
    store_f8(flags + 16, timed_out)
    store_f8(flags + 24, 1.0 if s.fresh_tick == tick else 0.0)
    store_f8(variables, age)
    store_f8(variables + 8, valid)
    store_f8(variables + 16, timed_out)
    store_f8(variables + 24, float(s.missed - s.missed_before))
    store_f8(variables + 32, float(s.late - s.late_before))
    store_f8(variables + 40, float(s.clamped - s.clamped_before))
    store_f8(variables + 48, s.latency)


@realtime
def window_address(width, record):
    """Where the window is in an input's record of the state."""
    return record + 8 * (2 * width + _FLAGS)


@realtime
def begin_values(w, i, activation):
    """First half of a stream input's tick: find its values; for a gap function, show it the samples.

    Returns:
        The address of the gap function to call before `end_values`; 0: none.
    """
    t = w.tables[w.active_tables]
    d = t.streams[i]
    if d.is_output != 0:
        return 0
    s = w.streams_runtime[d.place]
    a = t.actions[d.action]
    now = w.tick * w.period
    n, width = int(d.n_values), int(d.width)
    base = address_of(w)
    settings = base + _PARAMETERS + a.parameter_offset + d.settings
    if s.activation != activation:
        join_stream(s, n, activation, load_f8(settings + 24), now)
    choice = load_f8(settings)
    gap = int(choice) if math.isfinite(choice) else 0
    find_values(s, n, int(d.quaternion), gap, load_f8(settings + 16), now)
    if gap != _CUSTOM or d.method < 0:
        return 0
    record = base + _STATE + a.state_offset + d.record
    show_values(s, n, width, record, 1.0)
    write_window(s, width, window_address(width, record), now)
    return t.types[a.type].gap[d.method]


@realtime
def end_values(w, i, custom):
    """Second half: what the action sees of the stream in this tick."""
    t = w.tables[w.active_tables]
    d = t.streams[i]
    if d.is_output != 0:
        return
    s = w.streams_runtime[d.place]
    a = t.actions[d.action]
    base = address_of(w)
    record = base + _STATE + a.state_offset + d.record
    n, width = int(d.n_values), int(d.width)
    if custom:
        read_custom(s, n, width, record)
    dt = w.parts[a.parts[0]].dt
    show_values(s, n, width, record, w.period / dt if dt > 0.0 else 0.0)
    timeout = load_f8(base + _PARAMETERS + a.parameter_offset + d.settings + 24)
    variables = base + _STATE + a.state_offset + d.variables
    show_flags(s, n, width, record, variables, timeout, w.tick, w.tick * w.period)


@realtime
def send_sample(s, ring, width, n, record, tick, time):
    """Move what an action has written from its state's record into the ring. Returns whether there was room."""
    base = address_of(ring)
    head = ring.head
    store_f8(record + 8 * width, 0.0)
    s.sent += 1
    if head - load_acquire(base + _RING_TAIL) >= _N:
        return False
    e = ring.entries[head % _N]
    e.identity = s.identity
    e.sequence = s.sent
    e.tick = tick
    e.time = time
    for j in range(n):
        e.values[j] = load_f8(record + 8 * j)
    store_release(base + _RING_HEAD, head + 1)
    return True


@realtime
def send_streams(w, ch, slot):
    """After an action's `control`: send the samples of its stream outputs that are ready."""
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    base = address_of(w) + _STATE + a.state_offset
    for i in range(a.first_stream, a.first_stream + a.n_streams):
        d = t.streams[i]
        if d.is_output == 0:
            continue
        width = int(d.width)
        record = base + d.record
        ready = load_f8(record + 8 * width)
        if ready == 0.0 or math.isnan(ready):
            continue
        s = w.streams_runtime[d.place]
        if not send_sample(s, ch.streams[d.place], width, int(d.n_values), record, w.tick, w.tick * w.period):
            ch.samples_lost += 1
        store_release(address_of(ch) + _SAMPLES_OUT, ch.samples_out + 1)
