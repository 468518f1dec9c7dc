"""At the tick boundary: take new tables, and a device's new image, that the non-real-time side has prepared."""

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import DEFAULT, end_activation, forget_variables, take_fallback
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.vocabulary.enums import EventKind, StopCause

_PENDING = offset_of(world_dtype, "pending_tables")
_PENDING_IMAGE = offset_of(world_dtype, "pending_image")
_INSTALLED = int(EventKind.TABLES_INSTALLED)
_REMOVED = int(StopCause.REMOVED)


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
        end_activation(w, ch, found, _REMOVED)


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
def install(w, ch):
    """Install pending tables. Kept active actions continue; parts that become free take their default action."""
    base = address_of(w)
    image = load_acquire(base + _PENDING_IMAGE)
    if image != 0:
        dev = w.devices[w.pending_device]
        dev.image = image
        dev.last_cycle = 0
        store_release(base + _PENDING_IMAGE, 0)
    if load_acquire(base + _PENDING) == 0:
        return
    new = 1 - w.active_tables
    _end_removed(w, ch, new)
    w.active_tables = new
    w.installs += 1
    _forget_inactive(w)
    _sort_active(w)
    for p in range(w.n_parts):
        if w.parts_runtime[p].active_action < 0:
            take_fallback(w, ch, p, DEFAULT)
    k = begin_event(w, ch, _INSTALLED, 0)
    if k >= 0:
        ch.events.entries[k].transaction = w.tables[new].version
        publish_event(ch)
    store_release(base + _PENDING, 0)
