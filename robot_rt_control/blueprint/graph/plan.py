"""What the engine executes: graphs of nodes whose skills are found, checked and pinned to versions.

`catalogue.py` makes a plan from texts. A plan is plain data; expressions and conditions in it are still texts, because
they are computed when a node starts or ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from robot_rt_control.blueprint.graph.results import ANY, FAILURE, STANDARD, SUCCESS, Results
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.parameter_value import Scalar, Value
from robot_rt_control.program.expression import references
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Path = tuple[str, ...]
"""Nodes from the outermost graph inwards: ("drinks", "open_bottle"); of a branch also its name."""


ONLY = "only"
"""The node of a skill that is made of one call (`is`). In paths of its callers it is not seen."""


class Kind(Enum):
    """What a call does."""

    LEAF = "leaf"
    """A skill that something else performs: a program, an action, a text to say."""
    GRAPH = "graph"
    ALL_OF = "all_of"
    FIRST_OF = "first_of"
    WAIT = "wait"
    WAIT_UNTIL = "wait_until"
    ASK = "ask"
    SET = "set"
    LOG = "log"

    @property
    def takes_time(self) -> bool:
        """Whether it lets ticks pass by itself; of a graph and of branches, what they contain decides."""
        return self in (Kind.LEAF, Kind.WAIT, Kind.WAIT_UNTIL, Kind.ASK)


@dataclass(frozen=True, kw_only=True)
class Given:
    """An argument as written."""

    value: Scalar | str | tuple[Scalar | str, ...]
    """A text with a dollar is computed."""
    unit: str = ""

    @property
    def references(self) -> frozenset[str]:
        """Names of parameters, values and outputs in it: "speed", "seat.wish"."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        return frozenset().union(*(references(v) for v in values if isinstance(v, str)))


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a node, or a branch of one, does.

    Args:
        skill: name with version, of a leaf and a graph.
        arguments: of a leaf and a graph by parameter; of `set` by value; `text` of `ask` and `log`, `time` of `wait`.
        parts: role of the skill → part, or role of the graph that calls it.
        until: the condition that ends a `wait_until`, or an action.
        answers: of `ask`.
        titles: answer → how people see it, if otherwise.
        results: all of them, the standard ones included.
        outputs: names of those that it can give.
    """

    kind: Kind
    skill: str = ""
    arguments: Mapping[str, Given] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    branches: Mapping[str, Call] = field(default_factory=dict)
    until: str = ""
    answers: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    results: Results = field(default_factory=lambda: STANDARD)
    outputs: tuple[str, ...] = ()

    @property
    def references(self) -> frozenset[str]:
        """Names that its arguments need, those of its branches included."""
        own = (given.references for given in self.arguments.values())
        return references(self.until).union(*own, *(branch.references for branch in self.branches.values()))

    def inner(self) -> Iterator[Call]:
        """Itself and the calls of its branches, at any depth."""
        yield self
        for branch in self.branches.values():
            yield from branch.inner()


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """What may follow a node: another node, or the graph's end with a result."""

    on: tuple[str, ...] = (SUCCESS,)
    when: str = ""
    go: str = ""
    end: str = ""
    """A result of the graph; empty: `go` says what follows."""

    def takes(self, result: str, failure: bool) -> bool:
        """Whether it can follow this result, whatever its condition says."""
        return bool({ANY, result, FAILURE if failure else SUCCESS} & set(self.on))


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node of a graph."""

    id: str
    call: Call
    title: str = ""
    """How people see its name; empty: as its id."""
    retry: int = 0
    repeat: int = 0
    timeout: Given | None = None
    """[s]"""
    manual: bool = False
    """It is reached by a jump."""
    then: tuple[Candidate, ...] = ()

    @property
    def references(self) -> frozenset[str]:
        """Names that must have a value for it to start."""
        return self.call.references | (self.timeout.references if self.timeout else frozenset())


@dataclass(frozen=True, kw_only=True)
class GraphReaction:
    """A condition that leads to a node from any node of the graph."""

    when: str
    go: str
    once: bool
    """It cancels the present node; else it waits for its end."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A skill made of nodes.

    Args:
        parameters: their defaults and limits are checked at each call.
        values: name → first value, with its unit.
        outputs: name → what is computed when the graph ends, as far as it has a value.
        state: names among its references that are state variables → a sample of their type and length.
        results: all of them.
        title: how people see its name; empty: as it is.
    """

    name: str
    start: str
    nodes: Mapping[str, Node]
    title: str = ""
    parameters: Sequence[Parameter] = ()
    values: Mapping[str, Given] = field(default_factory=dict)
    reactions: tuple[GraphReaction, ...] = ()
    outputs: Mapping[str, Given] = field(default_factory=dict)
    state: Mapping[str, Value] = field(default_factory=dict)
    results: Results = field(default_factory=lambda: STANDARD)

    def needs(self, node: Node) -> list[str]:
        """Names of parameters, values and outputs that must have a value for one of its nodes to start."""
        return sorted(node.references - self.state.keys())


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A graph with all that it calls."""

    root: str
    graphs: Mapping[str, Graph]
    """By name with version."""

    def find(self, path: Sequence[str]) -> list[tuple[Graph, Node]]:
        """The nodes of a path, outermost first, each with its graph.

        Raises:
            DefinitionError: there is no such node, or it is in a parallel branch.
        """
        graph, found, shown = self.graphs[self.root], list[tuple[Graph, Node]](), shown_path(path)
        for step, id in enumerate(path):
            if id not in graph.nodes:
                raise DefinitionError(
                    f"unknown node {shown!r}", expected=unknown("node", id, graph.nodes), got=repr(id)
                )
            node = graph.nodes[id]
            found.append((graph, node))
            if step + 1 == len(path):
                return found
            if node.call.branches:
                raise DefinitionError(
                    f"node {shown!r} is in a parallel branch",
                    expected=f"a node outside of it, such as {shown_path(path[: step + 1])!r}",
                )
            if node.call.kind != Kind.GRAPH:
                raise DefinitionError(
                    f"unknown node {shown!r}",
                    expected=f"at most {shown_path(path[: step + 1])!r}, which calls no graph",
                )
            graph = self.graphs[node.call.skill]
        raise DefinitionError("no node is named", expected="a node such as 'seat' or 'drinks/open_bottle'")


def shown_path(path: Sequence[str]) -> str:
    """As people write it: "drinks/open_bottle"."""
    return "/".join(_without_only(path))


def read_path(text: str) -> Path:
    """The path that a person wrote; with or without the nodes `only`."""
    return _without_only(re.split(r"\s*/\s*", text.strip())) if text.strip() else ()


def _without_only(path: Sequence[str]) -> Path:
    return (*path[:1], *(node for node in path[1:] if node != ONLY))
