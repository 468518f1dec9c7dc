"""What a run may start next, as far as its values are known while the present node runs.

A hint for performers, which can have it ready before it is asked for. Nothing is decided here: conditions over state
variables are judged when the node ends, and what was foreseen wrongly is not started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.graph.plan import Graph, Kind, Node
from robot_rt_control.blueprint.graph.results import DONE, Results
from robot_rt_control.blueprint.graph.scope import Scope
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.vocabulary.errors import DefinitionError

_MAX_NODES = 32
"""Nodes that are looked at: a graph can have loops."""
_SAY = "say"
"""It takes no time."""


@dataclass(frozen=True, kw_only=True)
class Foreseen:
    """A skill that may be started: as in `orders.StartSkill`."""

    skill: str
    arguments: tuple[ParameterValue, ...]
    parts: Mapping[str, str]
    until: str = ""


@dataclass(frozen=True)
class _Place:
    """A node in a call of a graph, with the names that it has there."""

    scope: Scope
    node: Node
    outer: _Place | None

    @classmethod
    def of(cls, scope: Scope, node: str, outer: _Place | None) -> _Place:
        return cls(scope, scope.graph.nodes[node], outer)


def foresee(engine: Engine, at_most: int) -> list[Foreseen]:
    """The skills that may follow the node that runs, if it succeeds, in the order of the candidates."""
    place = None
    for frame in engine.chain():
        if not frame.node:
            return []
        place = _Place.of(frame.scope.copy(without=frame.node), frame.node, place)
    found: list[Foreseen] = []
    look = _Look(engine.plan.graphs)
    for skill in look.after(place, _successes(place.node.call.results)) if place is not None else ():
        if skill not in found:
            found.append(skill)
        if len(found) == at_most:
            break
    return found


class _Look:
    """One look ahead."""

    def __init__(self, graphs: Mapping[str, Graph]) -> None:
        self._graphs = graphs
        self._left = _MAX_NODES

    def after(self, place: _Place, results: Collection[str]) -> Iterator[Foreseen]:
        """What may follow a node that ends with one of these successes."""
        node, left = place.node, set(results)
        for candidate in node.then:
            taken = {result for result in left if candidate.takes(result, False)}
            held = place.scope.settled(candidate.when) if candidate.when else True
            if not taken or held is False:
                continue
            if candidate.go:
                yield from self._from(_Place.of(place.scope.copy(), candidate.go, place.outer))
            else:
                yield from self._outside(place, candidate.end)
            if held:
                left -= taken
        if not node.then:
            yield from self._outside(place, DONE)

    def _outside(self, place: _Place, result: str) -> Iterator[Foreseen]:
        """What may follow the end of the place's graph."""
        if place.outer is not None and not place.scope.graph.results[result]:
            yield from self.after(place.outer, (result,))

    def _from(self, place: _Place) -> Iterator[Foreseen]:
        """What may be started from a node on."""
        self._left -= 1
        if self._left < 0:
            return
        call, scope = place.node.call, place.scope
        try:
            if call.kind == Kind.GRAPH:
                graph, parts = self._graphs[call.skill], {role: scope.part(part) for role, part in call.parts.items()}
                inner = Scope(graph, scope.arguments(call), parts)
                following = self._from(_Place.of(inner, graph.start, place))
            elif skills := self._skills(place):
                following = iter(skills)
            else:
                if call.kind == Kind.SET:
                    scope.set(call.arguments)
                following = self.after(place, _successes(call.results))
        except DefinitionError:  # it needs an output that nobody has given yet
            return
        yield from following

    def _skills(self, place: _Place) -> list[Foreseen]:
        """The skills that a node or its branches start."""
        scope = place.scope
        return [
            Foreseen(
                skill=call.skill,
                arguments=scope.arguments(call),
                parts={role: scope.part(part) for role, part in call.parts.items()},
                until=scope.condition(call.until) if call.until else "",
            )
            for call in place.node.call.inner()
            if call.kind == Kind.LEAF and call.skill != _SAY
        ]


def _successes(results: Results) -> list[str]:
    return [result for result, failure in results.items() if not failure]
