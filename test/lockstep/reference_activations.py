"""Activations by the rules A, G and L: how actions begin, run and end, and what becomes of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import nan
from os.path import commonprefix
from typing import Any

from reference_definitions import SYSTEM, ActionDefinition, At, Behaviour, Definitions, Event

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


class ActivationRules:
    """The part of the reference model that knows actions, parts and what the hardware shows.

    Args:
        devices: the device of each part.
        enabled: the parts that are enabled at first.
        period: [s] of the tick.
        max_age: [ticks] of all devices.
    """

    def __init__(self, devices: Sequence[int], *, enabled: Iterable[int], period: float, max_age: int) -> None:
        self.period, self.max_age = period, max_age
        self.tick_number = 0
        self.speed = 1.0
        self.stops: dict[tuple[str, str], int] = {}
        """(source, secret) of each latched protective stop → the last tick in which it was asked for."""
        self.held: set[int] = set()
        """Parts that nobody has asked to move since a protective stop."""
        self.suspended: set[int] = set()
        """Sessions of which nothing starts."""
        self.known_sessions: set[int] = {SYSTEM}
        self.misses: list[int] = []
        self.unreported, self.last_report = 0, 0
        self.device_of = dict(enumerate(devices))
        self.age = dict.fromkeys(devices, 0)
        self.device_failed = dict.fromkeys(devices, False)
        self.states = {p: ENABLED if p in set(enabled) else DISABLED for p in self.device_of}
        self.had_state = dict.fromkeys(devices, False)
        self.enabling: set[int] = set()
        """Parts whose enabling waits until they are at rest."""
        self.moving: frozenset[int] = frozenset()
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

    @property
    def protective_stop(self) -> bool:
        """Whether one is latched."""
        return bool(self.stops)

    def _active_on_parts(self) -> dict[int, int]:
        return {p: a.action.identity for a in self.active.values() for p in a.action.parts}

    def _in_order(self) -> list[Activation]:
        return sorted(self.active.values(), key=lambda a: self.definitions.rank(a.action))

    def _stale(self, part: int) -> bool:
        return self.age[self.device_of[part]] > self.max_age

    def _position_is_known(self, part: int) -> bool:
        return self.had_state[self.device_of[part]] and not self._stale(part)

    def _measured(self, part: int) -> tuple[float, float, bool]:
        """Distance, switch and whether it is too fast; unknown before the first state, and when too old (T4)."""
        return (nan, nan, False) if self._stale(part) else self.measured[part]

    def read_variable(self, variable: tuple) -> float:
        """("time",), ("speed",), ("part", p, name), ("action", identity, name); not-a-number: unknown."""
        match variable:
            case ("time",):
                return self.tick_number * self.period
            case ("speed",):
                return self.speed
            case ("protective_stop",):
                return float(self.protective_stop)
            case ("part", part, "distance"):
                return self._measured(part)[0]
            case ("part", part, "switch"):
                return self._measured(part)[1]
            case ("part", part, "age"):
                return float(self.age[self.device_of[part]])
            case ("action", identity, name):
                return self.active[identity].variables[name] if identity in self.active else nan  # C3
        raise KeyError(variable)

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
            for displaced in self._in_the_way(action):
                ending += [a for a in (displaced, *self._left_with(displaced, actions)) if a not in ending]
        for activation in ending:
            self._end(activation, cause)
        for action in actions:
            self._activate(action, judged_from)
        return [p for a in ending for p in a.action.parts]

    def _left_with(
        self, activation: Activation, starting: Sequence[ActionDefinition], limit: int | None = None
    ) -> list[Activation]:
        """U1: the others of the outermost used program that contains the action, but nothing that starts."""
        within = activation.action.within
        if not starting:
            return []
        left = max(len(commonprefix([within, action.within])) for action in starting)
        left = left if limit is None else min(left, limit)
        if left == len(within):
            return []
        return [a for a in self._in_order() if within[left] in a.action.within and a is not activation]

    def _activate(self, action: ActionDefinition, judged_from: int) -> None:
        """Its on_enter runs when its turn in `_sense` comes."""
        self.active[action.identity] = Activation(action, judged_from, behaviour=action.behaviour)  # A8
        self.held -= set(action.parts)
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
            if part in self.held:  # L12, L32
                continue
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
        self.enabling.discard(part)
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
        is_safety = self.definitions.safety.get(activation.action.parts[0]) == activation.action.identity
        variables["elapsed"] += (1.0 if is_safety else self.speed) * self.period  # T3
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
