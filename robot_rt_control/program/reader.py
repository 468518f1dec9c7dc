"""Makes a program from the content of its file, with values for its parameters and parts for its roles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    AxisDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
    StrategyDefinition,
)
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.program import schema
from robot_rt_control.program.declarations import Role, check_declaration
from robot_rt_control.program.filled_program import Use
from robot_rt_control.program.flatten import Flattening
from robot_rt_control.program.motion_commands import read_command
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.program.used_program import FlatPlaces, ProgramUser, UsedProgram
from robot_rt_control.text.document import Document
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.text.schema import Model
from robot_rt_control.validation.actions import COMMANDS
from robot_rt_control.validation.strategies import strategy_key
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all

_Written = TypeVar("_Written", bound=Model)
_Made = TypeVar("_Made")


class Declaring(Protocol):
    """The content of a file with roles and parameters."""

    @property
    def roles(self) -> Mapping[str, schema.RoleDeclaration | None]: ...
    @property
    def parameters(self) -> Mapping[str, schema.ParameterDeclaration | None]: ...


def declared_roles(content: Declaring, places: Document, mistakes: Mistakes) -> tuple[Role, ...]:
    """The roles that are valid."""
    found = []
    for name, given in content.roles.items():
        with mistakes.collect(places, "roles", name):
            found.append(Role(name=name, **dict(given or schema.RoleDeclaration())))
    return tuple(found)


def declared_parameters(
    declared: Mapping[str, schema.ParameterDeclaration | None],
    places: Document,
    mistakes: Mistakes,
    roles: Collection[str] = (),
    key: str = "parameters",
) -> tuple[Parameter, ...]:
    """The parameters that are valid, of a program or another file that has some.

    Args:
        declared: what stands below `parameters`.
        roles: names that they may not have.
        key: where they are.
    """
    found = []
    for name, given in declared.items():
        with mistakes.collect(places, key, name):
            parameter = Parameter(name=name, **dict(given or schema.ParameterDeclaration()))
            check_declaration(parameter)
            if name in roles:
                raise DefinitionError(
                    f"parameter {name!r} has the name of a role", expected="different names", got=repr(name)
                )
            found.append(parameter)
    return tuple(found)


class ProgramReader:
    """One reading of one program.

    Args:
        content: of its file.
        places: of the items.
        substitution: of parameters and roles.
        user: reads the programs that it uses.

    Attributes:
        uses: those programs, also those that they use.
        places: as given; after `program` those of the flat program.
        mistakes: the unreadable items.
        sampled: (action, parameter) whose values are samples, or could not be read; COMMANDS: some of a
            group's motion commands could not be read.
        unread: ids of states that could not be read, also of used programs.
        incomplete: whether an action or reaction is missing because it could not be read.
    """

    def __init__(
        self, content: schema.ProgramFile, places: Document, substitution: Substitution, user: ProgramUser
    ) -> None:
        self.content, self.places, self.substitution, self.user = content, places, substitution, user
        self.uses: tuple[Use, ...] = ()
        self.unread: tuple[str, ...] = ()
        self.mistakes = Mistakes()
        self.sampled: set[tuple[str, str]] = set()
        self.incomplete = False

    def program(self, defined: Collection[str] = ()) -> ProgramDefinition:
        """The readable part of the program, flattened; the rest is among the mistakes.

        Args:
            defined: ids of the session's existing actions.

        Raises:
            DefinitionError: nothing can be read; with the line; several mistakes as a ProgramError.
        """
        content, written = self.content, self.places.data
        states = self.each(content.actions.values(), self.state)
        actions = tuple(state for state in states if isinstance(state, ActionDefinition))
        used = [state for state in states if not isinstance(state, ActionDefinition)]
        ids = {state.id if isinstance(state, ActionDefinition) else state.state for state in states}
        self.unread = (
            *(id for id in written["actions"] if id not in ids),
            *(program.inner(id) for program in used for id in program.filled.unread),
        )
        reactions, start = self.each(content.reactions, self.free_standing), content.start
        read = [(reactions, written), *((action.reactions, written["actions"][action.id]) for action in actions)]
        self.incomplete = bool(self.unread) or any(
            len(found) < len(given.get("reactions") or ()) for found, given in read
        )
        if used:
            places = self.places = FlatPlaces(self.places, used)
            known = frozenset([*written["actions"], *defined])
            flat = Flattening(states, known, places, self.mistakes).program(reactions, start)
            self.incomplete |= bool(self.mistakes.errors)  # they may hide where an exit leads
            actions, reactions, start, self.uses = flat.actions, flat.reactions, flat.start, flat.uses
            self.sampled |= flat.sampled
        parts = tuple(map(self.substitution.part, content.parts))
        try:
            return ProgramDefinition(name=content.name, parts=parts, start=start, actions=actions, reactions=reactions)
        except DefinitionError as error:
            raise_all([*self.mistakes.errors, self.places.locate(error)])
            raise

    def each(self, written: Iterable[_Written], make: Callable[[_Written], _Made]) -> tuple[_Made, ...]:
        """The results of the valid items; mistakes of the others are kept."""
        found = []
        for item in written:
            with self.mistakes.collect(self.places, *item.path):
                found.append(make(item))
        return tuple(found)

    def state(
        self, written: schema.ActionState | schema.GroupState | schema.UseState
    ) -> ActionDefinition | UsedProgram:
        id = str(written.path[-1])
        if id in self.substitution.roles:
            with self.mistakes.collect(self.places, *written.path):
                raise DefinitionError(
                    f"action {id!r} has the name of a role",
                    expected="another id, to keep conditions unambiguous",
                    got=repr(id),
                )
        return self.use(id, written) if isinstance(written, schema.UseState) else self.action(id, written)

    def use(self, id: str, written: schema.UseState) -> UsedProgram:
        values = self.each(written.parameters.values(), partial(self.value, f"state {id!r}", id))
        parts = {role: self.substitution.part(part) for role, part in written.parts.items()}
        sampled = {name for key, name in self.sampled if key == id}
        return self.user.use(written, values, sampled, parts, self.places, self.mistakes)

    def action(self, id: str, written: schema.ActionState | schema.GroupState) -> ActionDefinition:
        parameters = self.each(written.parameters.values(), self.parameter)
        given = self.places.data["actions"][id].get("parameters", ())
        self.sampled |= {(id, name) for name in given} - {(id, p.name) for p in parameters}
        return ActionDefinition(
            id=id,
            type=written.type,
            parts=self.parts(id, written),
            parameters=parameters,
            reactions=self.each(written.reactions, self.reaction),
            strategies=tuple(self.axes(id, written)) if isinstance(written, schema.ActionState) else (),
            time_limit=self.time_limit(id, written.time_limit),
            final=written.final,
            manual=written.manual,
            commands=self.commands(id, written) if isinstance(written, schema.GroupState) else (),
        )

    def parts(self, id: str, written: schema.ActionState | schema.GroupState) -> tuple[str, ...] | dict[str, str]:
        part = self.substitution.part
        if isinstance(written.parts, dict):
            return {slot: part(name) for slot, name in written.parts.items()}
        if isinstance(written, schema.ActionState) or written.parts:
            return tuple(_with_slot(name, part) for name in written.parts)
        # from the text: also of commands that cannot be read
        named = [given.get("part") for given in self.places.data["actions"][id]["commands"] if isinstance(given, dict)]
        return tuple(dict.fromkeys(part(name) for name in named if isinstance(name, str)))

    def commands(self, action: str, written: schema.GroupState) -> tuple[MotionCommand, ...]:
        """The readable motion commands of a group."""
        commands = self.each(
            written.commands, partial(read_command, action=action, substitution=self.substitution, places=self.places)
        )
        if len(commands) < len(self.places.data["actions"][action]["commands"]):
            self.sampled.add((action, COMMANDS))
        return commands

    def axes(self, action: str, written: schema.ActionState) -> Iterator[AxisDefinition]:
        """The degrees of freedom whose strategies could all be read."""
        for name, given in written.strategies.items():
            path = (*written.path, "strategies", name)
            axis = self.substitution.variable(name)
            strategies = self.each(given, partial(self.strategy, action, axis))
            if len(strategies) == len(self.places.data["actions"][action]["strategies"][name]):
                with self.mistakes.collect(self.places, *path):
                    yield AxisDefinition(axis=axis, strategies=strategies, written=name)

    def strategy(self, action: str, axis: str, written: schema.Strategy) -> StrategyDefinition:
        of = f"action {action!r}: strategy {written.name!r} of {axis!r}"
        try:
            when = self.substitution.condition(written.when, f"{of}: when") if written.when else ""
        except DefinitionError as error:
            raise self.places.locate(error, *written.path, "when") from None
        strategy = StrategyDefinition(
            name=written.name,
            law=written.law,
            when=when,
            parts=tuple(map(self.substitution.part, written.parts)),
            inputs=tuple((name, self.substitution.variable(source)) for name, source in written.inputs.items()),
            capture=tuple(map(self.substitution.variable, written.capture)),
            parse=False,
        )
        key = strategy_key(action, axis, strategy)
        parameters = self.each(written.parameters.values(), partial(self.value, of, key))
        self.sampled |= {(key, name) for name in written.parameters} - {(key, p.name) for p in parameters}
        return replace(strategy, parameters=parameters, parse=False)

    def time_limit(self, action: str, written: schema.ValueWithUnit | None) -> Any:
        """[s]; of a sample, any."""
        if written is None:
            return None
        of = f"action {action!r}: time_limit"
        if isinstance(written.value, tuple):
            raise DefinitionError(of, expected="a number of seconds above 0", got=f"a list, {written.value}")
        result = self.substitution.value(written.value, of)
        unit = written.unit or result.unit or "s"
        if unit != "s":
            raise DefinitionError(f"{of}: unit", expected="s", got=repr(unit))
        return 1.0 if self.substitution.is_sampled(result.references) else result.value

    def parameter(self, written: schema.ValueWithUnit) -> ParameterValue:
        action = str(written.path[1])
        return self.value(f"action {action!r}", action, written)

    def value(self, of: str, key: str, written: schema.ValueWithUnit) -> ParameterValue:
        """A value of a parameter.

        Args:
            of: what has the parameter, for messages.
            key: its name in `sampled`.
        """
        name = str(written.path[-1])
        value, sampled = self.substitution.parameter(name, written.value, written.unit, of)
        if sampled:
            self.sampled.add((key, name))
        return value

    def reaction(self, written: schema.Reaction) -> ReactionDefinition:
        given = dict(written)
        try:
            condition = self.substitution.condition(given.pop("when"), "reaction: when")
        except DefinitionError as error:
            raise self.places.locate(error, *written.path, "when") from None
        given["capture"] = tuple(map(self.substitution.variable, written.capture))
        place = self.places.where(*written.path)
        return ReactionDefinition(condition=condition, **given, place=place, parse=False)

    def free_standing(self, written: schema.Reaction) -> ReactionDefinition:
        reaction = self.reaction(written)
        reaction.check_free_standing()
        return reaction


def _with_slot(name: str, part: Callable[[str], str]) -> str:
    """A part or role, with or without "slot=" before it."""
    slot, equals, name = name.rpartition("=")
    return f"{slot}{equals}{part(name)}"
