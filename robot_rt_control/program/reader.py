"""Reads a program's actions and reactions, with values for its parameters and parts for its roles put in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import yaml

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
    Scalar,
    Value,
)
from robot_rt_control.program.head import ProgramHead
from robot_rt_control.program.places import Mistakes, Path, Places
from robot_rt_control.program.schema import ActionState, Reaction, ValueWithUnit, keys
from robot_rt_control.program.substitution import Result, Substitution, common_unit
from robot_rt_control.text.yaml_reader import YamlReader
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all

_Result = TypeVar("_Result")
_FLAGS = ("stop", "fire_once", "keep_owner")
_ACTION_KEYS, _REACTION_KEYS, _VALUE_KEYS = keys(ActionState), keys(Reaction), keys(ValueWithUnit)


class ProgramReader:
    """One reading of one text.

    Args:
        places: is told where everything stands.
        head: already read.
        substitution: what stands for what.

    Attributes:
        sampled: (action, parameter) whose values are only samples, or could not be read.
        mistakes: what could not be read.
        incomplete: whether an action or reaction is missing because of that.
    """

    def __init__(self, reader: YamlReader, places: Places, head: ProgramHead, substitution: Substitution) -> None:
        self.yaml, self.places, self.head, self.substitution = reader, places, head, substitution
        self.mistakes = Mistakes()
        self.sampled: set[tuple[str, str]] = set()
        self.incomplete = False

    def program(self) -> ProgramDefinition:
        """The program, as far as it can be read: what cannot is among the mistakes.

        Raises:
            DefinitionError: nothing of it can be read; with the line; several together as a ProgramError.
        """
        nodes, root = self.head.nodes, self.yaml.root
        items = self.yaml.mapping(nodes["actions"], "actions")
        given: dict[str, Any] = {"actions": [], "name": self.head.name}
        for id, node in items.items():
            self.places.add(("actions", id), node, self.yaml.line(node))
            with self._part_of_it():
                given["actions"].append(self.action(id, node))
        for key in ("parts", "start"):
            with self._part_of_it():
                if key in nodes:
                    given[key] = self.yaml.texts(nodes[key], key)
        if "parts" in given:
            given["parts"] = [self.substitution.part(part) for part in given["parts"]]
        with self._part_of_it():
            if "reactions" in nodes:
                given["reactions"] = self.each(nodes["reactions"], ("reactions",), "reactions", self.free_standing)
        self._check_names(items)
        try:
            with self.yaml.located(root):
                return ProgramDefinition(**given)
        except DefinitionError as error:
            raise_all([*self.mistakes.errors, error])
            raise

    @contextmanager
    def _part_of_it(self) -> Iterator[None]:
        """Keep an error that comes from inside: without what it spoils, the rest is judged all the same."""
        spoiled = True
        with self.mistakes.collect():
            yield
            spoiled = False
        self.incomplete = self.incomplete or spoiled

    def _check_names(self, items: dict[str, yaml.Node]) -> None:
        roles = {role.name for role in self.head.roles}
        for id in items:
            if id in roles:
                with self.mistakes.collect():
                    raise self.yaml.fault(
                        items[id],
                        f"action {id!r} has the name of a role",
                        expected="another id: conditions could not tell them apart",
                        got=repr(id),
                    )

    def each(
        self, node: yaml.Node, path: Path, what: str, read: Callable[[yaml.Node, str, Path], _Result]
    ) -> tuple[_Result, ...]:
        """Every element of a list that is right; the others' mistakes are kept."""
        found = []
        for i, element in enumerate(self.yaml.sequence(node, what, lambda element, _: element)):
            self.places.add((*path, i), element, self.yaml.line(element))
            with self._part_of_it():
                found.append(read(element, what, (*path, i)))
        return tuple(found)

    # --- actions --------------------------------------------------------------------------------

    def action(self, id: str, node: yaml.Node) -> ActionDefinition:
        what, path = f"action {id!r}", ("actions", id)
        found = self.yaml.mapping(node, what, _ACTION_KEYS)
        for key in ("type", "parts"):
            if key not in found:
                raise self.yaml.fault(node, f"{what}: key {key!r} is missing", expected=f"{key}: …", got="none")
        for key, value in found.items():
            self.places.add((*path, key), value, self.yaml.line(value))
        given: dict[str, Any] = {"type": self.yaml.text(found["type"], f"{what}: type")}
        parts, part = found["parts"], self.substitution.part
        if isinstance(parts, yaml.MappingNode):
            slots = self.yaml.mapping(parts, f"{what}: parts")
            given["parts"] = {slot: part(self.yaml.text(name, f"{what}: part")) for slot, name in slots.items()}
        else:
            given["parts"] = tuple(_with_slot(name, part) for name in self.yaml.texts(parts, f"{what}: parts"))
        for mark in ("final", "manual"):
            if mark in found:
                given[mark] = self.yaml.flag(found[mark], f"{what}: {mark}")
        if "parameters" in found:
            given["parameters"] = self.parameters(id, what, found["parameters"])
        if "reactions" in found:
            given["reactions"] = self.each(
                found["reactions"], (*path, "reactions"), f"{what}: reactions", self.reaction
            )
        with self.yaml.located(node):
            return ActionDefinition(id=id, **given)

    def parameters(self, action: str, what: str, node: yaml.Node) -> tuple[ParameterValue, ...]:
        values = []
        for name, value in self.yaml.mapping(node, f"{what}: parameters").items():
            self.places.add(("actions", action, "parameters", name), value, self.yaml.line(value))
            self.sampled.add((action, name))  # until it is read
            with self.mistakes.collect():
                values.append(self.parameter(action, what, name, value))
        return tuple(values)

    def parameter(self, action: str, of: str, name: str, node: yaml.Node) -> ParameterValue:
        what = f"{of}: parameter {name!r}"
        value_node, unit = node, ""
        if isinstance(node, yaml.MappingNode):
            found = self.yaml.mapping(node, what, _VALUE_KEYS)
            if "value" not in found:
                raise self.yaml.fault(node, f"{what}: key 'value' is missing", expected="value: …", got="none")
            value_node = found["value"]
            unit = self.yaml.text(found["unit"], f"{what}: unit") if "unit" in found else ""
        value: Value | tuple[Any, ...]
        if isinstance(value_node, yaml.SequenceNode):
            results = [self.value(element, what) for element in value_node.value]
            value, found_unit = tuple(r.value for r in results), common_unit(results)
        else:
            results = [self.value(value_node, what)]
            value, found_unit = results[0].value, results[0].unit
        with self.yaml.located(value_node):
            read = ParameterValue(name=name, value=value, unit=unit or found_unit)
        if not any(self.substitution.is_sampled(result.references) for result in results):
            self.sampled.discard((action, name))
        return read

    def value(self, node: yaml.Node, what: str) -> Result:
        """A number, boolean or text; a text with a dollar is computed."""
        written: Scalar | str = self.yaml.scalar(node, what)
        if not isinstance(written, str):
            return Result(value=written)
        with self.yaml.located(node):
            return self.substitution.value(written, what)

    # --- reactions ------------------------------------------------------------------------------

    def reaction(self, node: yaml.Node, what: str, path: Path) -> ReactionDefinition:
        found = self.yaml.mapping(node, "reaction", _REACTION_KEYS)
        if "when" not in found:
            raise self.yaml.fault(node, f"{what}: key 'when' is missing", expected="when: <condition>", got="none")
        for key, value in found.items():
            self.places.add((*path, key), value, self.yaml.line(value))
        when = found.pop("when")
        condition = self.yaml.text(when, "reaction: when")
        with self.yaml.located(when):
            given: dict[str, Any] = {"condition": self.substitution.condition(condition, "reaction: when")}
        for key, value in found.items():
            of = f"reaction: {key}"
            if key in _FLAGS:
                given[key] = self.yaml.flag(value, of)
            elif key == "capture":
                given[key] = tuple(map(self.substitution.variable, self.yaml.texts(value, of)))
            else:
                given[key] = self.yaml.text(value, of)
        with self.yaml.located(node):
            return ReactionDefinition(**given, parse=False)

    def free_standing(self, node: yaml.Node, what: str, path: Path) -> ReactionDefinition:
        reaction = self.reaction(node, what, path)
        with self.yaml.located(node):
            reaction.check_free_standing()
        return reaction


def _with_slot(name: str, part: Callable[[str], str]) -> str:
    """A part or role, with "slot=" before it or not."""
    slot, equals, behind = name.rpartition("=")
    return f"{slot}{equals}{part(behind)}"
