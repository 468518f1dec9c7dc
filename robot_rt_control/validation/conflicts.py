"""Finds actions that cannot have the parts that they need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.validation.edges import Edge, Found
from robot_rt_control.vocabulary.errors import DefinitionError


def find_conflicts(
    program: ProgramDefinition, edges: Sequence[Edge], moved: Mapping[str, frozenset[str]], held: Sequence[str] | None
) -> Found:
    """Each conflict, with its place.

    Args:
        edges: the reactions to check.
        moved: the parts that each action moves, including the session's existing actions.
        held: parts of the session; None: there is none yet.
    """
    together = [(id, moved.get(id, frozenset())) for id in program.start]
    yield from ((error, ("start",)) for error in not_together(together))
    for edge in edges:
        together = [(id, moved.get(id, frozenset())) for id in edge.reaction.start]
        yield from ((error, (*edge.path, "start")) for error in not_together(together))
    yield from _beside_owner(edges, moved)
    yield from _not_held(program, moved, held)


def not_together(actions: Sequence[tuple[str, Collection[str]]]) -> Iterator[DefinitionError]:
    """Actions that cannot start in the same tick.

    Args:
        actions: id and the parts that it moves, in the order of the start.
    """
    for i, (action, parts) in enumerate(actions):
        for other, others in actions[:i]:
            shared = sorted(set(parts) & set(others))
            if shared:
                yield DefinitionError(
                    f"actions {other!r} and {action!r} cannot start together",
                    expected="actions that share no part",
                    got=f"both move {', '.join(shared)}",
                )


def _beside_owner(edges: Sequence[Edge], moved: Mapping[str, frozenset[str]]) -> Found:
    for edge in edges:
        reaction, nothing = edge.reaction, frozenset[str]()
        for name in reaction.start if reaction.keep_owner else ():
            shared = moved.get(edge.owner, nothing) & moved.get(name, nothing)
            if shared:
                error = DefinitionError(
                    f"{edge.label} keeps its owner, but starts an action that takes a part from it",
                    expected=f"an action that does not move {', '.join(sorted(moved[edge.owner]))}",
                    got=f"{name!r}, which moves {', '.join(sorted(shared))}",
                    hint="Leave keep_owner out, or start an action with other parts",
                )
                yield error, (*edge.path, "keep_owner")


def _not_held(program: ProgramDefinition, moved: Mapping[str, frozenset[str]], held: Sequence[str] | None) -> Found:
    of_session = {
        "expected": f"a part of its session: {', '.join(held or ())}",
        "got": "a part that the session does not hold",
        "hint": "Open the session with this part too",
    }
    of_program = {
        "expected": f"a part of the program: {', '.join(program.parts)}",
        "got": "a part that the program's `parts` do not list",
        "hint": "Add it to the program's `parts`",
    }
    for part in program.parts:
        if held is not None and part not in held:
            yield DefinitionError(f"the program moves part {part!r}", **of_session), ("parts",)
    for action in program.actions:
        for part in sorted(moved.get(action.id, frozenset())):
            what, path = f"action {action.id!r} moves part {part!r}", ("actions", action.id, "parts")
            if program.parts and part not in program.parts:
                yield DefinitionError(what, **of_program), path
            elif held is not None and part not in held:
                yield DefinitionError(what, **of_session), path
