"""How runs of a program can end, as blueprints see it: its exits, and the values that come with them."""

from __future__ import annotations

from robot_rt_control.definitions.definitions import ProgramDefinition, ReactionDefinition
from robot_rt_control.program.file import FilledProgram
from robot_rt_control.validation.edges import Found
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def exits_of(program: ProgramDefinition) -> dict[str, tuple[str, ...]]:
    """Exit → the state variables whose values come with it, in the order of the text.

    The exits are the events with which final states stop; without such events, all events.
    """
    leaving = [r for a in program.actions for r in a.reactions if a.final and r.stop and r.event]
    emitting = [r for a in program.actions for r in a.reactions if r.event]
    return _captures(leaving or [*emitting, *(r for r in program.reactions if r.event)])


def _captures(reactions: list[ReactionDefinition]) -> dict[str, tuple[str, ...]]:
    """Of an event that several reactions emit: what any of them captures."""
    found: dict[str, dict[str, None]] = {}
    for reaction in reactions:
        found.setdefault(reaction.event, {}).update(dict.fromkeys(reaction.capture))
    return {event: tuple(captured) for event, captured in found.items()}


def captured_as_written(program: FilledProgram) -> dict[str, str]:
    """State variable that an event of the filled program captures → how the text names it, with its role."""
    written = {a.id: a for a in program.template.sample().draft.actions}
    return {
        name: text
        for action in program.draft.actions
        for reaction, sample in zip(action.reactions, written[action.id].reactions, strict=True)
        for name, text in zip(reaction.capture, sample.capture, strict=True)
    }


def find_in_exits(declared: dict[str, bool], program: ProgramDefinition) -> Found:
    """Declared exits that the program does not have, and those that it has beside them."""
    found = exits_of(program)
    for name in declared:
        if name not in found:
            error = DefinitionError(
                f"exit {name!r}: the program never emits it", expected=unknown("exit", name, found), got=repr(name)
            )
            yield error, ("exits", name)
    missing = [name for name in found if name not in declared]
    if declared and missing:
        error = DefinitionError(
            f"exits: {', '.join(map(repr, missing))} missing",
            expected="all exits of the program, or none",
            got=", ".join(declared),
        )
        yield error, ("exits",)
