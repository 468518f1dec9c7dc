"""Starts by the server, by a command or with new definitions: tried before anything gives way to them."""

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import offset_of, part_dtype, world_dtype
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import show_motion_of
from robot_rt_control.realtime.tick.activation import end_activation
from robot_rt_control.realtime.tick.motion_group import member_size
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.realtime.tick.suspension import is_suspended
from robot_rt_control.realtime.tick.used_programs import active_within, program_left
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import OperationalState, Refusal, Status, StopCause

_PARTS = offset_of(world_dtype, "parts")
_TRIAL_PARTS = offset_of(world_dtype, "trial_parts")
_TRIAL_STATE = offset_of(world_dtype, "trial_state")
_PARAMETERS = offset_of(world_dtype, "parameter_arena")
_PART_SIZE = part_dtype.itemsize
_OK = int(Status.OK)
_ENABLED = int(OperationalState.ENABLED)
_STOPPED, _NOT_ENABLED = int(Refusal.PROTECTIVE_STOP), int(Refusal.PART_NOT_ENABLED)
_SUSPENDED = int(Refusal.SESSION_SUSPENDED)
_OVERLAP, _CANNOT_START = int(Refusal.PARTS_OVERLAP), int(Refusal.CANNOT_START)
_DISPLACED, _REPLACED = int(StopCause.DISPLACED), int(StopCause.REPLACED)


@realtime
def refusal_of_start(w, tables, slots, n):
    """Why actions cannot start together in this tick; 0: they can. Nothing changes.

    Args:
        tables: index of the tables that hold them: the active ones, or those that are about to be.
        slots: shape (≥ n,), all of one session; n is at least 1.
    """
    if w.protective_stop != 0.0:
        return _STOPPED
    t = w.tables[tables]
    if is_suspended(w, tables, t.actions[slots[0]].session):
        return _SUSPENDED
    for i in range(n):
        a = t.actions[slots[i]]
        for s in range(a.n_parts):
            if w.parts_runtime[a.parts[s]].state != _ENABLED:
                return _NOT_ENABLED
            for k in range(i):
                b = t.actions[slots[k]]
                for u in range(b.n_parts):
                    if b.parts[u] == a.parts[s]:
                        return _OVERLAP
    for i in range(n):
        if _try_start(w, tables, slots[i]) != _OK:
            return _CANNOT_START
    return 0


@realtime
def replaced(w, tables, slot):
    """Whether these tables hold another action in place of the one that is active in this slot."""
    t = w.tables[tables]
    a = t.actions[slot]
    return slot < t.n_actions and a.identity != 0 and a.replaces == w.actions_runtime[slot].identity


@realtime
def _end(w, ch, tables, slot, ended):
    w.firings[ended] = slot  # scratch: the react step comes later
    end_activation(w, ch, slot, _REPLACED if replaced(w, tables, slot) else _DISPLACED)
    return ended + 1


@realtime
def give_way(w, ch, tables, slots, n):
    """End what is active on the parts of actions that start, with the used programs that are left by it.

    All of it ends first, so that a part set free is free for any of the new ones.

    Args:
        tables, slots, n: as in `refusal_of_start`.

    Returns:
        How many have ended; their slots are in `w.firings`.
    """
    t = w.tables[tables]
    ended = 0
    for i in range(n):
        a = t.actions[slots[i]]
        for s in range(a.n_parts):
            active = w.parts_runtime[a.parts[s]].active_action
            if active >= 0:
                program = program_left(w, active, tables, slots, n, capacities.MAX_USE_DEPTH)
                ended = _end(w, ch, tables, active, ended)
                k = active_within(w, program, -1)
                while k >= 0:
                    ended = _end(w, ch, tables, w.active[k], ended)
                    k = active_within(w, program, -1)
    return ended


@realtime
def _try_start(w, tables, slot):
    """Try an action: of a motion group, the motion of each part. Returns the first status that is not OK."""
    a = w.tables[tables].actions[slot]
    if a.group == 0:
        return _try(w, tables, slot, 0, 0, a.state_size)
    for s in range(a.n_parts):
        status = _try(w, tables, slot, s, s * (a.parameter_size // a.n_parts), member_size(a))
        if status != _OK:
            return status
    return _OK


@realtime
def _try(w, tables, slot, first, parameters, state_size):
    """Run an action's `on_enter` on copies of its parts and on a state of its own. Nothing else changes.

    An action with stream inputs is not tried: its samples are taken in only once it has started.

    Args:
        first: which of its parts comes first.
        parameters: offset of the record that it gets, in the action's [bytes].
        state_size: [bytes].

    Returns:
        The status that `on_enter` will return if the action starts in this tick; OK if there is none.
    """
    t = w.tables[tables]
    a = t.actions[slot]
    address = t.types[a.type].on_enter
    if address == 0:
        return _OK
    for i in range(a.first_stream, a.first_stream + a.n_streams):
        if t.streams[i].is_output == 0:
            return _OK
    base = address_of(w)
    for s in range(capacities.MAX_ACTION_SLOTS):
        p = int(a.parts[min(first + s, capacities.MAX_PARTS - 1)])
        copy_bytes(base + _TRIAL_PARTS + s * _PART_SIZE, base + _PARTS + p * _PART_SIZE, _PART_SIZE)
        if first + s < a.n_parts:
            part = w.trial_parts[s]
            part.dt = w.period * w.speed
            past, modes = w.past_speeds, w.parts_runtime[p].last_modes
            show_motion_of(part, w.limits[p], modes, w.period, past[0], past[1], past[2])
    for i in range(state_size // 8):
        w.trial_state[i] = 0.0
    records = base + _TRIAL_PARTS
    w.inside = slot + 1 if tables == w.active_tables else slot + 1 + capacities.MAX_ACTIONS
    status = call_action(
        address,
        base + _TRIAL_STATE,
        base + _PARAMETERS + a.parameter_offset + parameters,
        records,
        records + _PART_SIZE,
        records + 2 * _PART_SIZE,
        records + 3 * _PART_SIZE,
    )
    w.inside = 0
    w.trial_slot, w.trial_status, w.trial_part = slot, status, first
    return status


@realtime
def report_trial(w, tables, e):
    """Write into the event of a refused start which action it was, what its `on_enter` returned, and what it found.

    Args:
        e: record of `layout.event_dtype`; its values become the action's first state variables.
    """
    a = w.tables[tables].actions[w.trial_slot]
    e.current_action = a.identity
    e.part = a.parts[w.trial_part]
    e.status = w.trial_status
    e.n_values = min(a.n_variables, capacities.MAX_CAPTURES)
    for i in range(e.n_values):
        e.values[i] = w.trial_state[a.n_signals + i]
