"""What users define: parameter values, reactions, actions, programs. Client, server and program files share it.

Each class checks at once what does not depend on the workcell: names, conditions' grammar, responses
that contradict each other. robot_rt_control/validation checks everything else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.definitions.parameter_value import ParameterValue, Scalar, Value
from robot_rt_control.definitions.reaction import ReactionDefinition
from robot_rt_control.definitions.strategy import AxisDefinition, StrategyDefinition
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError
from robot_rt_control.vocabulary.names import check_name, check_type_name, each_once, names_of

__all__ = [
    "ActionDefinition",
    "AxisDefinition",
    "ParameterValue",
    "ProgramDefinition",
    "ReactionDefinition",
    "Scalar",
    "StrategyDefinition",
    "Value",
]


@dataclass(frozen=True, kw_only=True)
class ActionDefinition:
    """An action: a type with parts, parameters and reactions.

    Args:
        id: its name in the session; an id is never reused in that session.
        type: name of the action type.
        parts: a part, several in the order of the type's slots, or slot → part. Elements "slot=part" of a list,
            as messages have them, become slot → part.
        parameters: values, each name once; an omitted parameter takes its default.
        reactions: in the order in which they are evaluated.
        time_limit: [s] of the action's time after which it ends as by `stop`, unless a reaction ends it in that tick;
            None: none.
        final: the program may end here, so no reaction needs to leave this action.
        manual: a user starts it by hand, so no reaction needs to start it.
        strategies: for each degree of freedom that strategies govern; the others do what the type does.
        commands: of a motion group, in the order in which each part carries its own out.
        within: the used programs that contain it, outermost first, each by the id of its state (program/flatten.py).

    Raises:
        CapacityError: more than MAX_PARTS parts, or MAX_COMMANDS_OF_GROUP commands.
        DefinitionError: a name is not valid, or occurs twice.
    """

    id: str
    type: str
    parts: tuple[str, ...] | Mapping[str, str]
    parameters: tuple[ParameterValue, ...] = ()
    reactions: tuple[ReactionDefinition, ...] = ()
    time_limit: float | None = None
    final: bool = False
    manual: bool = False
    strategies: tuple[AxisDefinition, ...] = ()
    commands: tuple[MotionCommand, ...] = ()
    within: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name("id of an action", self.id)
        self._check_time_limit()
        check_type_name(f"action {self.id!r}: type", self.type)
        object.__setattr__(self, "commands", tuple(self.commands))
        object.__setattr__(self, "parts", self._checked_parts())
        object.__setattr__(self, "parameters", tuple(self.parameters))
        object.__setattr__(self, "reactions", tuple(self.reactions))
        each_once(f"action {self.id!r}: parameter", [p.name for p in self.parameters])
        each_once(f"action {self.id!r}: reaction", [r.name for r in self.reactions if r.name])
        object.__setattr__(self, "strategies", tuple(self.strategies))
        each_once(f"action {self.id!r}: list of strategies of", [axis.axis for axis in self.strategies])
        for reaction in self.reactions:
            if reaction.keep_owner and self.id in reaction.start:
                raise DefinitionError(
                    f"{reaction.label} of action {self.id!r} keeps its owner",
                    expected="an action with other parts to start",
                    got="the owner itself",
                )

    def _check_time_limit(self) -> None:
        given: Any = self.time_limit
        is_number = isinstance(given, float | int) and not isinstance(given, bool)
        if given is not None and not (is_number and 0.0 < given < math.inf):
            raise DefinitionError(
                f"action {self.id!r}: time_limit", expected="a number of seconds above 0", got=repr(given)
            )

    def _checked_parts(self) -> tuple[str, ...] | dict[str, str]:
        of = f"action {self.id!r}"
        given: Any = self.parts
        if self.commands and not given:
            given = tuple(dict.fromkeys(command.part for command in self.commands))
        if not isinstance(given, Mapping):
            given = names_of(f"{of}: parts", given)
            with_slot = [isinstance(part, str) and "=" in part for part in given]
            if any(with_slot):
                if not all(with_slot):
                    raise DefinitionError(
                        f"{of}: parts", expected="'slot=part' for all parts or for none", got=repr(list(given))
                    )
                pairs = [part.split("=", 1) for part in given]
                each_once(f"{of}: slot", [slot for slot, _ in pairs])
                given = dict(pairs)
        parts = given.values() if isinstance(given, Mapping) else given
        for part in parts:
            check_name(f"{of}: name of a part", part)
        if isinstance(given, Mapping):
            for slot in given:
                check_name(f"{of}: name of a slot", slot)
        each_once(f"{of}: part", list(parts))
        if not parts:
            raise DefinitionError(f"{of} has no parts", expected="at least one part", got="none")
        for what, number, capacity in (
            ("parts", len(parts), "MAX_PARTS"),
            ("motion commands", len(self.commands), "MAX_COMMANDS_OF_GROUP"),
        ):
            limit = getattr(capacities, capacity)
            if number > limit:
                raise CapacityError(
                    f"{of} has too many {what}", expected=f"at most {limit} ({capacity})", got=str(number)
                )
        return dict(given) if isinstance(given, Mapping) else given


@dataclass(frozen=True, kw_only=True)
class ProgramDefinition:
    """Actions and reactions as one state machine.

    Args:
        actions: in definition order.
        reactions: free-standing reactions, evaluated while the program's session exists.
        start: ids of the actions to start first, at most MAX_ACTIONS_PER_COMMAND.
        parts: parts that the program moves; empty: those of its actions.
        name: for display; may be empty.

    Raises:
        CapacityError: more actions or reactions than fit.
        DefinitionError: a name is not valid, or an id occurs twice.
    """

    actions: tuple[ActionDefinition, ...]
    reactions: tuple[ReactionDefinition, ...] = ()
    start: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        if self.name != "":
            check_name("name of a program", self.name)
        for item in ("actions", "reactions"):
            object.__setattr__(self, item, tuple(getattr(self, item)))
        for item, kind in (("start", "id of a starting action"), ("parts", "name of a part")):
            names = names_of(f"program: {item}", getattr(self, item))
            object.__setattr__(self, item, names)
            for name in names:
                check_name(f"program: {kind}", name)
            each_once(f"program: {kind}", list(names))
        each_once("action", [action.id for action in self.actions])
        each_once("free-standing reaction", [r.name for r in self.reactions if r.name])
        for reaction in self.reactions:
            reaction.check_free_standing()
        n_reactions = len(self.reactions) + sum(len(action.reactions) for action in self.actions)
        for what, number, capacity in (
            ("actions", len(self.actions), "MAX_ACTIONS"),
            ("reactions", n_reactions, "MAX_REACTIONS"),
            ("starting actions", len(self.start), "MAX_ACTIONS_PER_COMMAND"),
        ):
            limit = getattr(capacities, capacity)
            if number > limit:
                raise CapacityError(f"too many {what}", expected=f"at most {limit} ({capacity})", got=str(number))
