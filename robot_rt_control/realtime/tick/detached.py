"""Sessions that go on for a bounded time without their client or without the control server (docs/semantics, U5)."""

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import channel_dtype, offset_of, session_dtype, tables_dtype, world_dtype
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import end_session
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.vocabulary.capacities import MAX_LABEL_BYTES
from robot_rt_control.vocabulary.enums import DETACHED_ENDED, StopCause

_ENDED = DETACHED_ENDED
_SESSION_END = int(StopCause.SESSION_END)
_TABLES, _TABLES_SIZE = offset_of(world_dtype, "tables"), tables_dtype.itemsize
_SESSION_SIZE = session_dtype.itemsize
_NAMES = offset_of(tables_dtype, "sessions") + offset_of(session_dtype, "name")
_NAME_OF_LAST = offset_of(channel_dtype, "detached_session")


@realtime
def detach_session(w, session):
    """Count the session's bound from now on, if it does not count yet. Returns whether it is a detached one."""
    bound = w.tables[w.active_tables].sessions[session].detached
    if bound > 0 and w.detached_until[session] == 0:
        w.detached_until[session] = w.tick + bound
        w.n_detached += 1
    return bound > 0


@realtime
def _is_active(w, session):
    t = w.tables[w.active_tables]
    for k in range(w.n_active):
        if t.actions[w.active[k]].session == session:
            return True
    return False


@realtime
def watch_detached(w, ch):
    """End the sessions whose bound has passed, or of which nothing is active any more."""
    t = w.tables[w.active_tables]
    w.n_detached = 0
    ch.detached_until = 0
    for i in range(1, t.n_sessions):
        until = w.detached_until[i]
        if until == 0:
            continue
        if w.tick < until and _is_active(w, i):
            w.n_detached += 1
            if until > ch.detached_until:
                ch.detached_until = until
                names = address_of(w) + _TABLES + int(w.active_tables) * _TABLES_SIZE + _NAMES
                copy_bytes(address_of(ch) + _NAME_OF_LAST, names + i * _SESSION_SIZE, MAX_LABEL_BYTES)
        else:
            k = begin_event(w, ch, _ENDED, 1 if w.tick >= until else 0)
            if k >= 0:
                ch.events.entries[k].session = t.sessions[i].identity
                publish_event(ch)
            end_session(w, ch, i, _SESSION_END)
