"""Checks a skill's text as a whole before anything moves, and reports all mistakes with their lines (N6)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from robot_rt_control.blueprint.graph.plan import Graph, Kind
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.graph_check import GraphCheck
from robot_rt_control.blueprint.text.graph_reader import GraphReader
from robot_rt_control.blueprint.text.levels import LEVELS
from robot_rt_control.blueprint.text.phrases import phrase_key, phrases_of
from robot_rt_control.blueprint.text.schema import StartTopicKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.blueprint.text.stop_words import stop_word_in
from robot_rt_control.drawing.diagram import is_place
from robot_rt_control.validation.edges import Found
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown


def check_skill(template: SkillTemplate, catalogue: SkillCatalogue, *, strict: bool = False) -> list[str]:
    """Check a skill.

    Args:
        catalogue: the skills that it can call; without a workcell, parts and state variables are not checked.
        strict: a skill may call only the next lower level.

    Returns:
        Warnings with their lines.

    Raises:
        DefinitionError: the only mistake, with its line.
        ProgramError: several, by line.
    """
    if template.name:
        catalogue = catalogue.with_skill(template)
    reader = GraphReader(template, catalogue, strict=strict)
    graph = reader.graph()
    check = GraphCheck(reader, graph, Calls(catalogue))
    places = template.places
    found = chain(
        _find_in_calls(reader, graph, Calls(catalogue)),
        _find_in_commands(template, catalogue),
        _find_foreign_code(template, catalogue),
    )
    whole: Found = iter(())
    if not template.mistakes:  # else names are missing
        whole = check.find_in_conditions() if reader.mistakes.errors else check.find_mistakes()
    raise_all([*template.mistakes, *reader.mistakes.errors, *places.located(chain(found, whole))])
    doubtful = chain(check.warnings(), _ineffective(template))
    warnings = sorted((places.line(*path), places.where(*path), text) for path, text in doubtful)
    return [f"{where}: {text}" for _, where, text in warnings]


def _ineffective(template: SkillTemplate) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What lists and pictures do not use as it is written; no run reads it."""
    content = template.content
    if content.scenarios and LEVELS.index(template.level) < LEVELS.index("behavior_skill"):
        level = template.level.replace("_", " ")
        yield ("scenarios",), f"only a behavior skill or a blueprint is a value skill for scenarios; this is a {level}"
    for key, names in (("scenarios", content.scenarios), ("tags", content.tags)):
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield (key,), f"{key}: {name!r} is named {names.count(name)} times"
    for id, place in content.view.items():
        if isinstance(place, dict):  # nodes that the editor shows as one box (E14)
            continue
        if id not in content.nodes:
            yield ("view", id), f"view: there is no node {id!r}; expected {unknown('node', id, content.nodes)}"
        elif not is_place(place):
            yield ("view", id), f"view: node {id!r}; expected two numbers, [x, y]; got {place!r}"


def _find_in_calls(reader: GraphReader, graph: Graph, calls: Calls) -> Found:
    for node in graph.nodes.values():
        called = [call.skill for call in node.call.inner() if call.kind == Kind.GRAPH]
        error = calls.find_loop(reader.template.name, called)
        if error is not None:
            yield error, reader.place(node.id)


def _find_foreign_code(template: SkillTemplate, catalogue: SkillCatalogue) -> Found:
    """A text names no Python function: the functions of the workcell's files are skills by themselves."""
    python = template.content.is_.python if template.content.is_ is not None else None
    if python is not None and catalogue.made.get(template.name) is not template:
        hint = "Name its file under `capabilities` in the workcell file"
        expected = "nothing: a function with the decorator `skill` is a skill by itself"
        yield DefinitionError("python", expected=expected, got=repr(python), hint=hint), ("is", "python")


def _find_in_commands(template: SkillTemplate, catalogue: SkillCatalogue) -> Found:
    others = {
        phrase_key(phrase): name
        for name, other in catalogue.skills.items()
        if name != template.name and "@" not in name
        for phrase, _ in phrases_of(other)
    }
    shown = {
        gesture.casefold(): name
        for name, other in catalogue.skills.items()
        if name != template.name and "@" not in name
        for command in other.content.commands
        for gesture in command.gesture
    }
    for index, command in enumerate(template.content.commands):
        for gesture in command.gesture:
            path = ("commands", index, "gesture")
            if gesture.casefold() in shown:
                other_name = shown[gesture.casefold()]
                yield DefinitionError(f"gesture {gesture!r} starts {other_name!r} already", expected="another"), path
            yield from _stops(f"gesture {gesture!r}", gesture, path)
        if command.topic is not None:
            for error, inner in _find_in_topic(command.topic, template, catalogue):
                yield _of_command(error, index, ("topic", *inner)), ("commands", index, "topic", *inner)
    parameters = {p.name: p for p in template.parameters}
    for phrase, index in phrases_of(template):
        key, path = phrase_key(phrase), ("commands", index, "say")
        if key in others:
            yield DefinitionError(f"phrase {phrase!r} starts {others[key]!r} already", expected="another phrase"), path
        fixed = re.sub(r"\{[^}]*\}", " ", phrase)
        yield from _stops(f"phrase {phrase!r}", fixed, path)
        for name in re.findall(r"\{([^}]*)\}", phrase):
            if name not in parameters:
                yield DefinitionError(f"phrase {phrase!r}: unknown parameter {name!r}"), path
                continue
            for choice in parameters[name].choices:
                if not stop_word_in(fixed):
                    said = re.sub(r"\{[^}]*\}", " ", phrase.replace(f"{{{name}}}", choice))
                    yield from _stops(f"phrase {phrase!r} with {choice!r} for {name!r}", said, path)


def _find_in_topic(keys: StartTopicKeys, template: SkillTemplate, catalogue: SkillCatalogue) -> Found:
    """Mistakes of messages that start a blueprint."""
    parameters = [parameter.name for parameter in template.parameters]
    for name in keys.parameters:
        if name not in parameters:
            error = DefinitionError(f"unknown parameter {name!r}", expected=unknown("parameter", name, parameters))
            yield error, ("parameters", name)
    for field, words in keys.texts.items():
        if not words:
            yield DefinitionError(f"field {field!r}", expected="at least one text", got="none"), ("texts", field)
        for word in words:
            yield from _stops(f"text {word!r}", word, ("texts", field))
    if keys.hold > 0.0 and keys.gap == 0.0:
        expected = "more than 0 s beside `hold`: else each message appears anew"
        yield DefinitionError("no gap", expected=expected, got="0"), ("gap",)
    if catalogue.interfaces is not None:
        yield from catalogue.interfaces.mistakes_of_start(keys, template.parameters)


def _of_command(error: DefinitionError, index: int, path: tuple[str | int, ...]) -> DefinitionError:
    """The same, with the key that it concerns in its text: the editor shows it there."""
    key = ".".join(map(str, path))
    return DefinitionError(
        f"command {index}: {key}: {error.what}", expected=error.expected, got=error.got, hint=error.hint
    )


def _stops(what: str, said: str, path: tuple[str | int, ...]) -> Found:
    """It would cancel all runs instead of starting one (N52)."""
    word = stop_word_in(said)
    if word:
        hint = f"Say it without {word!r}" if said.strip().casefold() != word else ""
        yield DefinitionError(f"{what} stops: it has the stop word {word!r}", expected="another one", hint=hint), path
