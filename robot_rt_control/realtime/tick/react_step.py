"""Step 4, react: judge all conditions on the state after sense, then let the firings respond in global order."""

from collections.abc import Callable
from typing import Any

from robot_rt_control.conditions.kernel import evaluate
from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.layout import offset_of, reaction_dtype, reaction_runtime_dtype, world_dtype
from robot_rt_control.memory.plain_access import load_f8
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import (
    DEFAULT,
    begin_activation,
    end_activation,
    raise_signal,
    session_ended,
    take_fallback,
)
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.motion_group import stops_on_path
from robot_rt_control.realtime.tick.sense_step import sense
from robot_rt_control.realtime.tick.suspension import is_suspended
from robot_rt_control.realtime.tick.used_programs import active_within, program_left
from robot_rt_control.vocabulary.capacities import MAX_USE_DEPTH
from robot_rt_control.vocabulary.enums import (
    EventKind,
    OperationalState,
    ReactionFlag,
    Refusal,
    StopCause,
)

_FIRE_ONCE = int(ReactionFlag.FIRE_ONCE)
_STOP = int(ReactionFlag.STOP)
_KEEP_OWNER = int(ReactionFlag.KEEP_OWNER)
_ENABLED = int(OperationalState.ENABLED)
_FIRED = int(EventKind.REACTION_FIRED)
_DROPPED = int(EventKind.SWITCH_DROPPED)
_OVERLAP = int(Refusal.PARTS_OVERLAP)
_NOT_ENABLED = int(Refusal.PART_NOT_ENABLED)
_STOPPED, _SUSPENDED = int(Refusal.PROTECTIVE_STOP), int(Refusal.SESSION_SUSPENDED)
_BY_REACTION = int(StopCause.REACTION)
_BY_TIME_LIMIT = int(StopCause.TIME_LIMIT)
_UNKNOWN = 2
_MEMORIES = offset_of(world_dtype, "reactions_runtime")
_REACTION_SIZE = reaction_dtype.itemsize
_MEMORY_SIZE = reaction_runtime_dtype.itemsize


reaction_at: Callable[[int], Any] = record_at(reaction_dtype)
memory_at: Callable[[int], Any] = record_at(reaction_runtime_dtype)


@realtime
def _prepare(w, t, first, last, activation):
    """Reset the memories of reactions first to last - 1 that belong to another reaction or activation."""
    for i in range(first, last):
        r = t.reactions[i]
        m = w.reactions_runtime[r.runtime_slot]
        if m.activation != activation or m.identity != r.identity:
            m.identity = r.identity
            m.activation = activation
            m.memory = 0
            m.fired = 0


@realtime
def _judge(w, t, first, last, n):
    """Judge reactions first to last - 1; each firing is noted. Returns the new number of firings."""
    base = address_of(w)
    memories = base + _MEMORIES
    reactions = address_of(t.reactions)
    address = reactions + int(first) * _REACTION_SIZE
    end = reactions + int(last) * _REACTION_SIZE
    while address < end:  # by address: this loop runs once for each reaction in each tick
        r = reaction_at(address)
        value = evaluate(base, t.instructions, int(r.first_instruction), int(r.n_instructions))
        m = memory_at(memories + int(r.runtime_slot) * _MEMORY_SIZE)
        if value != m.memory and value != _UNKNOWN:
            m.memory = value
            if value == 1 and (m.fired == 0 or r.flags & _FIRE_ONCE == 0):
                m.fired += 1
                w.firings[n] = (address - reactions) // _REACTION_SIZE
                n += 1
        address += _REACTION_SIZE
    return n


@realtime
def _report(w, ch, i):
    """The event of a firing, with the captured values as the condition saw them."""
    t = w.tables[w.active_tables]
    r = t.reactions[i]
    k = begin_event(w, ch, _FIRED, 0)
    if k < 0:
        return
    e = ch.events.entries[k]
    e.reaction = r.identity
    e.session = t.sessions[r.session].identity
    if r.owner >= 0:
        e.previous_action = t.actions[r.owner].identity
        e.current_action = e.previous_action
    if r.n_starts > 0:
        e.current_action = t.actions[r.starts[0]].identity
        if r.owner < 0:
            displaced = w.parts_runtime[t.actions[r.starts[0]].parts[0]].active_action
            if displaced >= 0:
                e.previous_action = t.actions[displaced].identity
    e.n_values = r.n_captures
    base = address_of(w)
    for c in range(r.n_captures):
        e.values[c] = load_f8(base + int(r.captures[c]))
    publish_event(ch)


@realtime
def _claimed(w, slot):
    """Whether a part of the action was claimed by an earlier switch of this tick."""
    a = w.tables[w.active_tables].actions[slot]
    for s in range(a.n_parts):
        if w.parts_runtime[a.parts[s]].claimed_tick == w.tick:
            return True
    return False


@realtime
def _claim(w, slot):
    a = w.tables[w.active_tables].actions[slot]
    for s in range(a.n_parts):
        w.parts_runtime[a.parts[s]].claimed_tick = w.tick


@realtime
def _program_left(w, r, slot):
    """The used program that ends with an action that the reaction ends, see `program_left`."""
    limit = r.leaves if slot == r.owner and r.leaves >= 0 else MAX_USE_DEPTH
    return program_left(w, slot, w.active_tables, r.starts, r.n_starts, limit)


@realtime
def _end_is_claimed(w, r, slot):
    """Whether an active action, or one that ends with it, touches a part that was claimed in this tick."""
    if _claimed(w, slot):
        return True
    program = _program_left(w, r, slot)
    k = active_within(w, program, -1)
    while k >= 0:
        if _claimed(w, w.active[k]):
            return True
        k = active_within(w, program, k)
    return False


@realtime
def _refusal_of_start(w, r):
    """Why the reaction may not start its actions now; 0: it may."""
    t = w.tables[w.active_tables]
    if w.protective_stop != 0.0:
        return _STOPPED
    if is_suspended(w, w.active_tables, r.session):
        return _SUSPENDED
    for i in range(r.n_starts):
        a = t.actions[r.starts[i]]
        if _claimed(w, r.starts[i]):
            return _OVERLAP
        for s in range(a.n_parts):
            pr = w.parts_runtime[a.parts[s]]
            if pr.state != _ENABLED:
                return _NOT_ENABLED
            if pr.active_action >= 0 and _end_is_claimed(w, r, pr.active_action):
                return _OVERLAP
    return 0


@realtime
def _free(w, ch, slot):
    """End an active action on behalf of a reaction and claim its parts."""
    if w.actions_runtime[slot].active == 1:
        _claim(w, slot)
        end_activation(w, ch, slot, _BY_REACTION)


@realtime
def _give_way(w, ch, r, slot):
    """End an action, and the used program that is left with it."""
    program = _program_left(w, r, slot)
    _free(w, ch, slot)
    k = active_within(w, program, -1)
    while k >= 0:
        _free(w, ch, w.active[k])
        k = active_within(w, program, -1)


@realtime
def _switch(w, ch, r):
    """Start and stop what the reaction says. Returns 0, or why the switch was dropped."""
    t = w.tables[w.active_tables]
    ends_owner = r.owner >= 0 and r.flags & _KEEP_OWNER == 0
    if ends_owner and w.actions_runtime[r.owner].active == 0:
        return 0 if r.n_starts == 0 else _OVERLAP  # it only asks for the end of an action that has ended already
    if ends_owner and _end_is_claimed(w, r, r.owner):
        return _OVERLAP
    if r.n_starts > 0:
        refusal = _refusal_of_start(w, r)
        if refusal != 0:
            return refusal
    elif r.owner < 0:
        for k in range(w.n_active):
            if t.actions[w.active[k]].session == r.session and _claimed(w, w.active[k]):
                return _OVERLAP
    if ends_owner and (r.n_starts > 0 or not stops_on_path(w, r.owner, _BY_REACTION)):
        _give_way(w, ch, r, r.owner)
    for i in range(r.n_starts):
        a = t.actions[r.starts[i]]
        for s in range(a.n_parts):
            displaced = w.parts_runtime[a.parts[s]].active_action
            if displaced >= 0:
                _give_way(w, ch, r, displaced)
    for i in range(r.n_starts):
        _claim(w, r.starts[i])
        begin_activation(w, ch, r.starts[i], w.tick + 1)
    if r.n_starts == 0 and r.owner < 0:
        for _ in range(w.n_active):
            found = -1
            for k in range(w.n_active):
                if t.actions[w.active[k]].session == r.session:
                    found = w.active[k]
            if found < 0:
                break
            _free(w, ch, found)
    return 0


@realtime
def _respond(w, ch, i):
    t = w.tables[w.active_tables]
    r = t.reactions[i]
    if r.n_starts > 0 or r.flags & _STOP != 0:
        refusal = _switch(w, ch, r)
        if refusal != 0:
            k = begin_event(w, ch, _DROPPED, refusal)
            if k >= 0:
                e = ch.events.entries[k]
                e.reaction = r.identity
                e.session = t.sessions[r.session].identity
                if r.n_starts > 0:
                    e.current_action = t.actions[r.starts[0]].identity
                publish_event(ch)
    if r.signal_action >= 0:
        raise_signal(w, ch, r.signal_action, r.signal)


@realtime
def _is_ending(rt):
    """Whether an action ends by itself in this tick: its time limit has been reached, or its group has stopped."""
    return rt.timed_out == 1.0 or rt.ending != 0


@realtime
def _end_by_itself(w, ch):
    """End these actions, as far as no reaction of this tick has ended them. Motion groups stop on their paths first."""
    k = 0
    while k < w.n_active:
        slot = w.active[k]
        rt = w.actions_runtime[slot]
        if _is_ending(rt) and (rt.ending != 0 or not stops_on_path(w, slot, _BY_TIME_LIMIT)):
            _claim(w, slot)  # the next one takes its place in the list
            end_activation(w, ch, slot, _BY_TIME_LIMIT if rt.ending == 0 else rt.ending)
        else:
            k += 1


@realtime
def react(w, ch):
    """Judge, respond, and bring the parts that were set free to their default action."""
    t = w.tables[w.active_tables]
    n = 0
    for i in range(t.n_free_reactions):
        if not session_ended(w, t.reactions[i].session):
            if w.judged_installs != w.installs:
                _prepare(w, t, i, i + 1, 0)
            n = _judge(w, t, i, i + 1, n)
    w.judged_installs = w.installs
    ending = False
    for k in range(w.n_active):
        slot = w.active[k]
        rt = w.actions_runtime[slot]
        ending |= _is_ending(rt)
        if rt.judged_from <= w.tick:
            a = t.actions[slot]
            last = a.first_reaction + a.n_reactions
            if rt.judged_installs != w.installs:
                rt.judged_installs = w.installs
                _prepare(w, t, a.first_reaction, last, rt.activation)
            n = _judge(w, t, a.first_reaction, last, n)
    if n == 0 and not ending:
        return
    for f in range(n):
        _report(w, ch, w.firings[f])
    for f in range(n):
        _respond(w, ch, w.firings[f])
    if ending:
        _end_by_itself(w, ch)
    for p in range(w.n_parts):
        pr = w.parts_runtime[p]
        if pr.claimed_tick == w.tick and pr.active_action < 0:
            take_fallback(w, ch, p, DEFAULT)
    sense(w, ch)
