"""Checks a program's text as a whole before it moves anything, and reports all mistakes with their lines.

robot_rt_control/validation finds mistakes in definitions. This file checks what only texts have: roles, states that
cannot be reached or left, unused parameters. Refusals by the action types' own code appear when the actions are
prepared, see `ControlServer.install_program`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables
from robot_rt_control.program.declarations import KINDS, Role
from robot_rt_control.program.exits import find_in_exits
from robot_rt_control.program.filled_program import FilledProgram
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
        catalogue: the known types, parts and variables; None: only the text itself is checked.
        session: the session that will define it; None: none yet.

    Returns:
        Warnings with their lines: valid, but probably not intended.

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
    exits = () if program.incomplete else find_in_exits(program.template.exits, program.draft)
    found = chain(_find_in_roles(program, catalogue), subject.find_mistakes(), _find_unreachable(program), exits)
    raise_all(chain(program.mistakes, places.located(found)))
    unusual = _warnings(program, catalogue, subject)
    warnings = sorted((places.line(*path), places.where(*path), text) for path, text in unusual)
    return [f"{where}: {text}" for _, where, text in warnings]


def _find_in_roles(program: FilledProgram, catalogue: Catalogue) -> Found:
    """Check the kinds of the given parts, also for the roles of used programs."""
    given: list[tuple[Role, str, Path]] = []
    if catalogue.parts is not None:
        if not program.is_sample:
            given += [(r, program.roles[r.name], ("roles", r.name)) for r in program.template.roles]
        for use in program.uses:
            given += [(r, use.parts[r.name], ("actions", use.state, "parts", r.name)) for r in use.roles]
    for role, name, path in given:
        part = catalogue.part(name)
        if part is None:
            known = {*(catalogue.parts or ()), *catalogue.roles}
            error = DefinitionError(
                f"role {role.name!r}: unknown part", expected=unknown("part", name, known), got=repr(name)
            )
            yield error, path
        elif role.kinds and not set(part.kinds) & set(role.kinds):
            fitting = ", ".join(catalogue.candidates(role.kinds))
            error = DefinitionError(
                f"role {role.name!r}: part {name!r} does not fit",
                expected=f"a part of kind {role.shown_kinds}" + (f": {fitting}" if fitting else ""),
                got=" or ".join(part.kinds),
            )
            yield error, path


def _find_unreachable(program: FilledProgram) -> Found:
    if program.incomplete:  # an unreadable reaction may lead to it
        return
    lost = unreachable(program.draft)
    within = {action.id: action.within for action in program.draft.actions}
    reached = {state for id, states in within.items() if id not in lost for state in states}
    # Of a used program that nothing starts, the state is reported, not each of its actions.
    for id in dict.fromkeys(next((state for state in within[id] if state not in reached), id) for id in lost):
        error = DefinitionError(
            f"action {id!r} cannot be reached",
            expected="a reaction that starts it, or its name in `start`",
            got="neither",
            hint="If a user starts it by hand, write manual: true",
        )
        yield error, ("actions", id)


def _warnings(program: FilledProgram, catalogue: Catalogue, subject: Subject) -> Iterator[tuple[Path, str]]:
    for id in without_exit(program.draft, subject.moved):
        text = f"action {id!r} has no exit: nothing starts another one in its place, stops it, or emits an event"
        yield ("actions", id), f"{text}. If the program may end there, write final: true"
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
    """An action that shares a part with the owner is never active while the owner's reactions are evaluated."""
    read = [*(v.name for v in variables(parse_condition(edge.reaction.condition))), *edge.reaction.capture]
    others = {subject.scope.action_of(name, edge.owner) for name in read} - {""}
    for other in sorted(others) if edge.owner else ():
        shared = subject.moved[other] & subject.moved[edge.owner]
        if shared:
            text = f"{edge.label} reads a state variable of action {other!r}, which is always unknown there"
            both = f"both move {', '.join(sorted(shared))}, so they are never active together"
            yield (*edge.path, "when"), f"{text}: {both}"
