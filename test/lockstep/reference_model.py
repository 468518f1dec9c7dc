"""The rules of docs/semantics.md as plain Python: what a tick must do, without saying how the tick does it.

Written from the rules, with objects, lists and dictionaries. The tick is compiled, works in place on tables and
has been made fast; this model is slow, and meant to be read beside the rules whose names it carries. Where the
rules leave something open (which of two refusals, what an event carries), it says what the tick does.

The model predicts, for each tick: which action is active on which part, in which order actions' methods are
called, which events come, and what each reaction remembers. It knows one kind of action, `Behaviour`, which
counts its calls and fails when told to; `scripted_action.py` is the same for the tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

from reference_conditions import evaluate
from reference_definitions import (
    SYSTEM,
    ActionDefinition,
    At,
    Behaviour,
    ClearFaults,
    Definitions,
    Disable,
    Enable,
    EndSession,
    Event,
    Inputs,
    Outcome,
    RaiseSignal,
    ReactionDefinition,
    ServerLost,
    SetSpeed,
    Start,
    Stop,
    StopSession,
)

from robot_rt_control.program.capacities import COMMANDS_PER_TICK

ENABLED, DISABLED, FAULTED = "enabled", "disabled", "faulted"

VARIABLES = ("senses", "settings", "controls", "seen", "elapsed", "value", "is_done")
"""State variables of an action: calls of its methods, signals seen (the second one counts 100), the sum of dt, ..."""


@dataclass
class Activation:
    """One activation of an action: its state, and what its reactions remember. New on each entry (A3, A8)."""

    action: ActionDefinition
    judged_from: int
    entered: bool = False
    sensed: bool = False
    """In this tick; so is `controlled`."""
    controlled: bool = False
    behaviour: Behaviour = Behaviour()
    """The parameters that it works with: those of its entry, or of its last set_parameters."""
    signals: list[float] = field(default_factory=lambda: [0.0, 0.0])
    variables: dict[str, float] = field(default_factory=lambda: dict.fromkeys(VARIABLES, 0.0))
    memory: dict[int, bool] = field(default_factory=dict)
    fired: dict[int, int] = field(default_factory=dict)


class ReferenceModel:
    """A workcell without definitions. `devices`: of each part, the device behind it; `enabled`: these parts are."""

    def __init__(self, devices: Sequence[int], *, enabled: Iterable[int], period: float, max_age: int) -> None:
        self.period, self.max_age = period, max_age
        self.tick_number = 0
        self.speed = 1.0
        self.device_of = dict(enumerate(devices))
        self.age = dict.fromkeys(devices, 0)
        self.device_failed = dict.fromkeys(devices, False)
        self.states = {p: ENABLED if p in set(enabled) else DISABLED for p in self.device_of}
        self.had_state = dict.fromkeys(devices, False)
        self.waiting: list[Any] = []
        self.scheduled: list[At] = []
        self.definitions = Definitions((SYSTEM,), (), (), {}, {})
        self.active: dict[int, Activation] = {}
        """Identity of the action → its activation."""
        self.ended_sessions: set[int] = set()
        self.free_memory: dict[int, bool] = {}
        self.free_fired: dict[int, int] = {}
        self.measured = dict.fromkeys(self.device_of, (nan, nan, False))
        self.calls: list[tuple[int, str]] = []
        self.events: list[Event] = []
        self.claimed: set[int] = set()

    # --- the tick (T) ---------------------------------------------------------------------------

    def tick(self, inputs: Inputs, commands: Iterable[Any] = (), install: Definitions | None = None) -> Outcome:
        """One tick, in the order of T1. `install`: new definitions that wait at its boundary (S2)."""
        self.tick_number += 1
        self.calls, self.events, self.claimed = [], [], set()
        for activation in self.active.values():
            activation.sensed = activation.controlled = False
        if install is not None:
            self._install(install)
        self._read(inputs)
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

    def _active_on_parts(self) -> dict[int, int]:
        return {p: a.action.identity for a in self.active.values() for p in a.action.parts}

    def _in_order(self) -> list[Activation]:
        return sorted(self.active.values(), key=lambda a: self.definitions.rank(a.action))

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
            if self.states[part] == ENABLED and (self._stale(part) or self.device_failed[device]):
                self._fault(part, "STALE_HARDWARE" if self._stale(part) else "HARDWARE_ERROR")

    def _stale(self, part: int) -> bool:
        return self.age[self.device_of[part]] > self.max_age

    def _position_is_known(self, part: int) -> bool:
        return self.had_state[self.device_of[part]] and not self._stale(part)

    def _measured(self, part: int) -> tuple[float, float, bool]:
        """Distance, switch and whether it is too fast; unknown before the first state, and when too old (T4)."""
        return (nan, nan, False) if self._stale(part) else self.measured[part]

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
                self.scheduled.append(command)
            elif isinstance(command, At) and command.tick < self.tick_number:
                self.events.append(Event("COMMAND_REFUSED", reason="TARGET_TICK_PASSED"))
            else:
                self._command(command.command if isinstance(command, At) else command)

    def _command(self, command: Any) -> None:
        refusal = self._refusal(command)
        if refusal:
            self.events.append(Event("COMMAND_REFUSED", reason=refusal))
            return
        match command:
            case Start(_, identities):
                self._take_default(self._start(identities, self.tick_number, "DISPLACED"))  # R8
            case Stop(_, identities):
                stopped = [self.active[i] for i in dict.fromkeys(identities) if i in self.active]
                self._stop(stopped)
            case StopSession(session):
                self._stop(self._of_session(session))
            case EndSession(session):
                self._end_session(session, "SESSION_END")
            case RaiseSignal(_, action, signal):
                self._raise(action, signal)
            case SetSpeed(speed):
                self.speed = speed
            case Enable(part):
                for p in self._parts(part):
                    if self.states[p] == DISABLED and self._position_is_known(p):
                        self.states[p] = ENABLED
                        self.events.append(Event("PART_ENABLED", part=p))
                        self._take_default([p])
            case Disable(part):
                for p in self._parts(part):
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

    def _parts(self, part: int) -> list[int]:
        return list(self.states) if part == -1 else [part]

    def _fault_persists(self, part: int) -> bool:
        return self._stale(part) or self.device_failed[self.device_of[part]]

    def _refusal(self, command: Any) -> str:
        match command:
            case Start(session) | Stop(session) | StopSession(session) | EndSession(session) | RaiseSignal(session):
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
            case SetSpeed(speed):
                return "" if 0.0 <= speed <= 1.0 else "MALFORMED"
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

    def _start_refusal(self, identities: tuple[int, ...]) -> str:  # A1
        parts = [p for i in identities for p in self._definition(i).parts]
        reasons = ["PARTS_OVERLAP"] if len(set(parts)) != len(parts) else []
        if any(self.states[p] != ENABLED for p in parts):
            reasons.append("PART_NOT_ENABLED")
        return "|".join(reasons)

    def _definition(self, identity: int) -> ActionDefinition:
        action = self.definitions.action(identity)
        assert action is not None
        return action

    # --- starting and ending (A) ----------------------------------------------------------------

    def _of_session(self, session: int) -> list[Activation]:
        return [a for a in self._in_order() if a.action.session == session]

    def _in_the_way(self, action: ActionDefinition) -> list[Activation]:
        """Active actions that use one of its parts: also its own activation (A3)."""
        return [a for a in self._in_order() if set(a.action.parts) & set(action.parts)]

    def _start(
        self, identities: Iterable[int], judged_from: int, cause: str, leaving: Iterable[Activation] = ()
    ) -> list[int]:
        """A2, A3: end what is in the way, and what leaves anyway. Returns the parts of all that ended."""
        actions = [self._definition(i) for i in identities]
        ending = list(leaving)
        for action in actions:
            ending += [a for a in self._in_the_way(action) if a not in ending]
        for activation in ending:
            self._end(activation, cause)
        for action in actions:
            self._activate(action, judged_from)
        return [p for a in ending for p in a.action.parts]

    def _activate(self, action: ActionDefinition, judged_from: int) -> None:
        """Its on_enter runs when its turn in `_sense` comes."""
        self.active[action.identity] = Activation(action, judged_from, behaviour=action.behaviour)  # A8
        self.events.append(Event("ACTION_STARTED", current=action.identity))

    def _end(self, activation: Activation, cause: str) -> None:
        del self.active[activation.action.identity]
        self.events.append(Event("ACTION_STOPPED", previous=activation.action.identity, reason=cause))

    def _stop(self, activations: list[Activation]) -> None:  # A5
        for activation in activations:
            self._end(activation, "COMMAND")
        self._take_default(p for a in activations for p in a.action.parts)

    def _take_default(self, parts: Iterable[int]) -> None:
        self._fall_back(parts, self.definitions.default)

    def _take_safety(self, parts: Iterable[int]) -> None:
        self._fall_back(parts, self.definitions.safety)

    def _fall_back(self, parts: Iterable[int], table: dict[int, int]) -> None:
        for part in parts:
            free = part not in self._active_on_parts()
            if free and self.states[part] == ENABLED and part in table:
                self._activate(self._definition(table[part]), self.tick_number)

    def _fail(self, activation: Activation, status: int) -> None:  # A6, A7
        action = activation.action
        self.events.append(Event("ACTION_FAILED", current=action.identity, status=status))
        self._end(activation, "FAILURE")
        if action.session != SYSTEM:
            self._take_safety(action.parts)
            self._end_session(action.session, "SESSION_END")

    def _end_session(self, session: int, cause: str) -> None:  # S6
        self.ended_sessions.add(session)
        ending = self._of_session(session)
        for activation in ending:
            self._end(activation, cause)
        self._take_safety(p for a in ending for p in a.action.parts)

    def _vacate(self, part: int, cause: str) -> None:
        """The part can no longer be moved: end its action, and bring the action's other parts to safety."""
        for activation in self._in_order():
            if part in activation.action.parts:
                self._end(activation, cause)
                self._take_safety(p for p in activation.action.parts if p != part)

    def _fault(self, part: int, reason: str) -> None:  # L4
        self.states[part] = FAULTED
        self.events.append(Event("PART_FAULTED", part=part, reason=reason))
        self._vacate(part, "PART_FAULT")

    # --- signals (G) ----------------------------------------------------------------------------

    def _raise(self, action: int, signal: int) -> None:
        if action in self.active:
            self.active[action].signals[signal] = 1.0
        else:
            self.events.append(Event("SIGNAL_DROPPED", current=action))  # G2

    # --- actions' code --------------------------------------------------------------------------

    def _sense(self) -> None:
        """All that have not yet, in global order: safety actions of this step's failures too (A6: the same tick)."""
        while waiting := [a for a in self._in_order() if not a.sensed]:
            self._call_sense(waiting[0])

    def _call_sense(self, activation: Activation) -> None:
        behaviour, variables = activation.behaviour, activation.variables
        activation.sensed = True
        if not activation.entered:
            activation.entered = True
            self._called(activation, "on_enter")
            if behaviour.enter_status:
                self._fail(activation, behaviour.enter_status)
                return
        self._called(activation, "sense")
        variables["senses"] += 1.0
        variables["elapsed"] += self.speed * self.period  # T3
        variables["value"] = self._measured(activation.action.parts[0])[0] * behaviour.gain
        variables["is_done"] = float(0 < behaviour.done_at <= variables["senses"])
        if variables["senses"] == behaviour.fail_sense_at:
            self._fail(activation, behaviour.status)

    def _control(self) -> None:
        while waiting := [a for a in self._in_order() if not a.controlled]:
            if not waiting[0].sensed:
                self._sense()  # on_enter and sense of what takes the place of a failed one
            else:
                self._call_control(waiting[0])

    def _call_control(self, activation: Activation) -> None:
        activation.controlled = True
        variables = activation.variables
        activation.behaviour = activation.action.behaviour
        self._called(activation, "set_parameters")  # A9: runs in each tick; the first one with new parameters counts
        variables["settings"] += 1.0
        signals, activation.signals = activation.signals, [0.0, 0.0]  # G1
        if variables["settings"] == activation.behaviour.fail_settings_at:
            self._fail(activation, activation.behaviour.status)
            return
        self._called(activation, "control")
        variables["controls"] += 1.0
        variables["seen"] += signals[0] + 100.0 * signals[1]
        if variables["controls"] == activation.behaviour.fail_control_at:
            self._fail(activation, activation.behaviour.status)

    def _limit(self) -> None:
        for part, state in self.states.items():
            if state == ENABLED and self._measured(part)[2]:  # L3
                self._fault(part, "VELOCITY_LIMIT")
            for activation in self._in_order():
                behaviour, controls = activation.behaviour, activation.variables["controls"]
                if part == activation.action.parts[0] and controls == behaviour.bad_command_at > 0:  # L1
                    self._fault(part, behaviour.bad_command)

    def _called(self, activation: Activation, method: str) -> None:
        self.calls.append((activation.action.identity, method))

    # --- reactions (R) --------------------------------------------------------------------------

    def read_variable(self, variable: tuple) -> float:
        """("time",), ("speed",), ("part", p, name), ("action", identity, name); not-a-number: unknown."""
        match variable:
            case ("time",):
                return self.tick_number * self.period
            case ("speed",):
                return self.speed
            case ("part", part, "distance"):
                return self._measured(part)[0]
            case ("part", part, "switch"):
                return self._measured(part)[1]
            case ("part", part, "age"):
                return float(self.age[self.device_of[part]])
            case ("action", identity, name):
                return self.active[identity].variables[name] if identity in self.active else nan  # C3
        raise KeyError(variable)

    def _judged(self) -> list[tuple[ReactionDefinition, Activation | None]]:
        """The reactions to be judged, in the order of R5."""
        d = self.definitions
        living = [s for s in d.sessions if s not in self.ended_sessions]
        judged: list[tuple[ReactionDefinition, Activation | None]] = [
            (r, None) for s in living for r in d.reactions if r.owner is None and r.session == s
        ]
        for activation in self._in_order():  # R3
            if activation.judged_from <= self.tick_number:  # R8
                judged += [(r, activation) for r in d.reactions if r.owner == activation.action.identity]
        return judged

    def _react(self) -> None:
        firings = []
        for reaction, activation in self._judged():  # R4: all of them before any response
            memory = self.free_memory if activation is None else activation.memory
            fired = self.free_fired if activation is None else activation.fired
            before = memory.setdefault(reaction.identity, False)
            now = evaluate(reaction.condition, self.read_variable)
            if now is None:  # R2
                continue
            memory[reaction.identity] = now
            if now and not before and not (reaction.fire_once and fired.get(reaction.identity, 0)):  # R1, R10
                fired[reaction.identity] = fired.get(reaction.identity, 0) + 1
                firings.append((reaction, activation))
        for reaction, activation in firings:
            self._report(reaction, activation)
        for reaction, activation in firings:
            self._respond(reaction, activation)
        self._take_default(sorted(self.claimed))
        self._sense()  # R7: those that began just now

    def _report(self, reaction: ReactionDefinition, owner: Activation | None) -> None:
        """R12. The values are those that the condition saw. The current action is the one asked for, else the owner."""
        previous = 0 if owner is None else owner.action.identity
        current = previous
        if reaction.start is not None:
            current = reaction.start
            if owner is None:
                first_part = self._definition(reaction.start).parts[0]
                previous = self._active_on_parts().get(first_part, 0)
        captured = tuple(self.read_variable(v) for v in reaction.captures)
        self.events.append(Event("REACTION_FIRED", reaction.identity, previous, current, values=captured))

    def _respond(self, reaction: ReactionDefinition, owner: Activation | None) -> None:
        if reaction.start is not None or reaction.stop:
            reason = self._switch_refusal(reaction, owner)
            if reason:
                current = reaction.start or 0
                self.events.append(Event("SWITCH_DROPPED", reaction.identity, current=current, reason=reason))
            else:
                self._switch(reaction, owner)
        if reaction.signal is not None:  # also where the switch was dropped (R6)
            self._raise(*reaction.signal)

    def _switch(self, reaction: ReactionDefinition, owner: Activation | None) -> None:
        self.claimed |= self._touched(reaction, owner)
        leaving = self._leaving(reaction, owner)
        if reaction.start is not None:
            self._start([reaction.start], self.tick_number + 1, "REACTION", leaving)  # R7, R8
        else:
            for activation in leaving:
                self._end(activation, "REACTION")

    def _leaving(self, reaction: ReactionDefinition, owner: Activation | None) -> list[Activation]:
        """What a switch ends, whatever it starts (R11, R13)."""
        if owner is not None:
            return [] if reaction.keep_owner else [owner]
        return self._of_session(reaction.session) if reaction.stop else []

    def _touched(self, reaction: ReactionDefinition, owner: Activation | None) -> set[int]:
        """The parts that a switch claims (R6)."""
        parts = {p for a in self._leaving(reaction, owner) for p in a.action.parts}
        if reaction.start is not None:
            target = self._definition(reaction.start)
            parts |= set(target.parts)
            parts |= {p for a in self._in_the_way(target) for p in a.action.parts}
        return parts

    def _switch_refusal(self, reaction: ReactionDefinition, owner: Activation | None) -> str:
        reasons = ["PARTS_OVERLAP"] if self._touched(reaction, owner) & self.claimed else []
        target = () if reaction.start is None else self._definition(reaction.start).parts
        if any(self.states[p] != ENABLED for p in target):
            reasons.append("PART_NOT_ENABLED")
        return "|".join(reasons)
