"""Finds actions of a program that cannot have the parts that they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.program.graph import edges
from robot_rt_control.program.places import Path
from robot_rt_control.vocabulary.errors import DefinitionError


def find_conflicts(
    program: ProgramDefinition, moved: Mapping[str, frozenset[str]], held: Sequence[str] | None
) -> Iterator[tuple[DefinitionError, Path]]:
    """Each conflict, with its place.

    Args:
        moved: the parts that actions move, those included that the session has already.
        held: parts of the session; None: there is none yet.
    """
    yield from _in_start(program, moved)
    yield from _beside_owner(program, moved)
    yield from _not_held(program, moved, held)


def _in_start(
    program: ProgramDefinition, moved: Mapping[str, frozenset[str]]
) -> Iterator[tuple[DefinitionError, Path]]:
    for i, action in enumerate(program.start):
        for other in program.start[:i]:
            shared = moved.get(action, frozenset()) & moved.get(other, frozenset())
            if shared:
                error = DefinitionError(
                    f"actions {other!r} and {action!r} cannot start together",
                    expected="actions that share no part",
                    got=f"both move {', '.join(sorted(shared))}",
                )
                yield error, ("start",)


def _beside_owner(
    program: ProgramDefinition, moved: Mapping[str, frozenset[str]]
) -> Iterator[tuple[DefinitionError, Path]]:
    for edge in edges(program):
        reaction, nothing = edge.reaction, frozenset[str]()
        shared = moved.get(edge.owner, nothing) & moved.get(reaction.start, nothing)
        if reaction.keep_owner and shared:
            error = DefinitionError(
                f"{reaction.label} of action {edge.owner!r} keeps its owner, but starts an action that takes a part "
                "from it",
                expected=f"an action that does not move {', '.join(sorted(moved[edge.owner]))}",
                got=f"{reaction.start!r}, which moves {', '.join(sorted(shared))}",
                hint="Leave keep_owner out, or start an action with other parts",
            )
            yield error, (*edge.path, "keep_owner")


def _not_held(
    program: ProgramDefinition, moved: Mapping[str, frozenset[str]], held: Sequence[str] | None
) -> Iterator[tuple[DefinitionError, Path]]:
    if held is not None:
        for part in program.parts:
            if part not in held:
                error = DefinitionError(
                    f"the program moves part {part!r}",
                    expected=f"a part of its session: {', '.join(held)}",
                    got="a part that the session does not hold",
                    hint="Open the session with this part too",
                )
                yield error, ("parts",)
    for action in program.actions:
        for part in sorted(moved.get(action.id, frozenset())):
            listed, of_session = part in program.parts or not program.parts, held is None or part in held
            if listed and of_session:
                continue
            error = DefinitionError(
                f"action {action.id!r} moves part {part!r}",
                expected=f"a part of the program: {', '.join(program.parts)}"
                if not listed
                else f"a part of its session: {', '.join(held or ())}",
                got="a part that the program's `parts` do not list"
                if not listed
                else "a part that the session does not hold",
                hint="Add it to the program's `parts`" if not listed else "Open the session with this part too",
            )
            yield error, ("actions", action.id, "parts")
