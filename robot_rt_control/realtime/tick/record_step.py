"""Step 8, record: the snapshot that the other processes see of this tick."""

from robot_rt_control.memory.atomics import address_of, fence_release, store_release
from robot_rt_control.memory.layout import (
    channel_dtype,
    measured_dtype,
    offset_of,
    part_dtype,
    snapshot_part_dtype,
    world_dtype,
)
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import capacities

_SEQUENCE = offset_of(channel_dtype, "snapshot", "sequence")
_SNAPSHOT_PARTS = offset_of(channel_dtype, "snapshot", "parts")
_BEAT = offset_of(channel_dtype, "loop_beat")
_PARTS = offset_of(world_dtype, "parts")
_MEASURED = measured_dtype.itemsize
_PART = part_dtype.itemsize
_SNAPSHOT_PART = snapshot_part_dtype.itemsize


@realtime
def record(w, ch):
    """Write the snapshot under its sequence number (odd while writing), and the loop's heartbeat."""
    base = address_of(ch)
    s = ch.snapshot
    store_release(base + _SEQUENCE, s.sequence + 1)
    fence_release()
    s.tick = w.tick
    s.time_ns = w.now_ns
    s.time = w.time
    s.speed = w.speed
    s.protective_stop = w.protective_stop
    s.events_lost = w.events_lost
    s.n_active = w.n_active
    n = 0
    for k in range(w.n_active):
        slot = w.active[k]
        s.active[k] = w.actions_runtime[slot].identity
        s.active_since[k] = w.actions_runtime[slot].start_tick
        s.elapsed[k] = w.actions_runtime[slot].elapsed
        s.timed_out[k] = w.actions_runtime[slot].timed_out
        a = w.tables[w.active_tables].actions[slot]
        first = a.state_offset // 8 + a.n_signals
        for i in range(min(a.n_variables, capacities.SNAPSHOT_VARIABLES)):
            s.values[k, i] = w.state_arena[first + i]
        if a.n_axes > 0:
            s.first_axis[k] = n
            for x in range(a.first_axis, a.first_axis + a.n_axes):
                first = w.tables[w.active_tables].axes[x].state_offset // 8
                s.governed[n, 0] = w.state_arena[first]  # `strategy` and `ticks` of `governed_dtype`
                s.governed[n, 1] = w.state_arena[first + 1]
                n += 1
    parts = address_of(w) + _PARTS
    for p in range(w.n_parts):
        pr = w.parts_runtime[p]
        copy_bytes(base + _SNAPSHOT_PARTS + p * _SNAPSHOT_PART, parts + p * _PART, _MEASURED - pr.snapshot_omits)
        slot = pr.active_action
        s.parts[p].active_action = w.actions_runtime[slot].identity if slot >= 0 else 0
        s.parts[p].fault = pr.fault
        s.parts[p].fault_log = pr.fault_log
    store_release(base + _SEQUENCE, s.sequence + 1)
    store_release(base + _BEAT, w.tick)
