"""Programs as YAML.

    name: up_and_down                # optional
    description: Down until near.    # optional
    tags: [surface]                  # optional: users find it by them
    roles:                           # optional: parts that the user fills in
      robot: {kinds: [arm]}
      eye: {kinds: [rangefinder], default: rangefinder}
    parameters:                      # optional: values that the user may choose
      speed: {unit: m/s, default: 0.1, minimum: 0.01, maximum: 0.25}
    start: [move_down]
    actions:
      move_down:
        type: velocity_move
        parts: robot                 # a part or role; or [arm, gripper], or {slot: part}
        parameters:
          linear: [0, 0, -$speed]    # or {value: [0, 0, -0.1], unit: m/s}
        reactions:
          - {when: eye.distance < 0.25, start: move_up}
          - {when: is_done, event: finished, capture: [eye.distance]}
      both:                          # a motion group; motion_commands.py has the keys of its commands
        type: motion_group
        commands: [{part: left, position: [0, 0.5, 0]}, {part: right, position: $home}]
    reactions: []                    # free-standing, optional

schema.py has all keys, expression.py the grammar of `$speed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
    StrategyDefinition,
)
from robot_rt_control.program.declarations import Role, parts_of, samples_of, values_of
from robot_rt_control.program.filled_program import FilledProgram, Find
from robot_rt_control.program.library import library_programs
from robot_rt_control.program.motion_commands import command_document
from robot_rt_control.program.reader import ProgramReader, declared_parameters, declared_roles
from robot_rt_control.program.schema import ProgramFile
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.program.used_program import ProgramUser
from robot_rt_control.text.document import LOADER, Document, read_text
from robot_rt_control.text.dump import dump
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.text.schema import read
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def load_program(path: str | Path, *, defined: Iterable[str] = ()) -> ProgramDefinition:
    """Read a program file. See `parse_program`.

    Raises:
        DefinitionError: the file cannot be read, or as from `parse_program`.
    """
    return ProgramTemplate.load(path).fill(defined=defined).definition


def parse_program(
    text: str,
    *,
    source: str = "program",
    defined: Iterable[str] = (),
    parameters: Iterable[ParameterValue] = (),
    parts: Mapping[str, str] | Iterable[str] = (),
) -> ProgramDefinition:
    """Read a program from YAML text.

    Args:
        text: the YAML document.
        source: begins every message, with the line: "program.yaml:12: …".
        defined: ids of the session's existing actions, which reactions may start and signal.
        parameters: values of the program's parameters; the others take their defaults.
        parts: parts for its roles: role → part, or "role=part".

    Raises:
        DefinitionError: not YAML, unknown keys, or a refused definition; with the line.
        ProgramError: several such mistakes.
    """
    return ProgramTemplate(text, source=source).fill(parameters=parameters, parts=parts, defined=defined).definition


class ProgramTemplate:
    """A program's text, before values and parts are given.

    Args:
        text: the YAML document.
        source: begins every message, with the line.
        find: finds the programs that it uses.

    Attributes:
        name, description: for display; may be empty.
        tags: words by which users find it.
        places: the places of its items in the text.
        roles, parameters: to be filled in, in the order of the text.
        exits: those that it declares → whether it is a failure; empty: it declares none.
        view: places of states that a person moved, as the text has them; only for pictures.

    Raises:
        DefinitionError: not YAML, unknown keys, or declarations that contradict themselves; with the line.
        ProgramError: several such mistakes.
    """

    def __init__(self, text: str, *, source: str = "program", find: Find | None = None) -> None:
        self._find: Find = find or library_template
        self._read(text, Document(text, source, max_bytes=MAX_PROGRAM_BYTES))

    @classmethod
    def of(cls, document: Document) -> ProgramTemplate:
        """A program inside another document; its mistakes have the lines of that document."""
        template = cls.__new__(cls)
        template._find = library_template
        template._read(dump(document.data), document)
        return template

    def _read(self, text: str, places: Document) -> None:
        self.text, self.source, self.places = text, places.source, places
        content, found = read(ProgramFile, places)
        mistakes = Mistakes()
        mistakes.errors += [error for error, path in found if content is None or path[0] in ("roles", "parameters")]
        if content is not None:
            self._content = content
            self.name, self.description = content.name, " ".join(content.description.split())
            self.tags, self.view = content.tags, content.view
            self.exits = {name: given is not None and given.failure for name, given in content.exits.items()}
            self.roles = declared_roles(content, places, mistakes)
            self.parameters = declared_parameters(content.parameters, places, mistakes, content.roles)
        mistakes.raise_all()
        self._mistakes = tuple(error for error, _ in found)
        self._start_is_read = not any(path[:1] == ("start",) for _, path in found)

    @classmethod
    def load(cls, path: str | Path, *, find: Find | None = None) -> ProgramTemplate:
        """Read a file.

        Args:
            find: as of the constructor.

        Raises:
            DefinitionError: it cannot be read, or as from the constructor.
        """
        path = Path(path)
        return cls(read_text(path, MAX_PROGRAM_BYTES), source=path.name, find=find)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"program {self.name!r}" if self.name else "the program"

    def fill(
        self,
        *,
        parameters: Iterable[ParameterValue] = (),
        parts: Mapping[str, str] | Iterable[str] = (),
        defined: Iterable[str] = (),
    ) -> FilledProgram:
        """The program with these values and parts.

        Args:
            parameters, parts, defined: as of `parse_program`.

        Raises:
            DefinitionError: a value or part is missing, unknown or not valid; or the text is unreadable.
        """
        mistakes = Mistakes()
        values, roles = {}, {}
        with mistakes.collect():
            values = values_of(self.parameters, parameters, of=self.label)
        with mistakes.collect():
            roles = parts_of(self.roles, parts, of=self.label)
        mistakes.raise_all()
        return self.filled(Substitution(values, roles), defined, is_sample=False)

    def sample(self, *, defined: Iterable[str] = ()) -> FilledProgram:
        """The program before it is used, for checking or drawing it: roles keep their names, required values are
        samples.

        Raises:
            DefinitionError: the text is unreadable.
        """
        roles = {role.name: role.name for role in self.roles}
        return self.filled(Substitution(samples_of(self.parameters), roles), defined, is_sample=True)

    def filled(
        self, substitution: Substitution, defined: Iterable[str] = (), *, is_sample: bool, chain: tuple[str, ...] = ()
    ) -> FilledProgram:
        """The program with this substitution of checked values and parts.

        Args:
            chain: names of the programs from the outermost one to this one; empty: this is the outermost one.

        Raises:
            DefinitionError: nothing of it can be read.
        """
        known = tuple(defined)
        user = ProgramUser(self._find, chain or (self.name,), is_sample=is_sample)
        reader = ProgramReader(self._content, self.places, substitution, user)
        reader.mistakes.errors += self._mistakes
        draft = reader.program(known)
        declared = [*(p.name for p in self.parameters), *(r.name for r in self.roles)]
        return FilledProgram(
            draft=draft,
            mistakes=tuple(reader.mistakes.errors),
            incomplete=reader.incomplete or not self._start_is_read,
            places=reader.places,
            uses=reader.uses,
            unread=reader.unread,
            template=self,
            sampled=frozenset(reader.sampled),
            roles=substitution.roles,
            is_sample=is_sample,
            unused=tuple(name for name in declared if name not in substitution.used),
            defined=known,
        )


def library_template(name: str) -> ProgramTemplate:
    """A program of the library.

    Raises:
        DefinitionError: there is none of this name.
    """
    library = library_programs()
    path = library.get(name.removesuffix("@1"))  # they have one version
    if path is None:
        raise DefinitionError("unknown program", expected=unknown("program", name, library), got=repr(name))
    return ProgramTemplate.load(path)


def renamed(text: str, name: str) -> str:
    """A program's text under another name; the rest of it stays as it is, comments included.

    Raises:
        DefinitionError: it is no program, or the name is not valid.
    """
    Document(text, "program", max_bytes=MAX_PROGRAM_BYTES)  # not too large, nor too deep
    top: Any = yaml.compose(text, LOADER)
    for key, value in top.value:
        if key.value == "name":
            text = text[: value.start_mark.index] + name + text[value.end_mark.index :]
            break
    else:
        text = f"name: {name}\n{text}"
    if ProgramTemplate(text).name != name:
        raise DefinitionError("name of a program", expected="a plain name such as my_edge", got=repr(name))
    return text


def dump_program(program: ProgramDefinition) -> str:
    """The YAML text of a program that uses no others; `parse_program` gives the same program again."""
    document: dict[str, Any] = {}
    if program.name:
        document["name"] = program.name
    for key in ("parts", "start"):
        if names := getattr(program, key):
            document[key] = list(names)
    document["actions"] = {action.id: _action_document(action) for action in program.actions}
    if program.reactions:
        document["reactions"] = [_reaction_document(reaction) for reaction in program.reactions]
    return dump(document)


def _action_document(action: ActionDefinition) -> dict[str, Any]:
    parts = dict(action.parts) if isinstance(action.parts, Mapping) else list(action.parts)
    document: dict[str, Any] = {"type": action.type, "parts": parts}
    if action.commands:
        document["commands"] = [command_document(command) for command in action.commands]
    if action.parameters:
        document["parameters"] = {p.name: _value_document(p) for p in action.parameters}
    if action.reactions:
        document["reactions"] = [_reaction_document(reaction) for reaction in action.reactions]
    if action.strategies:
        document["strategies"] = {x.axis: [_strategy_document(s) for s in x.strategies] for x in action.strategies}
    if action.time_limit is not None:
        document["time_limit"] = action.time_limit
    return document | {mark: True for mark in ("final", "manual") if getattr(action, mark)}


def _strategy_document(strategy: StrategyDefinition) -> dict[str, Any]:
    texts = {"when": strategy.when, "parts": list(strategy.parts), "inputs": dict(strategy.inputs)}
    texts["capture"] = list(strategy.capture)
    document = {"name": strategy.name, "law": strategy.law} | {key: text for key, text in texts.items() if text}
    if strategy.parameters:
        document["parameters"] = {p.name: _value_document(p) for p in strategy.parameters}
    return document


def _value_document(parameter: ParameterValue) -> Any:
    value: Any = parameter.value
    if isinstance(value, tuple):
        value = list(value)
    elif isinstance(value, str):
        value = value.replace("$", "$$")
    return {"value": value, "unit": parameter.unit} if parameter.unit else value


def _reaction_document(reaction: ReactionDefinition) -> dict[str, Any]:
    document: dict[str, Any] = {"when": reaction.condition}
    for item in fields(reaction):
        value = getattr(reaction, item.name)
        if item.compare and item.name != "condition" and value != item.default:
            document[item.name] = list(value) if isinstance(value, tuple) else value
    if len(reaction.start) == 1:
        document["start"] = reaction.start[0]
    return document


__all__ = [
    "ProgramTemplate",
    "Role",
    "dump_program",
    "library_template",
    "load_program",
    "parse_program",
]
