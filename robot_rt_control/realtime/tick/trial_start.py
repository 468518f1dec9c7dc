"""Trying a start: what can be known at a start by command is refused there, before anything gives way to it."""

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import offset_of, part_dtype, world_dtype
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import show_motion_of
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Status

_PARTS = offset_of(world_dtype, "parts")
_TRIAL_PARTS = offset_of(world_dtype, "trial_parts")
_TRIAL_STATE = offset_of(world_dtype, "trial_state")
_PARAMETERS = offset_of(world_dtype, "parameter_arena")
_PART_SIZE = part_dtype.itemsize
_OK = int(Status.OK)


@realtime
def try_start(w, slot):
    """Run an action's `on_enter` on copies of its parts and on a state of its own. Nothing else changes.

    An action with stream inputs is not tried: its samples are taken in only once it has started.

    Returns:
        The status that `on_enter` will return if the action starts in this tick; OK if there is none.
    """
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    address = t.types[a.type].on_enter
    if address == 0:
        return _OK
    for i in range(a.first_stream, a.first_stream + a.n_streams):
        if t.streams[i].is_output == 0:
            return _OK
    base = address_of(w)
    for s in range(capacities.MAX_ACTION_SLOTS):
        p = int(a.parts[s])
        copy_bytes(base + _TRIAL_PARTS + s * _PART_SIZE, base + _PARTS + p * _PART_SIZE, _PART_SIZE)
        if s < a.n_parts:
            part = w.trial_parts[s]
            part.dt = w.period * w.speed
            past, modes = w.past_speeds, w.parts_runtime[p].last_modes
            show_motion_of(part, w.limits[p], modes, w.period, past[0], past[1], past[2])
    for i in range(a.state_size // 8):
        w.trial_state[i] = 0.0
    first = base + _TRIAL_PARTS
    w.inside = slot + 1
    status = call_action(
        address,
        base + _TRIAL_STATE,
        base + _PARAMETERS + a.parameter_offset,
        first,
        first + _PART_SIZE,
        first + 2 * _PART_SIZE,
        first + 3 * _PART_SIZE,
    )
    w.inside = 0
    w.trial_slot, w.trial_status = slot, status
    return status


@realtime
def report_trial(w, e):
    """Write into the event of a refused start which action it was, what its `on_enter` returned, and what it found.

    Args:
        e: record of `layout.event_dtype`; its values become the action's first state variables.
    """
    a = w.tables[w.active_tables].actions[w.trial_slot]
    e.current_action = a.identity
    e.part = a.parts[0]
    e.status = w.trial_status
    e.n_values = min(a.n_variables, capacities.MAX_CAPTURES)
    for i in range(e.n_values):
        e.values[i] = w.trial_state[a.n_signals + i]
