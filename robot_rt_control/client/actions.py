"""Actions and reactions as an application writes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType, MappingProxyType
from typing import Any

import numpy as np

from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition, Variable
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    AxisDefinition,
    ParameterValue,
    ReactionDefinition,
    StrategyDefinition,
)
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.vocabulary.errors import DefinitionError

_CLIENTS = os.path.join(os.path.dirname(__file__), "")


class Reaction:
    """A condition and what happens, within the same tick, when it becomes true.

    Args:
        when: the condition, as text or expression; bare names are the owner action's state variables.
        start: id of the action to start, or several that share no part: all start in that tick, or none.
        stop: stop the owner (free-standing: everything of the session).
        signal: "action_id.signal_name" to raise.
        event: name of the event to emit.
        call: callback that gets the event, outside real time, in a thread of its own. It may take any time, and may
            call the session's methods.
        reply_to: id of the action whose parameters change to what `call` returns, a mapping such as {"velocity": 0.1};
            or "session": variables of the session. None changes nothing.
        fire_once: at most once in each activation of the owner.
        keep_owner: the owner continues; the started action must use other parts.
        capture: names of state variables that the event carries.
        name: of the reaction itself; found when left out.
        queue: how many events may wait for the callback.
        place: file and line that pages show for it, "pick.py:31"; None: those of the caller.
    """

    def __init__(
        self,
        when: str | Condition,
        *,
        start: str | Action | Iterable[str | Action] = (),
        stop: bool = False,
        signal: str = "",
        event: str = "",
        call: Callable[[Event], object] | None = None,
        reply_to: str | Action = "",
        fire_once: bool = False,
        keep_owner: bool = False,
        capture: Iterable[str | Condition] = (),
        name: str = "",
        queue: int = 100,
        place: str | None = None,
    ) -> None:
        self.when = str(when)
        self.place = _place() if place is None else place
        given = [start] if isinstance(start, str | Action) or not isinstance(start, Iterable) else start
        self.start = tuple(_id_of(f"reaction {self.when!r}: start", action) for action in given if action != "")
        self.stop, self.signal, self.event, self.call = stop, signal, event, call
        self.reply_to = _id_of(f"reaction {self.when!r}: reply_to", reply_to)
        if self.reply_to and call is None:
            raise DefinitionError(
                f"reaction {self.when!r}: reply_to={self.reply_to!r}", expected="a callback to reply", got="no `call`"
            )
        self.fire_once, self.keep_owner = fire_once, keep_owner
        self.capture = [str(c) for c in capture]
        self.name, self.queue = name, queue

    @classmethod
    def of(cls, definition: ReactionDefinition) -> Reaction:
        """A reaction that is defined already."""
        return cls(
            definition.condition,
            start=definition.start,
            stop=definition.stop,
            signal=definition.signal,
            event=definition.event,
            fire_once=definition.fire_once,
            keep_owner=definition.keep_owner,
            capture=definition.capture,
            name=definition.name,
            place=definition.place,
        )

    def definition(self) -> ReactionDefinition:
        """The definition that the control server receives.

        Raises:
            DefinitionError: it is not valid.
        """
        return ReactionDefinition(
            name=self.name,
            condition=self.when,
            start=self.start,
            stop=self.stop,
            signal=self.signal,
            event=self.event,
            fire_once=self.fire_once,
            keep_owner=self.keep_owner,
            capture=tuple(self.capture),
            place=self.place,
        )


def _place() -> str:
    """File and line of the code that is not of this package of clients."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_CLIENTS):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _id_of(what: str, action: object) -> str:
    if isinstance(action, str):
        return action
    if isinstance(action, Action):
        return action.id
    raise DefinitionError(what, expected="an action: its id, or the Action itself", got=repr(action))


def ids_of(actions: Iterable[str | Action]) -> list[str]:
    """The ids of actions.

    Raises:
        DefinitionError: one is neither an id nor an Action.
    """
    return [_id_of("an action", action) for action in actions]


def parameter_values(parameters: Mapping[str, Any]) -> tuple[ParameterValue, ...]:
    """Parameters by name: number, bool, text, list of numbers, or (value, "unit").

    Numbers and bools become a list of float64, as messages carry them: a declared scalar takes a list of one.

    Raises:
        DefinitionError: a value is none of these.
    """
    values = []
    for name, given in parameters.items():
        has_unit = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str)
        value, unit = given if has_unit else (given, "")
        if not isinstance(value, str):
            try:
                value = tuple(np.atleast_1d(np.asarray(value, float)).ravel().tolist())
            except (TypeError, ValueError):
                raise DefinitionError(
                    f"parameter {name!r}", expected="a number, bool, text or list of numbers", got=repr(value)
                ) from None
        values.append(ParameterValue(name=name, value=value, unit=unit))
    return tuple(values)


def role_texts(parts: Mapping[str, str] | Iterable[str]) -> list[str]:
    """A program's roles and parts as the interface writes them: "role=part"."""
    if isinstance(parts, Mapping):
        return [f"{role}={part}" for role, part in parts.items()]
    return [parts] if isinstance(parts, str) else list(parts)


def reply_of(result: object, reply_to: str) -> Mapping[str, Any]:
    """The parameters that a callback has returned; empty: none.

    Raises:
        DefinitionError: it returned something else.
    """
    if result is None:
        return {}
    if not isinstance(result, Mapping):
        raise DefinitionError(
            f"the callback's result for action {reply_to!r}",
            expected="a mapping of parameters, such as {'velocity': 0.1}, or None",
            got=repr(result),
        )
    return result


def _type_of(given: str | type[ActionType]) -> tuple[str, tuple[type[ActionType], ...]]:
    """The name of an action type, and the class if one is given."""
    return (given, ()) if isinstance(given, str) else (given.name, (given,))


class Strategy:
    """A law for one degree of freedom of an action, and when it governs.

    Args:
        name: unique in its list.
        law: name of an action type that commands one degree of freedom, or a class of your own, see Action.
        when: the condition, as text or expression, evaluated in every tick; only the last one of a list has none.
        parts: parts that the law reads, such as a sensor.
        inputs: input of the law → the state variable that it reads, by name or from `variable`.
        capture: names of state variables that its event `strategy_changed` carries.
        parameters: of the law, as those of an Action.
    """

    def __init__(
        self,
        name: str,
        law: str | type[ActionType],
        *,
        when: str | Condition = "",
        parts: str | Iterable[str] = (),
        inputs: Mapping[str, str | Variable] = MappingProxyType({}),
        capture: Iterable[str | Condition] = (),
        **parameters: Any,
    ) -> None:
        self.name, self.when = name, str(when)
        self.law, self.classes = _type_of(law)
        self.inputs = tuple((name, str(variable)) for name, variable in inputs.items())
        self.parts = (parts,) if isinstance(parts, str) else tuple(parts)
        self.capture = tuple(str(c) for c in capture)
        self.parameters = parameters

    def definition(self) -> StrategyDefinition:
        """The definition that the control server receives.

        Raises:
            DefinitionError: it is not valid.
        """
        return StrategyDefinition(
            name=self.name,
            law=self.law,
            when=self.when,
            parts=self.parts,
            parameters=parameter_values(self.parameters),
            inputs=self.inputs,
            capture=self.capture,
        )


class Action:
    """An action: a type with parameters, on some parts, with its reactions.

    Args:
        id: its name, unique in the session; it cannot be used again after a removal.
        type: name of the action type, or a class of your own: the server then loads its file from this machine, unless
            it has that code already.
        parts: the part, or slot → part; default: the session's only part.
        reactions: evaluated while this action is active.
        strategies: degree of freedom ("elbow", "joint[3]", "left.elbow") → its strategies in order of priority.
        time_limit: [s] of the action's time after which it ends as by `stop`, unless a reaction ends it in that tick,
            such as one on `timed_out`. None: none.
        parameters: by name: number, bool, text, list of numbers, or (value, "unit").
    """

    def __init__(
        self,
        id: str,
        type: str | type[ActionType],
        *,
        parts: str | Mapping[str, str] | None = None,
        reactions: Iterable[Reaction] = (),
        strategies: Mapping[str, Iterable[Strategy]] = MappingProxyType({}),
        time_limit: float | None = None,
        **parameters: Any,
    ) -> None:
        self.id, self.parts = id, parts
        self.type, classes = _type_of(type)
        self.reactions = list(reactions)
        self.strategies = {axis: list(given) for axis, given in strategies.items()}
        self.classes = (*classes, *(c for given in self.strategies.values() for s in given for c in s.classes))
        """Classes of one's own, of the action and its laws."""
        self.time_limit = time_limit
        self.parameters = parameters
        self.commands: list[MotionCommand] = []

    @classmethod
    def of(cls, definition: ActionDefinition) -> Action:
        """An action that is defined already, such as one of a plan: without strategies and motion commands."""
        parts = definition.parts
        values: dict[str, Any] = {p.name: (p.value, p.unit) if p.unit else p.value for p in definition.parameters}
        return cls(
            definition.id,
            definition.type,
            parts=dict(parts) if isinstance(parts, Mapping) else parts[0],
            reactions=[Reaction.of(reaction) for reaction in definition.reactions],
            time_limit=definition.time_limit,
            **values,
        )

    def parts_of(self, session_parts: tuple[str, ...]) -> list[str]:
        """The parts as the interface writes them: "arm", or "slot=part"."""
        if self.parts is None:
            if len(session_parts) != 1:
                raise DefinitionError(
                    f"action {self.id!r}: which part",
                    expected=f"parts=…, as the session holds {len(session_parts)} parts",
                    got="none",
                )
            return list(session_parts)
        if isinstance(self.parts, str):
            return [self.parts]
        return [f"{slot}={part}" for slot, part in self.parts.items()]

    def definition(self, session_parts: tuple[str, ...]) -> ActionDefinition:
        """The definition that the control server receives.

        Args:
            session_parts: the parts of its session.

        Raises:
            DefinitionError: it is not valid.
        """
        return ActionDefinition(
            id=self.id,
            type=self.type,
            parts=tuple(self.parts_of(session_parts)),
            parameters=parameter_values(self.parameters),
            reactions=tuple(reaction.definition() for reaction in self.reactions),
            strategies=tuple(
                AxisDefinition(axis=axis, strategies=tuple(strategy.definition() for strategy in given))
                for axis, given in self.strategies.items()
            ),
            time_limit=self.time_limit,
            commands=tuple(self.commands),
        )


class MotionGroup(Action):
    """Motion commands of one or several parts: they begin in one tick, all or none, and stop together on their paths.

    `Session.add` initializes it: outside the loop, without time limits, and all or nothing. The mistakes of all
    commands are reported together, and nothing moves. Then it can be started as often as one likes, also by reactions.

    Args:
        id: its name, unique in the session.
        commands: each part carries its own out one after the other; `add` adds more.
        finish: "own": each part arrives as soon as it can; "together": all arrive in one tick.
        profile: "realtime": the loop plans, from any state of motion; "async": a process outside the loop plans, from
        rest,
            which can also follow paths through via points and trajectories of any length.
        on_failure: what the others do if a part fails: "stop" on their paths, or "continue".
        tolerance: largest |measured - goal| position of a joint that counts as settled [rad or m].
        reactions, time_limit: as of an Action.
    """

    def __init__(
        self,
        id: str,
        *commands: MotionCommand,
        finish: str = "own",
        profile: str = "realtime",
        on_failure: str = "stop",
        tolerance: float = 0.005,
        reactions: Iterable[Reaction] = (),
        time_limit: float | None = None,
    ) -> None:
        super().__init__(
            id,
            "motion_group",
            reactions=reactions,
            time_limit=time_limit,
            finish=finish,
            profile=profile,
            on_failure=on_failure,
            tolerance=tolerance,
        )
        self.add(*commands)

    def add(self, *commands: MotionCommand) -> MotionGroup:
        """Append motion commands; before it is given to a session. Returns the group."""
        self.commands += commands
        return self

    def parts_of(self, session_parts: tuple[str, ...]) -> list[str]:
        """The parts that its commands name."""
        return list(dict.fromkeys(command.part for command in self.commands))
