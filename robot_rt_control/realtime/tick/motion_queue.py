"""The set points of motion groups that come from outside the loop: one queue for each group, see `motion_queue_dtype`.

The loop takes at most a few set points in a tick and never waits. Set points of an earlier run are dropped: after
each end of the group the producer writes the motion again from its start.

In lockstep the tick sees each queue as it was when its batch of ticks began (`queues_latched`): what the producer, a
process of its own, does meanwhile would otherwise take effect in a tick that nobody knows, and no replay could repeat.
"""

from collections.abc import Callable
from typing import Any

from robot_rt_control.memory.atomics import address_of, load_acquire, load_relaxed, record_at, store_release
from robot_rt_control.memory.layout import channel_dtype, motion_dtype, motion_queue_dtype, offset_of
from robot_rt_control.memory.plain_access import load_f8
from robot_rt_control.memory.set_points import STAMP_BYTES, set_point_bytes
from robot_rt_control.native.realtime_code import realtime

_QUEUES = offset_of(channel_dtype, "motion_queues")
_SET_POINTS = offset_of(channel_dtype, "set_points")
_HEAD, _TAIL = offset_of(motion_queue_dtype, "head"), offset_of(motion_queue_dtype, "tail")
_RUN, _FAILED = offset_of(motion_queue_dtype, "run"), offset_of(motion_queue_dtype, "failed")
_SIZE = motion_queue_dtype.itemsize
_DROPPED_PER_TICK = 64

motion_at: Callable[[int], Any] = record_at(motion_dtype)


@realtime
def entry_bytes(w, a):
    """Size of a set point of a group: of the joints of all its parts, also of those that have left it."""
    n = 0
    for s in range(a.n_parts):
        n += w.parts[a.parts[s]].dof
    return set_point_bytes(n)


@realtime
def _entry(ch, a, position, size):
    """Address of the set point at a position of the queue. Whatever the shared counters say, it is in the queue."""
    return address_of(ch) + _SET_POINTS + a.queue_offset + position % a.queue_entries * size


@realtime
def _written(w, ch, queue):
    """How many set points the tick may see."""
    if w.queues_latched != 0:
        return w.queue_heads[queue]
    return load_acquire(address_of(ch) + _QUEUES + queue * _SIZE + _HEAD)


@realtime
def find_newest(w, ch, a, head, size):
    """Find how far the motion is in the queue: `head.newest`. What belongs to an earlier run is dropped.

    Args:
        size: of a set point [bytes].
    """
    address = address_of(ch) + _QUEUES + a.queue * _SIZE
    written, taken, run = _written(w, ch, a.queue), load_acquire(address + _TAIL), load_acquire(address + _RUN)
    dropped = 0
    while taken < written and dropped < _DROPPED_PER_TICK and load_relaxed(_entry(ch, a, taken, size)) != run:
        taken += 1
        dropped += 1
    if dropped > 0:
        store_release(address + _TAIL, taken)
    head.newest = -1
    if taken < written and load_relaxed(_entry(ch, a, taken, size)) == run:
        head.newest = load_relaxed(_entry(ch, a, written - 1, size) + 8)


@realtime
def is_orphaned(w, ch, queue):
    """Whether nobody writes set points any more."""
    if w.queues_latched != 0:
        return w.queue_failures[queue] != 0
    return load_acquire(address_of(ch) + _QUEUES + queue * _SIZE + _FAILED) != 0


@realtime
def take_points(w, ch, a, head, size, member, member_size, number):
    """Give each part the set points `number` and `number + 1` (of the last: twice the same), and let older ones go.

    Args:
        size: of a set point [bytes].
        member: address of the first part's state.
        member_size: of each part's state [bytes].
        number: at most `head.newest`.
    """
    tail = address_of(ch) + _QUEUES + a.queue * _SIZE + _TAIL
    taken = load_acquire(tail)
    taken += number - load_relaxed(_entry(ch, a, taken, size) + 8)
    store_release(tail, taken)  # the producer leaves one place free: this entry stays as it is
    before = _entry(ch, a, taken, size) + STAMP_BYTES
    after = before if number >= head.newest else _entry(ch, a, taken + 1, size) + STAMP_BYTES
    for s in range(a.n_parts):
        dof = w.parts[a.parts[s]].dof
        m = motion_at(member + s * member_size)
        for j in range(dof):
            m.before_q[j], m.after_q[j] = load_f8(before + 8 * j), load_f8(after + 8 * j)
            m.before_v[j], m.after_v[j] = load_f8(before + 8 * (dof + j)), load_f8(after + 8 * (dof + j))
            m.before_a[j], m.after_a[j] = load_f8(before + 8 * (2 * dof + j)), load_f8(after + 8 * (2 * dof + j))
        before += 24 * dof
        after += 24 * dof


@realtime
def begin_next_run(w, ch, queue):
    """The group has ended: its motion is wanted again from the start, and what is left in the queue is dropped.

    The run first: a producer that sees the room sees the new run as well, and writes nothing of the old one into it.
    """
    address = address_of(ch) + _QUEUES + queue * _SIZE
    store_release(address + _RUN, load_acquire(address + _RUN) + 1)
    store_release(address + _TAIL, max(load_acquire(address + _TAIL), _written(w, ch, queue)))
