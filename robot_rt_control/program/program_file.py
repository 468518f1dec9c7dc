"""Programs as YAML.

    name: up_and_down                # optional
    parts: [arm]                     # optional: those of the actions
    start: [move_down]
    actions:
      move_down:
        type: velocity_move
        parts: arm                   # or [arm, gripper], or {slot: part}
        parameters:
          linear: [0, 0, -0.1]       # or {value: [0, 0, -0.1], unit: m/s}
        reactions:
          - {when: rangefinder.distance < 0.25, start: move_up}
          - {when: is_done, event: finished, capture: [rangefinder.distance]}
    reactions: []                    # free-standing, optional

A reaction has `when` and any of: name, start, stop, signal, event, fire_once, keep_owner, capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from robot_rt_control.program.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
    Value,
)
from robot_rt_control.program.errors import DefinitionError
from robot_rt_control.program.yaml_reader import YamlReader, parse_scalar

_PROGRAM_KEYS = ("name", "parts", "start", "actions", "reactions")
_ACTION_KEYS = ("type", "parts", "parameters", "reactions")
_FLAGS = ("stop", "fire_once", "keep_owner")
_REACTION_KEYS = ("when", "name", "start", "signal", "event", "capture", *_FLAGS)
_VALUE_KEYS = ("value", "unit")


def load_program(path: str | Path, *, defined: Iterable[str] = ()) -> ProgramDefinition:
    """Read a program file. See `parse_program`.

    Raises:
        DefinitionError: the file cannot be read, or as from `parse_program`.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(
            f"program file {str(path)!r} cannot be read", expected="a UTF-8 text file", got=str(error)
        ) from None
    return parse_program(text, source=path.name, defined=defined)


def parse_program(text: str, *, source: str = "program", defined: Iterable[str] = ()) -> ProgramDefinition:
    """Read a program from YAML text.

    Args:
        text: the YAML document.
        source: begins every message, with the line: "program.yaml:12: …".
        defined: ids of actions that the session has already, which reactions may start and signal.

    Raises:
        DefinitionError: not YAML, unknown keys, or anything that the definitions refuse; with its line.
    """
    return _ProgramReader(YamlReader(text, source)).program(defined)


def dump_program(program: ProgramDefinition) -> str:
    """The YAML text of a program; `parse_program` gives the same program again."""
    document: dict[str, Any] = {}
    if program.name:
        document["name"] = program.name
    for key in ("parts", "start"):
        if names := getattr(program, key):
            document[key] = list(names)
    document["actions"] = {action.id: _action_document(action) for action in program.actions}
    if program.reactions:
        document["reactions"] = [_reaction_document(reaction) for reaction in program.reactions]
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


class _ProgramReader:
    def __init__(self, reader: YamlReader) -> None:
        self.yaml = reader
        self.reactions: list[tuple[ReactionDefinition, yaml.Node]] = []

    def program(self, defined: Iterable[str]) -> ProgramDefinition:
        root = self.yaml.root
        found = self.yaml.mapping(root, "program", _PROGRAM_KEYS)
        if "actions" not in found:
            raise self.yaml.fault(root, "program: key 'actions' is missing", expected="actions: {…}", got="none")
        actions = self.yaml.mapping(found["actions"], "actions")
        given: dict[str, Any] = {"actions": tuple(self.action(id, node) for id, node in actions.items())}
        if "name" in found:
            given["name"] = self.yaml.text(found["name"], "name")
        for key in ("parts", "start"):
            if key in found:
                given[key] = self.yaml.texts(found[key], key)
        if "reactions" in found:
            given["reactions"] = self.yaml.sequence(found["reactions"], "reactions", self.free_standing)
        with self.yaml.located(root):
            program = ProgramDefinition(**given)
        ids = {*defined, *actions}
        with self.yaml.located(found.get("start", root)):
            program.check_start(ids)
        for reaction, node in self.reactions:
            with self.yaml.located(node):
                reaction.check_references(ids)
        return program

    def action(self, id: str, node: yaml.Node) -> ActionDefinition:
        what = f"action {id!r}"
        found = self.yaml.mapping(node, what, _ACTION_KEYS)
        for key in ("type", "parts"):
            if key not in found:
                raise self.yaml.fault(node, f"{what}: key {key!r} is missing", expected=f"{key}: …", got="none")
        given: dict[str, Any] = {"type": self.yaml.text(found["type"], f"{what}: type")}
        parts = found["parts"]
        if isinstance(parts, yaml.MappingNode):
            slots = self.yaml.mapping(parts, f"{what}: parts")
            given["parts"] = {slot: self.yaml.text(part, f"{what}: part") for slot, part in slots.items()}
        else:
            given["parts"] = self.yaml.texts(parts, f"{what}: parts")
        if "parameters" in found:
            values = self.yaml.mapping(found["parameters"], f"{what}: parameters")
            given["parameters"] = tuple(self.parameter(what, name, value) for name, value in values.items())
        if "reactions" in found:
            given["reactions"] = self.yaml.sequence(found["reactions"], f"{what}: reactions", self.reaction)
        with self.yaml.located(node):
            return ActionDefinition(id=id, **given)

    def parameter(self, action: str, name: str, node: yaml.Node) -> ParameterValue:
        what = f"{action}: parameter {name!r}"
        value_node, unit = node, ""
        if isinstance(node, yaml.MappingNode):
            found = self.yaml.mapping(node, what, _VALUE_KEYS)
            if "value" not in found:
                raise self.yaml.fault(node, f"{what}: key 'value' is missing", expected="value: …", got="none")
            value_node = found["value"]
            unit = self.yaml.text(found["unit"], f"{what}: unit") if "unit" in found else ""
        value: Value | tuple[Any, ...]
        if isinstance(value_node, yaml.SequenceNode):
            value = self.yaml.sequence(value_node, what, self.yaml.scalar)
        else:
            value = self.yaml.scalar(value_node, what)
        with self.yaml.located(value_node):
            return ParameterValue(name=name, value=value, unit=unit)

    def reaction(self, node: yaml.Node, what: str) -> ReactionDefinition:
        found = self.yaml.mapping(node, "reaction", _REACTION_KEYS)
        if "when" not in found:
            raise self.yaml.fault(node, f"{what}: key 'when' is missing", expected="when: <condition>", got="none")
        given: dict[str, Any] = {"condition": self.yaml.text(found.pop("when"), "reaction: when")}
        for key, value in found.items():
            of = f"reaction: {key}"
            if key in _FLAGS:
                given[key] = self.yaml.flag(value, of)
            elif key == "capture":
                given[key] = self.yaml.texts(value, of)
            else:
                given[key] = self.yaml.text(value, of)
        with self.yaml.located(node):
            reaction = ReactionDefinition(**given)
        self.reactions.append((reaction, node))
        return reaction

    def free_standing(self, node: yaml.Node, what: str) -> ReactionDefinition:
        reaction = self.reaction(node, what)
        with self.yaml.located(node):
            reaction.check_free_standing()
        return reaction


class _Dumper(yaml.SafeDumper):
    """Quotes every text that would be read as something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    ambiguous = not isinstance(parse_scalar(text), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if ambiguous else None)


_Dumper.add_representer(str, _represent_text)


def _action_document(action: ActionDefinition) -> dict[str, Any]:
    parts = dict(action.parts) if isinstance(action.parts, Mapping) else list(action.parts)
    document: dict[str, Any] = {"type": action.type, "parts": parts}
    if action.parameters:
        document["parameters"] = {p.name: _value_document(p) for p in action.parameters}
    if action.reactions:
        document["reactions"] = [_reaction_document(reaction) for reaction in action.reactions]
    return document


def _value_document(parameter: ParameterValue) -> Any:
    value = list(parameter.value) if isinstance(parameter.value, tuple) else parameter.value
    return {"value": value, "unit": parameter.unit} if parameter.unit else value


def _reaction_document(reaction: ReactionDefinition) -> dict[str, Any]:
    document: dict[str, Any] = {"when": reaction.condition}
    for item in fields(reaction):
        value = getattr(reaction, item.name)
        if item.name != "condition" and value != item.default:
            document[item.name] = list(value) if isinstance(value, tuple) else value
    return document
