"""The rules of docs/semantics.md as plain Python: what a tick must do, without saying how the tick does it.

Written from the rules alone, with objects, lists and dictionaries. The tick is compiled, works in place on
tables and has been made fast; this model is slow, and meant to be read beside the rules whose names it carries.

The model predicts, for each tick: which action is active on which part, in which order actions' methods are
called, which events come, and what each reaction remembers. It knows one kind of action, `Behaviour`, which
counts its calls and fails when told to; `scripted_action.py` is the same for the tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

SYSTEM = 1
"""Identity of the session that default and safety actions belong to; it is the oldest and never ends."""

ENABLED, DISABLED, FAULTED = "enabled", "disabled", "faulted"


# --- definitions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Behaviour:
    """What an action does. Counts are of calls in one activation, 1 is the first; 0 means never."""

    enter_status: int = 0
    fail_sense_at: int = 0
    fail_settings_at: int = 0
    fail_control_at: int = 0
    status: int = 1
    """Returned where it fails."""
    done_at: int = 0
    """`is_done` from this sense on."""
    bad_command_at: int = 0
    """This control writes a command that is not a number."""
    gain: float = 1.0
    """`value` is the first part's distance times this, as it was on entry or in the last set_parameters."""


@dataclass(frozen=True)
class ActionDefinition:
    identity: int
    session: int
    parts: tuple[int, ...]
    behaviour: Behaviour


@dataclass(frozen=True)
class ReactionDefinition:
    identity: int
    session: int
    owner: int | None
    """Identity of the action that it belongs to; None: free-standing."""
    condition: Any
    """See `evaluate`."""
    start: int | None = None
    stop: bool = False
    signal: tuple[int, int] | None = None
    """(identity of the action, index of its signal)"""
    event: bool = False
    fire_once: bool = False
    keep_owner: bool = False
    captures: tuple[tuple, ...] = ()


@dataclass(frozen=True)
class Definitions:
    """Everything that is defined. Sessions from old to new; actions and reactions as they were defined."""

    sessions: tuple[int, ...]
    actions: tuple[ActionDefinition, ...]
    reactions: tuple[ReactionDefinition, ...]
    default: dict[int, int]
    """Part → identity of its default action."""
    safety: dict[int, int]

    def action(self, identity: int) -> ActionDefinition | None:
        return next((a for a in self.actions if a.identity == identity), None)

    def rank(self, action: ActionDefinition) -> tuple[int, int]:
        """The global order of actions (R5): the older session first, then as they were defined."""
        return self.sessions.index(action.session), self.actions.index(action)


# --- commands, inputs, outcome -------------------------------------------------------------------


@dataclass(frozen=True)
class Start:
    session: int
    actions: tuple[int, ...]


@dataclass(frozen=True)
class Stop:
    session: int
    actions: tuple[int, ...]


@dataclass(frozen=True)
class StopSession:
    session: int


@dataclass(frozen=True)
class EndSession:
    session: int


@dataclass(frozen=True)
class RaiseSignal:
    session: int
    action: int
    signal: int


@dataclass(frozen=True)
class SetSpeed:
    speed: float


@dataclass(frozen=True)
class Enable:
    part: int  # -1: all


@dataclass(frozen=True)
class Disable:
    part: int  # -1: all


@dataclass(frozen=True)
class ClearFaults:
    part: int  # -1: all


@dataclass(frozen=True)
class ServerLost:
    pass


@dataclass
class Inputs:
    """What the hardware shows in one tick."""

    distance: dict[int, float]
    switch: dict[int, float]
    """Part → its first digital input."""
    fresh: bool = True
    """Whether the device has written a new state since the last tick."""


@dataclass(frozen=True)
class Event:
    kind: str
    """The name in vocabulary.EventKind."""
    reaction: int = 0
    previous: int = 0
    current: int = 0
    reason: str = ""
    """The name in StopCause, Refusal or FaultReason."""
    part: int = -1
    status: int = 0
    values: tuple[float, ...] = ()


@dataclass
class Outcome:
    active: dict[int, int]
    """Part → identity of its active action; parts that the loop holds itself are missing."""
    calls: list[tuple[int, str]]
    """(identity of the action, method), in the order of the calls."""
    events: list[Event]
    memories: dict[int, bool]
    """Reaction that is being judged → last known value of its condition."""
    states: dict[int, str]
    """Part → enabled, disabled or faulted."""


# --- conditions (C) ------------------------------------------------------------------------------

Truth = bool | None
"""None: unknown."""

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def evaluate(condition: Any, read: Callable[[Any], float]) -> Truth:
    """The value of a condition by the rules C1 and C2.

    Args:
        condition: a bool or None (a constant); ("true", x); ("unknown", x); (comparison, x, y);
            ("approx", x, y, tolerance); ("not", c); ("and", c, d); ("or", c, d). An x or y is a number, or
            a variable: what `read` takes.
        read: the value of a variable; not-a-number where it is unknown.
    """

    def value(operand: Any) -> float:
        return operand if isinstance(operand, float) else read(operand)

    if condition is None or isinstance(condition, bool):
        return condition
    operator, *operands = condition
    if operator == "not":
        inner = evaluate(operands[0], read)
        return None if inner is None else not inner
    if operator in ("and", "or"):
        left, right = (evaluate(o, read) for o in operands)
        decisive = operator == "or"
        if left is decisive or right is decisive:
            return decisive
        return None if left is None or right is None else not decisive
    if operator == "unknown":
        return isnan(value(operands[0]))
    values = [value(o) for o in operands[:2]]
    if any(isnan(v) for v in values):
        return None
    if operator == "true":
        return values[0] != 0.0
    if operator == "approx":
        return abs(values[0] - values[1]) <= operands[2]
    return _COMPARISONS[operator](*values)


# --- the model -----------------------------------------------------------------------------------


@dataclass
class Activation:
    """One activation of an action: its state, and what its reactions remember. New on each entry (A3, A8)."""

    action: ActionDefinition
    judged_from: int
    entered: bool = False
    new_parameters: bool = False
    controlled: bool = False
    behaviour: Behaviour = Behaviour()
    """The parameters that it works with: those of its entry, or of its last set_parameters."""
    signals: list[float] = field(default_factory=lambda: [0.0, 0.0])
    variables: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("senses", "settings", "controls", "seen", "elapsed", "value", "is_done"), 0.0)
    )
    memory: dict[int, bool] = field(default_factory=dict)
    fired: dict[int, int] = field(default_factory=dict)


class ReferenceModel:
    """A workcell of parts that are all enabled or disabled at first, all on one device, without definitions."""

    def __init__(self, n_parts: int, *, enabled: Iterable[int], period: float, max_age: int) -> None:
        self.period, self.max_age = period, max_age
        self.tick_number = 0
        self.speed = 1.0
        self.age = 0
        self.states = {p: ENABLED if p in set(enabled) else DISABLED for p in range(n_parts)}
        self.definitions = Definitions((SYSTEM,), (), (), {}, {})
        self.active: dict[int, Activation] = {}
        """Identity of the action → its activation."""
        self.ended_sessions: set[int] = set()
        self.free_memory: dict[int, bool] = {}
        self.free_fired: dict[int, int] = {}
        self.inputs = Inputs({}, {})
        self.calls: list[tuple[int, str]] = []
        self.events: list[Event] = []
        self.claimed: set[int] = set()
        self.running_code = False
        """Behind the commands: an action that is started now is entered now (R7, A6)."""

    # --- the tick (T) ---------------------------------------------------------------------------

    def tick(self, inputs: Inputs, commands: Iterable[Any] = (), install: Definitions | None = None) -> Outcome:
        """One tick, in the order of T1. `install`: new definitions that wait at its boundary (S2)."""
        self.tick_number += 1
        self.calls, self.events, self.claimed, self.running_code = [], [], set(), False
        for activation in self.active.values():
            activation.controlled = False
        if install is not None:
            self._install(install)
        self._read(inputs)
        for command in commands:
            self._command(command)
        self.running_code = True
        self._sense()
        self._react()
        self._control()
        memories = dict(self.free_memory)
        for activation in self.active.values():
            memories |= activation.memory
        return Outcome(self._active_on_parts(), self.calls, self.events, memories, dict(self.states))

    def _active_on_parts(self) -> dict[int, int]:
        return {p: a.action.identity for a in self.active.values() for p in a.action.parts}

    def _in_order(self) -> list[Activation]:
        return sorted(self.active.values(), key=lambda a: self.definitions.rank(a.action))

    def _read(self, inputs: Inputs) -> None:
        self.age = 0 if inputs.fresh else self.age + 1
        self.inputs = inputs
        if self.age > self.max_age:  # T4
            self.inputs = Inputs(dict.fromkeys(inputs.distance, nan), dict.fromkeys(inputs.switch, nan))
            for part, state in self.states.items():
                if state != FAULTED:
                    self._fault(part, "STALE_HARDWARE")

    # --- definitions (S) ------------------------------------------------------------------------

    def _install(self, new: Definitions) -> None:
        kept = {a.identity: a for a in new.actions}
        for activation in self._in_order():
            identity = activation.action.identity
            if identity not in kept:  # S7
                self._end(activation, "REMOVED")
            else:  # S2, A9
                if activation.entered and kept[identity].behaviour != activation.action.behaviour:
                    activation.new_parameters = True
                activation.action = kept[identity]
        self.definitions = new
        present = {r.identity for r in new.reactions}
        for memories in [self.free_memory, self.free_fired, *[a.memory for a in self.active.values()]]:
            for gone in set(memories) - present:
                del memories[gone]
        self._take_default(range(len(self.states)))
        self.events.append(Event("TABLES_INSTALLED"))

    # --- commands -------------------------------------------------------------------------------

    def _command(self, command: Any) -> None:
        refusal = self._refusal(command)
        if refusal:
            self.events.append(Event("COMMAND_REFUSED", reason=refusal))
            return
        match command:
            case Start(_, identities):
                self._start(identities, judged_from=self.tick_number)  # R8
            case Stop(_, identities):
                stopped = [self.active[i] for i in identities if i in self.active]
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
                    if self.states[p] == DISABLED:
                        self.states[p] = ENABLED
                        self.events.append(Event("PART_ENABLED", part=p))
                self._take_default(self._parts(part))
            case Disable(part):
                for p in self._parts(part):
                    if self.states[p] == ENABLED:
                        self.states[p] = DISABLED
                        self.events.append(Event("PART_DISABLED", part=p))
                        self._vacate(p, "COMMAND")
            case ClearFaults(part):
                for p in self._parts(part):
                    if self.states[p] == FAULTED:
                        self.states[p] = DISABLED  # L5: enabling is separate
            case ServerLost():
                for session in self.definitions.sessions:
                    if session != SYSTEM:
                        self._end_session(session, "SERVER_LOST")
                self.events.append(Event("SERVER_LOST"))
        self.events.append(Event("COMMAND_DONE"))

    def _parts(self, part: int) -> list[int]:
        return list(self.states) if part == -1 else [part]

    def _refusal(self, command: Any) -> str:
        match command:
            case Start(session, identities):
                return self._start_refusal(session, identities)
            case Stop(session, identities):
                return self._named_refusal(session, identities)
            case RaiseSignal(session, action, signal):
                return self._named_refusal(session, (action,)) or ("" if signal in (0, 1) else "MALFORMED")
            case SetSpeed(speed):
                return "" if 0.0 <= speed <= 1.0 else "MALFORMED"
            case Enable(part) | Disable(part) | ClearFaults(part):
                if part != -1 and part not in self.states:
                    return "UNKNOWN_PART"
                faulted = any(self.states[p] == FAULTED for p in self._parts(part))
                if isinstance(command, Enable) and part != -1 and faulted:
                    return "STILL_FAULTED"
                if isinstance(command, ClearFaults) and faulted and self.age > self.max_age:
                    return "STILL_FAULTED"
        return ""

    def _named_refusal(self, session: int, identities: tuple[int, ...]) -> str:
        named = [self.definitions.action(i) for i in identities]
        if any(a is None for a in named):
            return "UNKNOWN_ACTION"
        return "OTHER_SESSION" if any(a.session != session for a in named if a) else ""

    def _start_refusal(self, session: int, identities: tuple[int, ...]) -> str:  # A1
        refusal = self._named_refusal(session, identities)
        if refusal:
            return refusal
        if session in self.ended_sessions:
            return "OTHER_SESSION"
        parts = [p for i in identities for p in self._definition(i).parts]
        if len(set(parts)) != len(parts):
            return "PARTS_OVERLAP"
        return "PART_NOT_ENABLED" if any(self.states[p] != ENABLED for p in parts) else ""

    def _definition(self, identity: int) -> ActionDefinition:
        action = self.definitions.action(identity)
        assert action is not None
        return action

    # --- starting and ending (A) ----------------------------------------------------------------

    def _of_session(self, session: int) -> list[Activation]:
        return [a for a in self._in_order() if a.action.session == session]

    def _displaced_by(self, action: ActionDefinition) -> list[Activation]:
        return [a for a in self._in_order() if a.action != action and set(a.action.parts) & set(action.parts)]

    def _start(self, identities: Iterable[int], judged_from: int, also_end: Iterable[Activation] = ()) -> None:
        """A2, A3: end what is in the way, enter, give parts set free to their default action."""
        actions = [self._definition(i) for i in identities]
        freed: list[int] = []
        for action in actions:
            for displaced in self._displaced_by(action):
                self._end(displaced, "DISPLACED")
                freed += displaced.action.parts
        for owner in also_end:
            if owner.action.identity in self.active and owner.action not in actions:
                self._end(owner, "REACTION")
                freed += owner.action.parts
        for action in actions:
            self._activate(action, judged_from)
        self._take_default(freed)

    def _activate(self, action: ActionDefinition, judged_from: int) -> None:
        activation = Activation(action, judged_from, behaviour=action.behaviour)  # A8
        self.active[action.identity] = activation
        self.events.append(Event("ACTION_STARTED", current=action.identity))
        if self.running_code:
            self._call_sense(activation)

    def _end(self, activation: Activation, cause: str) -> None:
        del self.active[activation.action.identity]
        self.events.append(Event("ACTION_STOPPED", previous=activation.action.identity, reason=cause))

    def _stop(self, activations: list[Activation], cause: str = "COMMAND") -> None:  # A5, R13
        for activation in activations:
            self._end(activation, cause)
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
        self.events.append(Event("ACTION_FAILED", previous=action.identity, status=status))
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
        for activation in self._in_order():
            if self.active.get(activation.action.identity) is activation:
                self._call_sense(activation)

    def _call_sense(self, activation: Activation) -> None:
        behaviour, variables = activation.behaviour, activation.variables
        if not activation.entered:
            activation.entered = True
            self._called(activation, "on_enter")
            if behaviour.enter_status:
                self._fail(activation, behaviour.enter_status)
                return
        self._called(activation, "sense")
        variables["senses"] += 1
        variables["elapsed"] += self.speed * self.period  # T3
        variables["value"] = self.inputs.distance[activation.action.parts[0]] * behaviour.gain
        variables["is_done"] = float(0 < behaviour.done_at <= variables["senses"])
        if variables["senses"] == behaviour.fail_sense_at:
            self._fail(activation, behaviour.status)

    def _control(self) -> None:
        for activation in self._in_order():
            self._call_control(activation)
        # safety actions of this step's failures (A6: in the same tick); each of them may fail too
        while waiting := [a for a in self._in_order() if not a.controlled]:
            self._call_control(waiting[0])
        for part, state in self.states.items():  # L1
            if state == ENABLED and self._wrote_bad_command(part):
                self._fault(part, "NON_FINITE_COMMAND")

    def _wrote_bad_command(self, part: int) -> bool:
        return any(
            part in a.action.parts and a.variables["controls"] == a.behaviour.bad_command_at > 0
            for a in self.active.values()
        )

    def _call_control(self, activation: Activation) -> None:
        if self.active.get(activation.action.identity) is not activation:
            return
        activation.controlled = True
        variables = activation.variables
        if activation.new_parameters:  # A9
            activation.new_parameters = False
            activation.behaviour = activation.action.behaviour
            self._called(activation, "set_parameters")
            variables["settings"] += 1
            if variables["settings"] == activation.behaviour.fail_settings_at:
                self._fail(activation, activation.behaviour.status)
                return
        self._called(activation, "control")
        variables["controls"] += 1
        variables["seen"] += activation.signals[0] + 100.0 * activation.signals[1]
        activation.signals = [0.0, 0.0]  # G1
        if variables["controls"] == activation.behaviour.fail_control_at:
            self._fail(activation, activation.behaviour.status)

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
                return self.inputs.distance[part]
            case ("part", part, "switch"):
                return self.inputs.switch[part]
            case ("part", _, "age"):
                return float(self.age)
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
                captured = tuple(self.read_variable(v) for v in reaction.captures)
                firings.append((reaction, activation, captured))
        for reaction, activation, captured in firings:
            self._respond(reaction, activation, captured)

    def _respond(self, reaction: ReactionDefinition, owner: Activation | None, captured: tuple[float, ...]) -> None:
        previous = 0 if owner is None else owner.action.identity
        switches = reaction.start is not None or reaction.stop
        reason = self._switch_refusal(reaction, owner) if switches else ""
        current = reaction.start if reaction.start is not None and not reason else previous
        self.events.append(  # R12
            Event("REACTION_FIRED", reaction.identity, previous, current, values=captured)
        )
        if reason:
            self.events.append(Event("SWITCH_DROPPED", reaction.identity, reason=reason))
        elif switches:
            self.claimed |= self._touched(reaction, owner)
            if reaction.start is None:
                self._stop(self._stopped(reaction, owner), "REACTION")  # R13
            else:
                leaving = [] if owner is None or reaction.keep_owner else [owner]
                self._start([reaction.start], self.tick_number + 1, leaving)  # R7, R8
        if reaction.signal is not None:  # also where the switch was dropped (R6)
            self._raise(*reaction.signal)

    def _stopped(self, reaction: ReactionDefinition, owner: Activation | None) -> list[Activation]:
        return self._of_session(reaction.session) if owner is None else [owner]

    def _touched(self, reaction: ReactionDefinition, owner: Activation | None) -> set[int]:
        """The parts that a switch claims (R6)."""
        if reaction.start is None:
            return {p for a in self._stopped(reaction, owner) for p in a.action.parts}
        target = self._definition(reaction.start)
        parts = set(target.parts)
        for displaced in self._displaced_by(target):
            parts |= set(displaced.action.parts)
        if owner is not None and not reaction.keep_owner:
            parts |= set(owner.action.parts)
        return parts

    def _switch_refusal(self, reaction: ReactionDefinition, owner: Activation | None) -> str:
        if reaction.session in self.ended_sessions:
            return "OTHER_SESSION"
        if self._touched(reaction, owner) & self.claimed:
            return "PARTS_OVERLAP"
        if reaction.start is not None:
            parts = self._definition(reaction.start).parts
            return "PART_NOT_ENABLED" if any(self.states[p] != ENABLED for p in parts) else ""
        return ""
