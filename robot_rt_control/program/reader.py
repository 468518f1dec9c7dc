"""Makes a program of what its file says, with values for its parameters and parts for its roles put in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.program import schema
from robot_rt_control.program.declarations import Role, check_declaration
from robot_rt_control.program.places import Mistakes
from robot_rt_control.program.substitution import Substitution, common_unit
from robot_rt_control.text.document import Document, Path
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError

_Written = TypeVar("_Written", bound=Model)
_Made = TypeVar("_Made")


def declared_roles(content: schema.ProgramFile, places: Document, mistakes: Mistakes) -> tuple[Role, ...]:
    """The roles that are valid."""
    found = []
    for name, given in content.roles.items():
        with mistakes.collect(places, "roles", name):
            found.append(Role(name=name, **dict(given or schema.RoleDeclaration())))
    return tuple(found)


def declared_parameters(content: schema.ProgramFile, places: Document, mistakes: Mistakes) -> tuple[Parameter, ...]:
    """The parameters that are valid."""
    found = []
    for name, given in content.parameters.items():
        with mistakes.collect(places, "parameters", name):
            parameter = Parameter(name=name, **dict(given or schema.ParameterDeclaration()))
            check_declaration(parameter)
            if name in content.roles:
                raise DefinitionError(
                    f"parameter {name!r} has the name of a role", expected="different names", got=repr(name)
                )
            found.append(parameter)
    return tuple(found)


class ProgramReader:
    """One reading of one program.

    Args:
        content: what its file says.
        places: where.
        substitution: what stands for what.

    Attributes:
        mistakes: all that were found so far.
        sampled: (action, parameter) whose values are only samples.
    """

    def __init__(self, content: schema.ProgramFile, places: Document, substitution: Substitution) -> None:
        self.content, self.places, self.substitution = content, places, substitution
        self.mistakes = Mistakes()
        self.sampled: set[tuple[str, str]] = set()
        self.reactions: list[tuple[ReactionDefinition, Path]] = []

    def program(self, defined: Iterable[str]) -> ProgramDefinition:
        """The program.

        Args:
            defined: ids of actions that the session has already.

        Raises:
            DefinitionError: with the line; several together as a ProgramError.
        """
        content, collect = self.content, self.mistakes.collect
        ids = {*defined, *self.places.data["actions"]}
        given: dict[str, Any] = {"name": content.name, "start": content.start}
        given["parts"] = tuple(map(self.substitution.part, content.parts))
        given["actions"] = self.each(content.actions.values(), self.action)
        given["reactions"] = self.each(content.reactions, self.free_standing)
        for reaction, path in self.reactions:
            with collect(self.places, *path):
                reaction.check_references(ids)
        with collect(self.places, "start"):
            ProgramDefinition(actions=(), start=content.start).check_start(ids)
        program = None
        with collect(self.places):
            if not self.mistakes.errors:
                program = ProgramDefinition(**given)
        self.mistakes.raise_all()
        assert program is not None  # else there was a mistake
        return program

    def each(self, written: Iterable[_Written], make: Callable[[_Written], _Made]) -> tuple[_Made, ...]:
        """What becomes of each item that is right; the others' mistakes are kept."""
        found = []
        for item in written:
            with self.mistakes.collect(self.places, *item.path):
                found.append(make(item))
        return tuple(found)

    def action(self, written: schema.ActionState) -> ActionDefinition:
        id = str(written.path[-1])
        if id in self.substitution.roles:
            with self.mistakes.collect(self.places, *written.path):
                raise DefinitionError(
                    f"action {id!r} has the name of a role",
                    expected="another id: conditions could not tell them apart",
                    got=repr(id),
                )
        part = self.substitution.part
        return ActionDefinition(
            id=id,
            type=written.type,
            parts={slot: part(name) for slot, name in written.parts.items()}
            if isinstance(written.parts, dict)
            else tuple(_with_slot(name, part) for name in written.parts),
            parameters=self.each(written.parameters.values(), self.parameter),
            reactions=self.each(written.reactions, self.reaction),
            final=written.final,
            manual=written.manual,
        )

    def parameter(self, written: schema.ValueWithUnit) -> ParameterValue:
        _, action, _, name = map(str, written.path)
        is_list = isinstance(written.value, tuple)
        results = [
            self.substitution.value(element, f"action {action!r}: parameter {name!r}")
            for element in (written.value if isinstance(written.value, tuple) else [written.value])
        ]
        if any(self.substitution.is_sampled(result.references) for result in results):
            self.sampled.add((action, name))
        value: Any = tuple(result.value for result in results) if is_list else results[0].value
        return ParameterValue(
            name=name, value=value, unit=written.unit or (common_unit(results) if is_list else results[0].unit)
        )

    def reaction(self, written: schema.Reaction) -> ReactionDefinition:
        given = dict(written)
        with_line = Mistakes()
        condition = given.pop("when")
        with with_line.collect(self.places, *written.path, "when"):
            condition = self.substitution.condition(condition, "reaction: when")
        with_line.raise_all()
        given["capture"] = tuple(map(self.substitution.variable, written.capture))
        reaction = ReactionDefinition(condition=condition, **given)
        self.reactions.append((reaction, written.path))
        return reaction

    def free_standing(self, written: schema.Reaction) -> ReactionDefinition:
        reaction = self.reaction(written)
        reaction.check_free_standing()
        return reaction


def _with_slot(name: str, part: Callable[[str], str]) -> str:
    """A part or role, with "slot=" before it or not."""
    slot, equals, name = name.rpartition("=")
    return f"{slot}{equals}{part(name)}"
