"""Checks a program's text as a whole before anything of it moves: everything that is wrong, each with its line.

What is wrong with its definitions is found by robot_rt_control/validation. Here is what only texts have: roles, states
that cannot be reached or left, parameters that nothing uses. What the action types' own code refuses shows when the
actions are prepared, see `ControlServer.install_program`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables
from robot_rt_control.program.declarations import KINDS
from robot_rt_control.program.file import FilledProgram
from robot_rt_control.program.graph import unreachable, without_exit
from robot_rt_control.text.document import Path
from robot_rt_control.validation.catalogue import Catalogue, KnownPart
from robot_rt_control.validation.definitions import SessionFacts, Subject
from robot_rt_control.validation.edges import Edge, Found, edges
from robot_rt_control.vocabulary.errors import DefinitionError, raise_all, unknown


def check_program(
    program: FilledProgram, catalogue: Catalogue | None, session: SessionFacts | None = None
) -> list[str]:
    """Check a program.

    Args:
        catalogue: what there is; None: only what the program's text says by itself is checked.
        session: that is going to take it; None: none yet.

    Returns:
        Warnings, with their lines: what may be meant, but looks wrong.

    Raises:
        DefinitionError: the only mistake, with its line.
        ProgramError: several, by line.
    """
    catalogue = catalogue or Catalogue()
    if program.is_sample:
        roles = program.template.roles
        played = {r.name: KnownPart(kinds=r.kinds or KINDS, candidates=catalogue.candidates(r.kinds)) for r in roles}
        catalogue = replace(catalogue, roles=played)
    facts = program.facts()
    if session is not None:
        facts = replace(session, actions={**facts.actions, **session.actions})
    subject = Subject(program.draft, catalogue, facts, program.sampled)
    places = program.places
    found = chain(_find_in_roles(program, catalogue), subject.find_mistakes(), _find_unreachable(program))
    raise_all(chain(program.mistakes, places.located(found)))
    warnings = [(places.line(*path), text) for path, text in _warnings(program, catalogue, subject)]
    return [f"{places.source}:{line}: {text}" for line, text in sorted(warnings)]


def _find_in_roles(program: FilledProgram, catalogue: Catalogue) -> Found:
    """Whether the parts that were given fit."""
    for role in program.template.roles:
        if program.is_sample or catalogue.parts is None:
            continue
        name, path = program.roles[role.name], ("roles", role.name)
        part = catalogue.parts.get(name)
        if part is None:
            error = DefinitionError(
                f"role {role.name!r}: unknown part", expected=unknown("part", name, catalogue.parts), got=repr(name)
            )
            yield error, path
        elif role.kinds and part.kinds[0] not in role.kinds:
            fitting = ", ".join(catalogue.candidates(role.kinds))
            error = DefinitionError(
                f"role {role.name!r}: part {name!r} does not fit",
                expected=f"a part of kind {role.shown_kinds}" + (f": {fitting}" if fitting else ""),
                got=part.kinds[0],
            )
            yield error, path


def _find_unreachable(program: FilledProgram) -> Found:
    if program.incomplete:  # something that is not there may lead to it
        return
    for id in unreachable(program.draft):
        error = DefinitionError(
            f"action {id!r} cannot be reached",
            expected="a reaction that starts it, or its name in `start`",
            got="none that leads to it",
            hint="Where a user starts it by hand, say so: manual: true",
        )
        yield error, ("actions", id)


def _warnings(program: FilledProgram, catalogue: Catalogue, subject: Subject) -> Iterator[tuple[Path, str]]:
    for id in without_exit(program.draft, subject.moved):
        text = f"action {id!r} has no exit: nothing starts another one in its place, stops it, or emits an event"
        yield ("actions", id), f"{text}. Where the program may end there, say so: final: true"
    if catalogue.parts is not None:
        for role in program.template.roles if program.is_sample else ():
            if not catalogue.roles[role.name].candidates:
                yield ("roles", role.name), f"role {role.name!r}: the workcell has no part of kind {role.shown_kinds}"
    for edge in edges(program.draft) if catalogue.types is not None else ():
        yield from _warn_of_inactive(edge, subject)
    declared = {p.name for p in program.template.parameters}
    for name in program.unused:
        kind, key = ("parameter", "parameters") if name in declared else ("role", "roles")
        yield (key, name), f"{kind} {name!r} is not used"


def _warn_of_inactive(edge: Edge, subject: Subject) -> Iterator[tuple[Path, str]]:
    """An action that shares a part with the owner is never active while the owner's reactions are judged."""
    read = [*(v.name for v in variables(parse_condition(edge.reaction.condition))), *edge.reaction.capture]
    others = {subject.scope.action_of(name, edge.owner) for name in read} - {""}
    for other in sorted(others) if edge.owner else ():
        shared = subject.moved[other] & subject.moved[edge.owner]
        if shared:
            text = f"{edge.label} reads a state variable of action {other!r}, which is always unknown there"
            both = f"both move {', '.join(sorted(shared))}, so they are never active together"
            yield (*edge.path, "when"), f"{text}: {both}"
