"""Values as behavior trees write them in ports: texts, lists as "1;2;3", entries of the blackboard as "{name}"."""

from __future__ import annotations

import re
from typing import Any

from robot_rt_control.blueprint.graph.plan import Given
from robot_rt_control.blueprint.text.catalogue import Skill
from robot_rt_control.blueprint.text.node_kinds import NODE_KINDS
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.text.scalar import parse_scalar
from robot_rt_control.vocabulary.errors import DefinitionError

PARTS, UNTIL = "parts", "until"
"""Ports of every skill with roles ("robot=arm;eye=camera"), and of action types: the condition that ends them."""

BUILT_IN = {kind.name: kind.port for kind in NODE_KINDS if kind.port}
"""What is built in and can be a leaf → its port."""

ENTRY = re.compile(r"\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}")
_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)")


def entry_of(text: str) -> str:
    """The entry of the blackboard that a port refers to; empty: it has a value of its own.

    Raises:
        DefinitionError: something else with braces.
    """
    found = ENTRY.fullmatch(text.strip())
    if found is None and text.strip().startswith("{") and text.strip().endswith("}"):
        raise DefinitionError("entry of the blackboard", expected="a name in braces, such as {goal}", got=repr(text))
    return found[1] if found is not None else ""


def read_value(text: str, parameter: Parameter) -> Any:
    """A value of its own, for YAML.

    Raises:
        DefinitionError: not a value of this type.
    """
    if parameter.type == "text":
        return text.replace("$", "$$")
    is_list = parameter.length != 1
    elements = text.split(";") if is_list else [text]
    found = [parse_scalar(element.strip()) for element in elements]
    for value in found:
        if value is None or isinstance(value, str) or isinstance(value, bool) != (parameter.type == "bool"):
            kind = f"a list of {parameter.type} such as 1;2;3" if is_list else f"a {parameter.type}"
            raise DefinitionError(f"port {parameter.name!r}", expected=kind, got=repr(text))
    return found if is_list else found[0]


def port_name(output: str) -> str:
    """The port of an output: ports have no dots."""
    return output.replace(".", "__")


def written_value(given: Given, parameter: Parameter) -> str:
    """A value of its own as a port has it.

    Raises:
        DefinitionError: it is computed, or would be read as something else.
    """
    values = given.value if isinstance(given.value, tuple) else (given.value,)
    if any(isinstance(value, str) and "$" in value.replace("$$", "") for value in values):
        what = f"parameter {parameter.name!r} is computed"
        raise DefinitionError(what, expected="a value, or one name such as $goal")
    texts = [value.replace("$$", "$") if isinstance(value, str) else _number(value) for value in values]
    if parameter.type == "text":
        (text,) = texts
        if text.strip().startswith("{") and text.strip().endswith("}"):
            raise DefinitionError(f"parameter {parameter.name!r}: a text in braces", got=repr(text))
        return text
    return ";".join(texts)


def reference_of(given: Given) -> str:
    """The one parameter or output that a value is: "seat.wish"; empty: it is something else."""
    found = _REFERENCE.fullmatch(given.value) if isinstance(given.value, str) else None
    return found[1] if found is not None else ""


def _number(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def own_ports(skill: Skill) -> list[str]:
    """Names that a skill's parameters or outputs take away from attributes that have a meaning of their own."""
    names = [*(p.name for p in skill.parameters), *map(port_name, skill.outputs)]
    reserved = {"name", "ID", PARTS, UNTIL}
    return [name for name in names if name in reserved or name.startswith("_") or names.count(name) > 1]
