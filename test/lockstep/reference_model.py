"""The rules of docs/semantics as plain Python: what a tick must do, without saying how the tick does it.

Written from the rules, with objects, lists and dictionaries. The tick is compiled, works in place on tables and
has been made fast; this model is slow, and meant to be read beside the rules whose names it carries. Where the
rules leave something open (which of two refusals, what an event carries), it says what the tick does.

The model predicts, for each tick: which action is active on which part, in which order actions' methods are
called, which events come, and what each reaction remembers. It knows one kind of action, `Behaviour`, which
counts its calls and fails on request; `scripted_action.py` is the same for the tick.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reference_activations import DISABLED, ENABLED, FAULTED, VARIABLES
from reference_definitions import (
    SYSTEM,
    At,
    ClearFaults,
    Definitions,
    Disable,
    Enable,
    EndSession,
    Event,
    Inputs,
    Outcome,
    ProtectiveStop,
    RaiseSignal,
    ReleaseProtectiveStop,
    Resume,
    ServerLost,
    SetParameters,
    SetSpeed,
    Start,
    Stop,
    StopSession,
)
from reference_reactions import ReactionRules

from robot_rt_control.vocabulary.capacities import COMMANDS_PER_TICK

OVERRUN_LIMIT, OVERRUN_WINDOW, OVERRUN_REPORT = 4, 6, 5
"""Policy fault: number of misses, within this number of ticks; and the interval of its events in ticks."""


class ReferenceModel(ReactionRules):
    """A workcell, at first without definitions: what each tick must bring."""

    # --- the tick (T) ---------------------------------------------------------------------------

    def tick(
        self,
        inputs: Inputs,
        commands: Iterable[Any] = (),
        install: Definitions | None = None,
        moving: frozenset[int] = frozenset(),
    ) -> Outcome:
        """One tick, in the order of T1.

        Args:
            install: new definitions that wait at its boundary (S2).
            moving: parts that the last tick's commands have not brought to rest; the model knows no motion.
        """
        self.tick_number += 1
        self.moving = moving
        self.calls, self.events, self.claimed = [], [], set()
        for activation in self.active.values():
            activation.sensed = activation.controlled = False
        self._read(inputs)
        self._look_at_overruns(inputs.missed)
        if install is not None:
            self._install(install)
        self._take_commands(list(commands))
        self._sense()
        self._react()
        self._control()
        self._limit()
        memories = dict(self.free_memory)
        for activation in self.active.values():
            memories |= activation.memory
        variables = {
            a.identity: {name: self.read_variable(("action", a.identity, name)) for name in VARIABLES}
            for a in self.definitions.actions
        }
        return Outcome(self._active_on_parts(), self.calls, self.events, memories, variables, dict(self.states))

    def _read(self, inputs: Inputs) -> None:
        for device in self.age:
            if device in inputs.frozen or device in inputs.errors:
                self.age[device] += 1
                self.device_failed[device] |= device in inputs.errors
            else:
                self.age[device], self.device_failed[device], self.had_state[device] = 0, False, True
        for part, device in self.device_of.items():
            if self.age[device] == 0:
                self.measured[part] = (inputs.distance[part], inputs.switch[part], part in inputs.too_fast)
            # T4 says "the device's parts"; only those that may move have anything to lose by it
            if self.states[part] == ENABLED or part in self.enabling:
                if self._stale(part) or self.device_failed[device]:
                    self._fault(part, "STALE_HARDWARE" if self._stale(part) else "HARDWARE_ERROR")
                elif not self._position_is_known(part):  # L19
                    self._fault(part, "UNKNOWN_FEEDBACK")
                elif part in self.enabling and part not in self.moving:  # L17
                    self._enable(part)

    def _look_at_overruns(self, missed: int) -> None:  # L15, policy fault
        self.unreported += missed
        self.misses += [self.tick_number] * missed
        recent = [tick for tick in self.misses if tick > self.tick_number - OVERRUN_WINDOW]
        too_many = missed > 0 and len(recent) >= OVERRUN_LIMIT
        due = not self.last_report or self.tick_number - self.last_report >= OVERRUN_REPORT
        if self.unreported and (too_many or due):
            self.events.append(Event("OVERRUN", status=self.unreported))
            self.unreported, self.last_report = 0, self.tick_number
        if too_many:
            self.misses = []
            for part, state in self.states.items():
                if state == ENABLED:
                    self._fault(part, "DEADLINE_MISSED")

    # --- definitions (S) ------------------------------------------------------------------------

    def _install(self, new: Definitions) -> None:
        kept = {a.identity: a for a in new.actions}
        for activation in self._in_order():
            identity = activation.action.identity
            if identity not in kept:  # S7
                self._end(activation, "REMOVED")
            else:  # S2
                activation.action = kept[identity]
        self.definitions = new
        for session in set(new.sessions) - self.known_sessions:
            self.known_sessions.add(session)
            if self.protective_stop:
                self.suspended.add(session)
        present = {r.identity for r in new.reactions}
        for memory in (self.free_memory, *(a.memory for a in self.active.values())):
            for gone in set(memory) - present:
                del memory[gone]
        self._take_default(range(len(self.states)))
        self.events.append(Event("TABLES_INSTALLED"))

    # --- commands -------------------------------------------------------------------------------

    def _take_commands(self, commands: list[Any]) -> None:
        due = [c.command for c in self.scheduled if c.tick == self.tick_number]
        self.scheduled = [c for c in self.scheduled if c.tick > self.tick_number]
        self.waiting += commands
        taken, self.waiting = self.waiting[:COMMANDS_PER_TICK], self.waiting[COMMANDS_PER_TICK:]
        for command in due + taken:
            if isinstance(command, At) and command.tick > self.tick_number:
                if isinstance(command.command, SetParameters):  # A11
                    self.events.append(Event("COMMAND_REFUSED", reason="MALFORMED"))
                else:
                    self.scheduled.append(command)
            elif isinstance(command, At) and command.tick < self.tick_number:
                self.events.append(Event("COMMAND_REFUSED", reason="TARGET_TICK_PASSED"))
            else:
                self._command(command.command if isinstance(command, At) else command)
        if self.protective_stop:  # L29
            stopping = Stop, StopSession, EndSession, Disable, ProtectiveStop
            for command in self.scheduled:
                if not isinstance(command.command, stopping):
                    self.events.append(Event("COMMAND_REFUSED", reason="PROTECTIVE_STOP"))
            self.scheduled = [c for c in self.scheduled if isinstance(c.command, stopping)]

    def _command(self, command: Any) -> None:
        refusal = self._refusal(command)
        if refusal:
            self.events.append(Event("COMMAND_REFUSED", reason=refusal))
            return
        match command:
            case Start(_, identities):
                if self._cannot_start(identities):  # A13
                    return
                self._take_default(self._start(identities, self.tick_number, "DISPLACED"))  # R8
            case Stop(_, identities):
                stopped = [self.active[i] for i in dict.fromkeys(identities) if i in self.active]
                self._stop(stopped)
            case StopSession(session):
                sessions = [s for s in self.definitions.sessions if s != SYSTEM] if session == 0 else [session]  # S14
                self._stop([a for s in sessions for a in self._of_session(s)])
            case EndSession(session):
                self._end_session(session, "SESSION_END")
            case RaiseSignal(_, action, signal):
                self._raise(action, signal)
            case SetParameters(_, action, gain):
                self._set_parameters(action, gain)
            case SetSpeed(speed):
                self.speed = speed
            case ProtectiveStop(source, secret):
                if (source, secret) not in self.stops:  # L25
                    self.events.append(Event("PROTECTIVE_STOP"))
                if not self.protective_stop:  # L11
                    for activation in self._in_order():
                        self._end(activation, "PROTECTIVE_STOP")
                    self.held |= set(self.states)
                    self.suspended |= set(self.definitions.sessions) - {SYSTEM}
                self.stops[source, secret] = self.tick_number
            case ReleaseProtectiveStop():
                for stop in self._asked_for(command):
                    if not self._release_refusal(stop, command):
                        del self.stops[stop]
                        self.events.append(Event("PROTECTIVE_STOP_RELEASED"))
            case Resume(session):  # L31
                if session in self.suspended:
                    self.suspended.discard(session)
                    self.events.append(Event("SESSION_RESUMED"))
            case Enable(part):
                for p in self._parts(part):
                    if self.states[p] != DISABLED or not self._position_is_known(p):
                        continue
                    if not self.protective_stop:  # L32
                        self.held.discard(p)
                    if p in self.moving:  # L17
                        self.enabling.add(p)
                    elif p not in self.enabling:
                        self._enable(p)
            case Disable(part):
                for p in self._parts(part):
                    self.enabling.discard(p)
                    if self.states[p] == ENABLED:
                        self.states[p] = DISABLED
                        self.events.append(Event("PART_DISABLED", part=p))
                        self._vacate(p, "COMMAND")
            case ClearFaults(part):
                for p in self._parts(part):
                    if self.states[p] == FAULTED and not self._fault_persists(p):
                        self.states[p] = DISABLED  # L5: enabling is separate
            case ServerLost():
                for session in self.definitions.sessions:
                    if session != SYSTEM:
                        self._end_session(session, "SERVER_LOST")
                self.events.append(Event("SERVER_LOST"))
        self.events.append(Event("COMMAND_DONE"))

    def _enable(self, part: int) -> None:
        self.enabling.discard(part)
        self.states[part] = ENABLED
        self.events.append(Event("PART_ENABLED", part=part))
        self._take_default([part])

    def _set_parameters(self, identity: int, gain: float) -> None:  # A11
        old = self._definition(identity)
        new = replace(old, behaviour=replace(old.behaviour, gain=gain))
        actions = tuple(new if a is old else a for a in self.definitions.actions)
        self.definitions = replace(self.definitions, actions=actions)
        if identity in self.active:
            activation = self.active[identity]
            activation.action = new
            if not activation.entered:
                activation.behaviour = new.behaviour

    def _asked_for(self, release: ReleaseProtectiveStop) -> list[tuple[str, str]]:
        """The latched stops that a release means (L26)."""
        every = release.everything or not release.source
        return [stop for stop in self.stops if every or stop[0] == release.source]

    def _release_refusal(self, stop: tuple[str, str], release: ReleaseProtectiveStop) -> str:
        if self.stops[stop] == self.tick_number:  # L28
            return "STOPPED_NOW"
        if stop[1]:  # L27
            return "STOP_NEEDS_SECRET" if release.everything or release.secret != stop[1] else ""
        return "" if release.authority else "NO_AUTHORITY"  # S21

    def _parts(self, part: int) -> list[int]:
        return list(self.states) if part == -1 else [part]

    def _fault_persists(self, part: int) -> bool:
        return self.device_failed[self.device_of[part]] or not self._position_is_known(part)

    def _refusal(self, command: Any) -> str:
        match command:
            case StopSession(0):
                return ""
            case (
                Start(session)
                | Stop(session)
                | StopSession(session)
                | EndSession(session)
                | RaiseSignal(session)
                | SetParameters(session)
                | Resume(session)
            ):
                known = session != SYSTEM and session in self.definitions.sessions  # S4: parts are held by others
                if not known or session in self.ended_sessions:
                    return "OTHER_SESSION"
        match command:
            case Start(session, identities):
                return self._named_refusal(session, identities) or self._start_refusal(identities)
            case Stop(session, identities):
                return self._named_refusal(session, identities)
            case RaiseSignal(session, action, signal):
                return self._named_refusal(session, (action,)) or ("" if signal in (0, 1) else "MALFORMED")
            case SetParameters(session, action, _):
                return self._named_refusal(session, (action,))
            case SetSpeed(speed, authority):
                if not 0.0 <= speed <= 1.0:
                    return "MALFORMED"
                return "" if authority or speed <= self.speed else "NO_AUTHORITY"  # S21
            case ReleaseProtectiveStop(source):
                if not source and not command.everything and len(self.stops) > 1:
                    return "SEVERAL_STOPS"
                found = self._asked_for(command)
                refusals = [self._release_refusal(stop, command) for stop in found]
                if not found:
                    return "" if not source and not self.stops else "NO_SUCH_STOP"
                return "" if "" in refusals else "|".join(refusals)
            case Resume():
                return "PROTECTIVE_STOP" if self.protective_stop else ""
            case Enable(part) | Disable(part) | ClearFaults(part):
                if part != -1 and part not in self.states:
                    return "UNKNOWN_PART"
                if part != -1 and isinstance(command, Enable):
                    if self.states[part] == FAULTED:
                        return "STILL_FAULTED"
                    can = self.states[part] == ENABLED or self._position_is_known(part)
                    return "" if can else "PART_NOT_ENABLED"
                if part != -1 and isinstance(command, ClearFaults):
                    return "STILL_FAULTED" if self.states[part] == FAULTED and self._fault_persists(part) else ""
        return ""

    def _named_refusal(self, session: int, identities: tuple[int, ...]) -> str:
        if not identities:
            return "MALFORMED"
        for identity in identities:
            action = self.definitions.action(identity)
            if action is None:
                return "UNKNOWN_ACTION"
            if action.session != session:
                return "OTHER_SESSION"
        return ""

    def _cannot_start(self, identities: tuple[int, ...]) -> bool:
        """Try each action's on_enter; the first that fails refuses the command."""
        for identity in identities:
            self.calls.append((identity, "on_enter"))
            status = self._definition(identity).behaviour.enter_status
            if status:
                found = (0.0,) * len(VARIABLES)
                event = Event("COMMAND_REFUSED", reason="CANNOT_START", current=identity, status=status, values=found)
                self.events.append(event)
                return True
        return False

    def _start_refusal(self, identities: tuple[int, ...]) -> str:  # A1
        parts = [p for i in identities for p in self._definition(i).parts]
        reasons = ["PARTS_OVERLAP"] if len(set(parts)) != len(parts) else []
        if any(self.states[p] != ENABLED for p in parts):
            reasons.append("PART_NOT_ENABLED")
        if self.protective_stop:
            reasons.append("PROTECTIVE_STOP")
        if any(self._definition(i).session in self.suspended for i in identities):  # L30
            reasons.append("SESSION_SUSPENDED")
        return "|".join(reasons)
