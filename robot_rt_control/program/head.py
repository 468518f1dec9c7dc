"""Reads what stands above a program's actions: name, description, roles, parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.program.declarations import Role, check_declaration
from robot_rt_control.program.places import Mistakes, Places
from robot_rt_control.program.schema import ParameterDeclaration, ProgramFile, RoleDeclaration, keys
from robot_rt_control.text.yaml_reader import YamlReader
from robot_rt_control.vocabulary.names import check_name


@dataclass(frozen=True, kw_only=True)
class ProgramHead:
    """What a program is and asks for."""

    nodes: dict[str, yaml.Node]
    """Of the program's keys."""
    name: str = ""
    description: str = ""
    roles: tuple[Role, ...] = ()
    parameters: tuple[Parameter, ...] = ()


def read_head(reader: YamlReader, places: Places) -> ProgramHead:
    """Read it.

    Raises:
        DefinitionError: unknown keys, or declarations that contradict themselves; with the line.
        ProgramError: several such mistakes.
    """
    return _HeadReader(reader, places).head()


class _HeadReader:
    def __init__(self, reader: YamlReader, places: Places) -> None:
        self.yaml, self.places = reader, places
        self.mistakes = Mistakes()

    def head(self) -> ProgramHead:
        nodes = self.yaml.mapping(self.yaml.root, "program", keys(ProgramFile))
        if "actions" not in nodes:
            raise self.yaml.fault(
                self.yaml.root, "program: key 'actions' is missing", expected="actions: {…}", got="none"
            )
        for key, node in nodes.items():
            self.places.add((key,), node, self.yaml.line(node))
        name = description = ""
        with self.mistakes.collect():
            if "name" in nodes:
                name = self.yaml.text(nodes["name"], "name")
                with self.yaml.located(nodes["name"]):
                    if name:
                        check_name("name of a program", name)
        with self.mistakes.collect():
            if "description" in nodes:
                description = " ".join(self.yaml.text(nodes["description"], "description").split())
        roles = self._each(nodes, "roles", self.role)
        parameters = self._each(nodes, "parameters", self.parameter)
        for parameter in parameters:
            if any(role.name == parameter.name for role in roles):
                with self.mistakes.collect():
                    raise self.yaml.fault(
                        nodes["parameters"],
                        f"parameter {parameter.name!r} has the name of a role",
                        expected="different names",
                        got=repr(parameter.name),
                    )
        self.mistakes.raise_all()
        return ProgramHead(
            nodes=nodes, name=name, description=description, roles=tuple(roles), parameters=tuple(parameters)
        )

    def _each(self, nodes: dict[str, yaml.Node], key: str, read: Any) -> list[Any]:
        found: list[Any] = []
        with self.mistakes.collect():
            items = self.yaml.mapping(nodes[key], key) if key in nodes else {}
            for name, node in items.items():
                self.places.add((key, name), node, self.yaml.line(node))
                with self.mistakes.collect():
                    found.append(read(name, node))
        return found

    def role(self, name: str, node: yaml.Node) -> Role:
        what = f"role {name!r}"
        found = self.yaml.mapping(node, what, keys(RoleDeclaration)) if not _is_empty(node) else {}
        given: dict[str, Any] = {
            k: self.yaml.text(found[k], f"{what}: {k}") for k in ("description", "default") if k in found
        }
        if "kinds" in found:
            given["kinds"] = self.yaml.texts(found["kinds"], f"{what}: kinds")
        with self.yaml.located(node):
            return Role(name=name, **given)

    def parameter(self, name: str, node: yaml.Node) -> Parameter:
        what = f"parameter {name!r}"
        found = self.yaml.mapping(node, what, keys(ParameterDeclaration)) if not _is_empty(node) else {}
        given: dict[str, Any] = {}
        for key, value in found.items():
            of = f"{what}: {key}"
            if key in ("type", "unit", "description"):
                given[key] = self.yaml.text(value, of)
            elif key in ("minimum", "maximum"):
                given[key] = self.yaml.number(value, of)
            elif key == "choices":
                given[key] = self.yaml.texts(value, of)
            elif key == "default" and isinstance(value, yaml.SequenceNode):
                given[key] = self.yaml.sequence(value, of, self.yaml.scalar)
            else:
                given[key] = self.yaml.scalar(value, of)
        parameter = Parameter(name=name, **given)
        with self.yaml.located(node):
            check_declaration(parameter)
        return parameter


def _is_empty(node: yaml.Node) -> bool:
    """Whether nothing stands behind the key: everything takes its default."""
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value == ""
