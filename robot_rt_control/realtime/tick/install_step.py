"""At the tick boundary: take a device's new image, and new tables, that the non-real-time side has prepared."""

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import (
    DEFAULT,
    begin_activation,
    end_activation,
    forget_variables,
    take_fallback,
)
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.suspension import meet_sessions
from robot_rt_control.realtime.tick.trial_start import give_way, refusal_of_start, replaced, report_trial
from robot_rt_control.vocabulary.enums import EventKind, Refusal, StopCause

_PENDING = offset_of(world_dtype, "pending_tables")
_PENDING_IMAGE = offset_of(world_dtype, "pending_image")
_INSTALLED = int(EventKind.TABLES_INSTALLED)
_REFUSED = int(EventKind.REPLACE_REFUSED)
_REMOVED, _REPLACED = int(StopCause.REMOVED), int(StopCause.REPLACED)
_OTHER_SESSION, _CANNOT_START = int(Refusal.OTHER_SESSION), int(Refusal.CANNOT_START)


@realtime
def _end_removed(w, ch, new):
    """End the active actions that the new tables do not hold any more, while the old tables still describe them."""
    t = w.tables[new]
    for _ in range(w.n_active):
        found = -1
        for k in range(w.n_active):
            slot = w.active[k]
            if slot >= t.n_actions or t.actions[slot].identity != w.actions_runtime[slot].identity:
                found = slot
        if found < 0:
            return
        end_activation(w, ch, found, _REPLACED if replaced(w, new, found) else _REMOVED)


@realtime
def _sort_active(w):
    """Ranks may have changed with the tables."""
    t = w.tables[w.active_tables]
    for i in range(1, w.n_active):
        slot = w.active[i]
        k = i
        while k > 0 and t.actions[w.active[k - 1]].rank > t.actions[slot].rank:
            w.active[k] = w.active[k - 1]
            k -= 1
        w.active[k] = slot


@realtime
def _forget_inactive(w):
    """Reset the variables of inactive actions: their memory may hold another action's values."""
    t = w.tables[w.active_tables]
    for slot in range(t.n_actions):
        if t.actions[slot].identity != 0 and w.actions_runtime[slot].active == 0:
            forget_variables(w, slot)


@realtime
def _starting(w, new):
    """Collect the actions that start with the new tables in `w.starting`. Returns how many."""
    t = w.tables[new]
    n = 0
    for i in range(t.n_starts):
        w.starting[i] = t.starts[i]
        n += 1
    if t.n_starts < 0:
        for k in range(w.n_active):
            if replaced(w, new, w.active[k]):
                w.starting[n] = w.active[k]
                n += 1
    return n


@realtime
def _refused(w, ch, new, n):
    """Whether the actions that are to start with the new tables cannot; that is reported, and nothing has changed."""
    t = w.tables[new]
    session = t.actions[w.starting[0]].session
    refusal = _OTHER_SESSION
    if w.ended_sessions[session] != t.sessions[session].identity:
        refusal = refusal_of_start(w, new, w.starting, n)
    if refusal == 0:
        return False
    k = begin_event(w, ch, _REFUSED, refusal)
    if k >= 0:
        e = ch.events.entries[k]
        e.transaction = t.version
        e.session = t.sessions[session].identity
        if refusal == _CANNOT_START:
            report_trial(w, new, e)
        publish_event(ch)
    return True


@realtime
def attach_image(w):
    """Take a device's new image."""
    base = address_of(w)
    image = load_acquire(base + _PENDING_IMAGE)
    if image != 0:
        dev = w.devices[w.pending_device]
        dev.image = image
        dev.last_cycle = 0
        store_release(base + _PENDING_IMAGE, 0)


@realtime
def install(w, ch):
    """Install pending tables. Kept active actions continue; parts that become free take their default action, unless a
    protective stop has held them and nobody has asked for their motion since.

    If actions start with the tables, they are tried first. If one cannot start, the tables are not taken.
    """
    base = address_of(w)
    if load_acquire(base + _PENDING) == 0:
        return
    new = 1 - w.active_tables
    n = _starting(w, new)
    if n > 0:
        if _refused(w, ch, new, n):
            store_release(base + _PENDING, 0)
            return
        give_way(w, ch, new, w.starting, n)
    _end_removed(w, ch, new)
    w.active_tables = new
    w.installs += 1
    meet_sessions(w)
    _forget_inactive(w)
    _sort_active(w)
    for i in range(n):
        begin_activation(w, ch, w.starting[i], w.tick)
    for p in range(w.n_parts):
        if w.parts_runtime[p].active_action < 0:
            take_fallback(w, ch, p, DEFAULT)
    k = begin_event(w, ch, _INSTALLED, 0)
    if k >= 0:
        ch.events.entries[k].transaction = w.tables[new].version
        publish_event(ch)
    store_release(base + _PENDING, 0)
