"""Activations: how actions begin, enter, sense and end, and what becomes of the parts that they leave."""

import math

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import offset_of, part_dtype, world_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import set_time, show_motion
from robot_rt_control.realtime.tick.budget_watch import begin_timing, elapsed_ns
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.motion_group import enter_group, sense_group
from robot_rt_control.realtime.tick.motion_queue import begin_next_run
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.realtime.tick.outputs import make_outputs_safe
from robot_rt_control.realtime.tick.recorder import request_log
from robot_rt_control.realtime.tick.stream_step import begin_values, end_values
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import (
    CommandMode,
    EventKind,
    OperationalState,
    Status,
    StopCause,
)

_PARTS = offset_of(world_dtype, "parts")
_PART_SIZE = part_dtype.itemsize
_PARAMETERS = offset_of(world_dtype, "parameter_arena")
_STATE = offset_of(world_dtype, "state_arena")

_ENABLED = int(OperationalState.ENABLED)
_NO_MODE = int(CommandMode.NONE)
_STARTED = int(EventKind.ACTION_STARTED)
_STOPPED = int(EventKind.ACTION_STOPPED)
_FAILED = int(EventKind.ACTION_FAILED)
_SIGNAL_DROPPED = int(EventKind.SIGNAL_DROPPED)
_CAUSE_FAILURE = int(StopCause.FAILURE)
_CAUSE_SESSION_END = int(StopCause.SESSION_END)
_OK = int(Status.OK)

DEFAULT = 0
SAFETY = 1
"""Which action a part takes when it is set free."""


@realtime
def call(w, slot, address):
    """Call one real-time function of an action. Returns its status; OK if the type has no such function.

    Meanwhile `w.inside` names the action, for the watch outside the loop (`loop_guard`).
    """
    if address == 0:
        return _OK
    a = w.tables[w.active_tables].actions[slot]
    base = address_of(w)
    parts = base + _PARTS
    w.inside = slot + 1
    status = call_action(
        address,
        base + _STATE + a.state_offset,
        base + _PARAMETERS + a.parameter_offset,
        parts + int(a.parts[0]) * _PART_SIZE,
        parts + int(a.parts[1]) * _PART_SIZE,
        parts + int(a.parts[2]) * _PART_SIZE,
        parts + int(a.parts[3]) * _PART_SIZE,
    )
    w.inside = 0
    return status


@realtime
def _take_in_streams(w, slot, first, count):
    """The present values of an action's stream inputs into its state. Returns a status."""
    for i in range(first, first + count):
        function = begin_values(w, i, w.actions_runtime[slot].activation)
        status = call(w, slot, function)
        if status != _OK:
            return status
        end_values(w, i, function != 0)
    return _OK


@realtime
def enter_and_sense(w, ch, slot):
    """on_enter, then sense, of an action that has just begun; sense alone afterwards. Returns a status.

    The present values of its stream inputs come first.
    """
    began = begin_timing(w, slot)
    status = _enter_and_sense(w, ch, slot)
    w.actions_runtime[slot].busy_ns = elapsed_ns(w, slot, began)
    return status


@realtime
def _enter_and_sense(w, ch, slot):
    t = w.tables[w.active_tables]
    a = t.actions[slot]
    code = t.types[a.type]
    rt = w.actions_runtime[slot]
    rt.sensed_tick = w.tick
    if 0.0 < a.time_limit <= rt.elapsed:
        rt.timed_out = 1.0
    if a.n_streams > 0:
        status = _take_in_streams(w, slot, a.first_stream, a.n_streams)
        if status != _OK:
            return status
    if rt.entering == 1:
        rt.entering = 0
        for s in range(t.actions[slot].n_parts):
            show_motion(w, t.actions[slot].parts[s])
        status = enter_group(w, ch, slot) if a.group != 0 else call(w, slot, code.on_enter)
        if status != _OK:
            return status
    return sense_group(w, slot) if a.group != 0 else call(w, slot, code.sense)


@realtime
def begin_activation(w, ch, slot, judged_from):
    """Make an action the active one of its parts, which must be free. Its on_enter has yet to run."""
    a = w.tables[w.active_tables].actions[slot]
    rt = w.actions_runtime[slot]
    w.next_activation += 1
    if rt.identity != a.identity:
        rt.reported_tick = rt.suspect = rt.far_strikes = 0
    rt.identity = a.identity
    rt.active = 1
    rt.entering = 1
    rt.activation = w.next_activation
    rt.start_tick = w.tick
    rt.judged_from = judged_from
    rt.judged_installs = -1
    rt.sensed_tick = 0
    rt.controlled_tick = 0
    rt.status = _OK
    rt.strikes = 0
    rt.elapsed = rt.timed_out = 0.0
    rt.ending = 0
    first = a.state_offset // 8
    for i in range(first, first + a.state_size // 8):
        w.state_arena[i] = 0.0
    k = w.n_active
    while k > 0 and w.tables[w.active_tables].actions[w.active[k - 1]].rank > a.rank:
        w.active[k] = w.active[k - 1]
        k -= 1
    w.active[k] = slot
    w.n_active += 1
    for s in range(a.n_parts):
        pr = w.parts_runtime[a.parts[s]]
        pr.active_action = slot
        pr.held = 0
        set_time(w, a.parts[s])
        if a.session != 0:
            pr.output_session = w.tables[w.active_tables].sessions[a.session].identity
    if begin_event(w, ch, _STARTED, 0) >= 0:
        e = ch.events.entries[ch.events.head % capacities.EVENT_RING_ENTRIES]
        e.session = w.tables[w.active_tables].sessions[a.session].identity
        e.current_action = a.identity
        e.part = a.parts[0]
        publish_event(ch)


@realtime
def forget_variables(w, slot):
    """Make an inactive action's state variables unknown and its signals not raised."""
    a = w.tables[w.active_tables].actions[slot]
    first = a.state_offset // 8
    for i in range(first, first + a.n_signals):
        w.state_arena[i] = 0.0
    first += a.n_signals
    for i in range(first, first + a.n_variables):
        w.state_arena[i] = math.nan
    for x in range(a.first_axis, a.first_axis + a.n_axes):
        first = w.tables[w.active_tables].axes[x].state_offset // 8
        w.state_arena[first] = math.nan  # `strategy` and `ticks` of `governed_dtype`
        w.state_arena[first + 1] = math.nan
    w.actions_runtime[slot].elapsed = w.actions_runtime[slot].timed_out = math.nan


@realtime
def end_activation(w, ch, slot, cause):
    """End an active action. Its parts are left free; its state variables become unknown."""
    a = w.tables[w.active_tables].actions[slot]
    rt = w.actions_runtime[slot]
    rt.active = 0
    if a.queue >= 0 and a.group != 0:
        begin_next_run(w, ch, a.queue)
    forget_variables(w, slot)
    k = 0
    for i in range(w.n_active):
        if w.active[i] != slot:
            w.active[k] = w.active[i]
            k += 1
    w.n_active = k
    for s in range(a.n_parts):
        p = a.parts[s]
        if w.parts_runtime[p].active_action == slot:
            w.parts_runtime[p].active_action = -1
            w.parts[p].command_mode = _NO_MODE
            w.parts[p].joint_modes = 0
    if begin_event(w, ch, _STOPPED, cause) >= 0:
        e = ch.events.entries[ch.events.head % capacities.EVENT_RING_ENTRIES]
        e.session = w.tables[w.active_tables].sessions[a.session].identity
        e.previous_action = a.identity
        e.part = a.parts[0]
        e.status = rt.status
        publish_event(ch)


@realtime
def take_fallback(w, ch, part, which):
    """Begin the default or safety action of a part that has no active action. It has yet to enter.

    If the part has none, is not enabled, or is held by a protective stop, the loop itself brings it to rest and
    holds it; after the release too, until somebody asks for its motion.
    """
    t = w.tables[w.active_tables]
    slot = t.default_action[part] if which == DEFAULT else t.safety_action[part]
    pr = w.parts_runtime[part]
    if slot < 0 or pr.active_action >= 0 or pr.state != _ENABLED or pr.held == 1:
        return
    if w.actions_runtime[slot].active == 1:
        return
    begin_activation(w, ch, slot, w.tick)


@realtime
def session_ended(w, session):
    """Whether the session at this index of the tables has ended in the loop."""
    return w.ended_sessions[session] == w.tables[w.active_tables].sessions[session].identity


@realtime
def end_session(w, ch, session, cause):
    """End all actions of a session; its parts take their safety action. Session 0 is the system's and never ends."""
    if session == 0:
        return
    identity = w.tables[w.active_tables].sessions[session].identity
    if w.ended_sessions[session] == identity:
        return
    w.ended_sessions[session] = identity
    w.detached_until[session] = 0
    for i in range(capacities.MAX_SESSION_VARIABLES):
        w.session_variables[session, i] = math.nan
    for p in range(w.n_parts):
        pr = w.parts_runtime[p]
        if pr.output_session == identity and pr.state == _ENABLED:
            pr.output_session = 0
            make_outputs_safe(w, p)
    stop_session(w, ch, session, cause, SAFETY)


@realtime
def stop_session(w, ch, session, cause, which):
    """End all active actions of a session; their parts take the default or safety action."""
    for _ in range(w.n_active):
        found = -1
        for k in range(w.n_active):
            if w.tables[w.active_tables].actions[w.active[k]].session == session:
                found = w.active[k]
        if found < 0:
            break
        end_activation(w, ch, found, cause)
        release_parts(w, ch, found, which)


@realtime
def release_parts(w, ch, slot, which):
    """Let the parts of an action that has ended take their default or safety action."""
    a = w.tables[w.active_tables].actions[slot]
    for s in range(a.n_parts):
        p = a.parts[s]
        if w.parts_runtime[p].active_action < 0:
            take_fallback(w, ch, p, which)


@realtime
def fail_activation(w, ch, slot, status):
    """An action returned a non-zero status: report it, end it and its session, safety for its parts."""
    a = w.tables[w.active_tables].actions[slot]
    w.actions_runtime[slot].status = status
    log = request_log(w, _FAILED, 0, a.parts[0], -1, status, slot)
    if begin_event(w, ch, _FAILED, 0) >= 0:
        e = ch.events.entries[ch.events.head % capacities.EVENT_RING_ENTRIES]
        e.session = w.tables[w.active_tables].sessions[a.session].identity
        e.current_action = a.identity
        e.part = a.parts[0]
        e.status = status
        e.log = log
        publish_event(ch)
    end_activation(w, ch, slot, _CAUSE_FAILURE)
    if a.session == 0:
        return  # a default or safety action failed: the loop itself brings the part to rest
    release_parts(w, ch, slot, SAFETY)
    end_session(w, ch, a.session, _CAUSE_SESSION_END)


@realtime
def raise_signal(w, ch, slot, signal):
    """Raise a signal to an action. If the action is not active, the signal is dropped and the drop reported."""
    a = w.tables[w.active_tables].actions[slot]
    if w.actions_runtime[slot].active == 1:
        w.state_arena[a.state_offset // 8 + signal] = 1.0
        return True
    k = begin_event(w, ch, _SIGNAL_DROPPED, 0)
    if k >= 0:
        e = ch.events.entries[k]
        e.session = w.tables[w.active_tables].sessions[a.session].identity
        e.current_action = a.identity
        publish_event(ch)
    return False
