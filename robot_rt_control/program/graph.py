"""A program as a graph: actions are states, reactions lead from one to another."""

from __future__ import annotations

from collections.abc import Mapping

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.validation.edges import edges

Parts = Mapping[str, frozenset[str]]
"""Action → the parts that it moves."""


def unreachable(program: ProgramDefinition) -> list[str]:
    """Actions that cannot be reached: not started by the program's start, by hand, or by a reaction of a reachable one.

    Empty if the program has no start: then a user may start any of them.
    """
    if not program.start:
        return []
    leads_to: dict[str, list[str]] = {}
    for edge in edges(program):
        if edge.reaction.start:
            leads_to.setdefault(edge.owner, []).extend(edge.reaction.start)
    waiting = [*program.start, *(a.id for a in program.actions if a.manual), *leads_to.get("", [])]
    reached: set[str] = set()
    while waiting:
        action = waiting.pop()
        if action not in reached:
            reached.add(action)
            waiting += leads_to.get(action, [])
    return [action.id for action in program.actions if action.id not in reached]


def without_exit(program: ProgramDefinition, parts: Parts) -> list[str]:
    """Actions without an end: nothing takes their parts, stops them or emits an event, and they are not final.

    Args:
        parts: of all actions of the program, and of others that its reactions start.
    """
    switches = [e for e in edges(program) if e.reaction.start]
    ended = {e.owner for e in edges(program) if e.reaction.stop or e.reaction.event}
    ended |= {e.owner for e in switches if e.reaction.start != (e.owner,) and not e.reaction.keep_owner}
    if any(e.reaction.stop for e in edges(program) if not e.owner):
        return []
    nothing: frozenset[str] = frozenset()
    found = []
    for action in program.actions:
        if action.final or action.time_limit is not None or action.id in ended:
            continue
        own = parts[action.id]
        # An action that shares a part with it is never active beside it, so its reactions are not evaluated.
        if not any(
            name != action.id and own & parts.get(name, nothing) and not own & parts.get(e.owner, nothing)
            for e in switches
            for name in e.reaction.start
        ):
            found.append(action.id)
    return found
