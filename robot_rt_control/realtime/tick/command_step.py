"""Step 2, commands: take transactions from the command ring. One entry is done as a whole or refused as a whole."""

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.command_places import places_of
from robot_rt_control.memory.layout import (
    channel_dtype,
    command_dtype,
    offset_of,
    stop_request_dtype,
    world_dtype,
)
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import (
    DEFAULT,
    begin_activation,
    end_activation,
    end_session,
    raise_signal,
    release_parts,
    session_ended,
    stop_session,
)
from robot_rt_control.realtime.tick.detached import detach_session, watch_detached
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.motion_group import stops_on_path
from robot_rt_control.realtime.tick.parameter_update import (
    parameters_beside,
    take_changes,
    take_parameters,
    take_variables,
)
from robot_rt_control.realtime.tick.parts import clear_fault, disable_part, enable_part
from robot_rt_control.realtime.tick.protective_stop import release_protective_stop, stop_protectively
from robot_rt_control.realtime.tick.suspension import resume_session
from robot_rt_control.realtime.tick.tools import change_by_command
from robot_rt_control.realtime.tick.trial_start import give_way, refusal_of_start, report_trial
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import (
    Command,
    EventKind,
    Refusal,
    StopCause,
)

_N = capacities.COMMAND_RING_ENTRIES
_HEAD = offset_of(channel_dtype, "commands", "head")
_TAIL = offset_of(channel_dtype, "commands", "tail")
_ENTRIES = offset_of(channel_dtype, "commands", "entries")
_SCHEDULED = offset_of(world_dtype, "scheduled")
_INTERNAL = offset_of(world_dtype, "pending_internal")
_INTERNAL_STOP, _UNNAMED_STOP = offset_of(world_dtype, "internal_stop"), offset_of(world_dtype, "unnamed_stop")
_SIZE = command_dtype.itemsize
_STOP_SIZE = stop_request_dtype.itemsize

_START, _STOP = int(Command.START), int(Command.STOP)
_STOP_SESSION, _END_SESSION = int(Command.STOP_SESSION), int(Command.END_SESSION)
_SIGNAL, _SET_SPEED = int(Command.SIGNAL), int(Command.SET_SPEED)
_ENABLE, _DISABLE, _CLEAR_FAULTS = int(Command.ENABLE), int(Command.DISABLE), int(Command.CLEAR_FAULTS)
_PROTECTIVE_STOP, _RELEASE = int(Command.PROTECTIVE_STOP), int(Command.RELEASE_PROTECTIVE_STOP)
_SERVER_LOST, _SET_PARAMETERS = int(Command.SERVER_LOST), int(Command.SET_PARAMETERS)
_DETACH, _RESUME = int(Command.DETACH), int(Command.RESUME)
_CHANGE_TOOL = int(Command.CHANGE_TOOL)

_DONE = int(EventKind.COMMAND_DONE)
_REFUSED = int(EventKind.COMMAND_REFUSED)
_LOST = int(EventKind.SERVER_LOST)

_UNKNOWN_ACTION = int(Refusal.UNKNOWN_ACTION)
_OTHER_SESSION = int(Refusal.OTHER_SESSION)
_UNKNOWN_PART = int(Refusal.UNKNOWN_PART)
_TOO_MANY = int(Refusal.TOO_MANY_SCHEDULED)
_PASSED = int(Refusal.TARGET_TICK_PASSED)
_MALFORMED = int(Refusal.MALFORMED)
_CANNOT_START = int(Refusal.CANNOT_START)
_TOO_FAR = int(Refusal.TARGET_TICK_TOO_FAR)
_NO_AUTHORITY = int(Refusal.NO_AUTHORITY)
_STOPPED = int(Refusal.PROTECTIVE_STOP)

_BY_COMMAND = int(StopCause.COMMAND)
_SESSION_END = int(StopCause.SESSION_END)
_BY_SERVER_LOSS = int(StopCause.SERVER_LOST)


@realtime
def _session_index(w, identity):
    """Index of a session that has not ended, else -1. The first session is the system's and takes no commands."""
    t = w.tables[w.active_tables]
    for i in range(1, t.n_sessions):
        if t.sessions[i].identity == identity and not session_ended(w, i):
            return i
    return -1


@realtime
def _check_actions(w, c, session):
    """Why the actions that the command names are not this session's; 0: they are."""
    t = w.tables[w.active_tables]
    if c.n_actions < 1 or c.n_actions > capacities.MAX_ACTIONS_PER_COMMAND:
        return _MALFORMED
    for i in range(c.n_actions):
        slot = c.actions[i]
        if slot < 0 or slot >= t.n_actions or t.actions[slot].identity != c.identities[i]:
            return _UNKNOWN_ACTION
        if t.actions[slot].session != session:
            return _OTHER_SESSION
    return 0


@realtime
def _start(w, ch, c, session, parameters):
    refusal = _check_actions(w, c, session)
    if refusal != 0:
        return refusal
    if c.record_size != 0:  # the one action starts with changed parameters
        if c.n_actions != 1 or w.actions_runtime[c.actions[0]].active == 1:
            return _MALFORMED
        refusal = take_changes(w, c.actions[0], parameters, c.record_size)
        if refusal != 0:
            return refusal
    refusal = refusal_of_start(w, w.active_tables, c.actions, c.n_actions)
    if refusal != 0:
        return refusal
    ended = give_way(w, ch, w.active_tables, c.actions, c.n_actions)
    for i in range(c.n_actions):
        begin_activation(w, ch, c.actions[i], w.tick)
    for k in range(ended):
        release_parts(w, ch, w.firings[k], DEFAULT)
    return 0


@realtime
def _stop(w, ch, c, session):
    refusal = _check_actions(w, c, session)
    if refusal != 0:
        return refusal
    for i in range(c.n_actions):
        slot = c.actions[i]
        if w.actions_runtime[slot].active == 1 and not stops_on_path(w, slot, _BY_COMMAND):
            end_activation(w, ch, slot, _BY_COMMAND)
            release_parts(w, ch, slot, DEFAULT)
    return 0


@realtime
def _stop_all(w, ch, session):
    """Stop what is active of a session; motion groups stop on their paths."""
    for _ in range(w.n_active):
        found = -1
        for k in range(w.n_active):
            slot = w.active[k]
            if w.tables[w.active_tables].actions[slot].session == session and not stops_on_path(w, slot, _BY_COMMAND):
                found = slot
        if found < 0:
            return
        end_activation(w, ch, found, _BY_COMMAND)
        release_parts(w, ch, found, DEFAULT)


@realtime
def _for_parts(w, ch, c):
    """ENABLE, DISABLE, CLEAR_FAULTS of one part or, with part -1, of all that can."""
    if c.part < -1 or c.part >= w.n_parts:
        return _UNKNOWN_PART
    for p in range(w.n_parts):
        if c.part == -1 or c.part == p:
            refusal = 0
            if c.command == _ENABLE:
                refusal = enable_part(w, ch, p)
            elif c.command == _DISABLE:
                disable_part(w, ch, p)
            else:
                refusal = clear_fault(w, p)
            if refusal != 0 and c.part == p:
                return refusal
    return 0


@realtime
def lose_server(w, ch):
    """The server is lost: the parts of all sessions but detached ones take their safety action; the loop continues."""
    t = w.tables[w.active_tables]
    for i in range(1, t.n_sessions):
        if session_ended(w, i) or not detach_session(w, i):
            end_session(w, ch, i, _BY_SERVER_LOSS)
    if begin_event(w, ch, _LOST, 0) >= 0:
        publish_event(ch)


@realtime
def _execute(w, ch, c, parameters):
    """Do one command. Returns 0, or why nothing of it was done.

    Args:
        parameters: address of the record that it may carry; 0: none.
    """
    if c.command == _SET_SPEED:
        if not (c.value >= 0.0 and c.value <= 1.0):
            return _MALFORMED
        if c.value > w.speed_target and c.signal == 0:
            return _NO_AUTHORITY
        w.speed_target = c.value
        return 0
    if c.command == _PROTECTIVE_STOP or c.command == _RELEASE:
        request = parameters if parameters != 0 and c.record_size == _STOP_SIZE else address_of(w) + _UNNAMED_STOP
        if c.command == _RELEASE:
            return release_protective_stop(w, ch, c.transaction, request)
        stop_protectively(w, ch, c.transaction, request)
        return 0
    if c.command == _ENABLE or c.command == _DISABLE or c.command == _CLEAR_FAULTS:
        return _for_parts(w, ch, c)
    if c.command == _SERVER_LOST:
        lose_server(w, ch)
        return 0
    if c.command == _STOP_SESSION and c.session == 0:
        for i in range(1, w.tables[w.active_tables].n_sessions):
            stop_session(w, ch, i, _BY_COMMAND, DEFAULT)
        return 0
    session = _session_index(w, c.session)
    if c.command == _CHANGE_TOOL and (session >= 0 or c.session == 0):  # 0: one that has defined nothing yet
        return change_by_command(w, ch, c.part, c.signal)
    if session < 0:
        return _OTHER_SESSION
    if c.command == _START:
        return _start(w, ch, c, session, parameters)
    if c.command == _STOP:
        return _stop(w, ch, c, session)
    if c.command == _STOP_SESSION:
        _stop_all(w, ch, session)
        return 0
    if c.command == _END_SESSION:
        end_session(w, ch, session, _SESSION_END)
        return 0
    if c.command == _RESUME:
        return resume_session(w, ch, session)
    if c.command == _DETACH:
        if c.value != 0.0:
            detach_session(w, session)
        else:
            w.detached_until[session] = 0
        return 0
    if c.command == _SIGNAL:
        refusal = _check_actions(w, c, session)
        if refusal != 0:
            return refusal
        slot = c.actions[0]
        if c.signal < 0 or c.signal >= w.tables[w.active_tables].actions[slot].n_signals:
            return _MALFORMED
        raise_signal(w, ch, slot, c.signal)
        return 0
    if c.command == _SET_PARAMETERS and c.n_actions == 0:
        return take_variables(w, session, parameters, c.record_size)
    if c.command == _SET_PARAMETERS:
        refusal = _check_actions(w, c, session)
        if refusal != 0:
            return refusal
        if c.signal == 1:
            return take_changes(w, c.actions[0], parameters, c.record_size)
        return take_parameters(w, c.actions[0], parameters, c.record_size)
    return _MALFORMED


@realtime
def _answer(w, ch, transaction, session, refusal):
    k = begin_event(w, ch, _DONE if refusal == 0 else _REFUSED, refusal)
    if k >= 0:
        e = ch.events.entries[k]
        e.transaction = transaction
        e.session = session
        if refusal == _CANNOT_START:
            report_trial(w, w.active_tables, e)
        publish_event(ch)


@realtime
def _schedule(w, ch, address, session):
    """Keep a command until its tick. Returns 0, or why not."""
    own = 0
    for i in range(w.n_scheduled):
        if w.scheduled[i].session == session:
            own += 1
    if w.n_scheduled >= capacities.MAX_SCHEDULED_COMMANDS or own >= capacities.MAX_SCHEDULED_BY_SESSION:
        return _TOO_MANY
    copy_bytes(address_of(w) + _SCHEDULED + w.n_scheduled * _SIZE, address, _SIZE)
    w.n_scheduled += 1
    return 0


@realtime
def _only_stops(command):
    """Whether a command can start no motion, and so may wait through a protective stop."""
    return (
        command == _STOP
        or command == _STOP_SESSION
        or command == _END_SESSION
        or command == _DISABLE
        or command == _PROTECTIVE_STOP
    )


@realtime
def _drop_scheduled(w, ch):
    """During a protective stop: refuse what waits for its tick, except what stops. It must not start later."""
    kept = 0
    base = address_of(w) + _SCHEDULED
    for i in range(w.n_scheduled):
        c = w.scheduled[i]
        if _only_stops(c.command):
            if kept != i:
                copy_bytes(base + kept * _SIZE, base + i * _SIZE, _SIZE)
            kept += 1
        else:
            _answer(w, ch, c.transaction, c.session, _STOPPED)
    w.n_scheduled = kept


@realtime
def _run_scheduled(w, ch):
    """Do what is due now, in the order in which it came."""
    kept = 0
    base = address_of(w) + _SCHEDULED
    for i in range(w.n_scheduled):
        c = w.scheduled[i]
        if c.target_tick <= w.tick:
            _answer(w, ch, c.transaction, c.session, _execute(w, ch, c, 0))
        else:
            if kept != i:
                copy_bytes(base + kept * _SIZE, base + i * _SIZE, _SIZE)
            kept += 1
    w.n_scheduled = kept


@realtime
def take_commands(w, ch):
    """Scheduled commands that are due, then from the ring until at least COMMANDS_PER_TICK of its places are free."""
    if w.server_lost == 1:
        w.server_lost = 0
        lose_server(w, ch)
    if w.n_detached > 0:
        watch_detached(w, ch)
    if load_acquire(address_of(w) + _INTERNAL) == 1:
        c = w.internal
        w.internal_refusal = _execute(w, ch, c, address_of(w) + _INTERNAL_STOP)
        _answer(w, ch, 0, 0, w.internal_refusal)
        store_release(address_of(w) + _INTERNAL, 0)
    if w.n_scheduled > 0:
        _run_scheduled(w, ch)
    base = address_of(ch)
    head = load_acquire(base + _HEAD)
    tail = ch.commands.tail
    most = tail + capacities.COMMANDS_PER_TICK
    for _ in range(capacities.COMMANDS_PER_TICK):
        if tail >= min(head, most):
            break
        i = tail % _N
        c = ch.commands.entries[i]
        places = places_of(c.record_size)
        if tail + places > head:
            _answer(w, ch, c.transaction, c.session, _MALFORMED)
            places = 1
        elif c.target_tick == 0 or c.target_tick == w.tick:
            _answer(w, ch, c.transaction, c.session, _execute(w, ch, c, parameters_beside(ch, i)))
        elif c.target_tick < w.tick:
            _answer(w, ch, c.transaction, c.session, _PASSED)
        elif c.command == _SET_PARAMETERS or c.command == _START and c.record_size != 0:  # it leaves with its place
            _answer(w, ch, c.transaction, c.session, _MALFORMED)
        elif (c.target_tick - w.tick) * w.period > defaults.SCHEDULE_AHEAD_S:
            _answer(w, ch, c.transaction, c.session, _TOO_FAR)
        else:
            refusal = _schedule(w, ch, base + _ENTRIES + i * _SIZE, c.session)
            if refusal != 0:
                _answer(w, ch, c.transaction, c.session, refusal)
        tail += places
        store_release(base + _TAIL, tail)
    if w.protective_stop != 0.0 and w.n_scheduled > 0:
        _drop_scheduled(w, ch)
