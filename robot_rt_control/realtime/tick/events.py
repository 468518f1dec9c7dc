"""Events from the loop to the control server: the producer's side of the event ring, in the tick."""

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import channel_dtype, offset_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import EventKind

_N = capacities.EVENT_RING_ENTRIES
_ROOM = _N - _N // 8
"""Entries for what users' conditions cause, possibly in each tick. The others are for faults, ends and answers."""
_FIRED, _CHANGED = int(EventKind.REACTION_FIRED), int(EventKind.STRATEGY_CHANGED)
_HEAD = offset_of(channel_dtype, "events", "head")
_TAIL = offset_of(channel_dtype, "events", "tail")


@realtime
def begin_event(w, ch, kind, reason):
    """Reserve the next entry and reset it. Returns its index, or -1 if there is no room (the loss is counted)."""
    head = ch.events.head
    room = _ROOM if kind == _FIRED or kind == _CHANGED else _N
    if head - load_acquire(address_of(ch) + _TAIL) >= room:
        w.events_lost += 1
        return -1
    i = head % _N
    e = ch.events.entries[i]
    e.kind = kind
    e.reason = reason
    e.tick = w.tick
    e.time_ns = w.now_ns
    e.transaction = 0
    e.session = 0
    e.reaction = 0
    e.previous_action = 0
    e.current_action = 0
    e.part = -1
    e.joint = -1
    e.status = 0
    e.log = 0
    e.n_values = 0
    return i


@realtime
def publish_event(ch):
    """Make the entry reserved last visible to the server."""
    store_release(address_of(ch) + _HEAD, ch.events.head + 1)
