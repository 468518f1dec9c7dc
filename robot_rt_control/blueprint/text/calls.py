"""What skills call, through all levels: plans, parts that are moved, loops of calls, ways that take no time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as field_of

from robot_rt_control.blueprint.graph.plan import ONLY, Call, Graph, Kind, Plan
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.graph_reader import GraphReader
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.vocabulary.capacities import MAX_CALL_DEPTH
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

MAX_EXPANDED = 10_000
"""Skills of one expansion."""


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """A skill with all that it calls, down to capabilities (N7).

    Args:
        label: the node, branch or action that calls it; empty: the outermost, or the only call of another.
    """

    label: str
    skill: str
    level: str
    calls: tuple[Expanded, ...] = field_of(default=())

    def lines(self, indent: str = "") -> Iterator[str]:
        """As text, one line for each skill."""
        label = f"{self.label}: " if self.label else ""
        yield f"{indent}{label}{self.skill} ({self.level})"
        for call in self.calls:
            yield from call.lines(indent + "  ")


class Calls:
    """The calls of all skills of a catalogue."""

    def __init__(self, catalogue: SkillCatalogue) -> None:
        self.catalogue = catalogue
        self._graphs: dict[str, Graph] = {}
        self._instant: dict[str, bool] = {}
        self._moved: dict[str, frozenset[str]] = {}

    def graph(self, name: str) -> Graph:
        """The readable part of a skill that is a graph.

        Raises:
            DefinitionError: there is none of this name, or it is no graph.
        """
        if name not in self._graphs:
            template = self.catalogue.find(name).template
            if not isinstance(template, SkillTemplate):
                raise DefinitionError(f"skill {name!r}", expected="a skill made of nodes", got="another one")
            self._graphs[name] = GraphReader(template, self.catalogue, reference=name).graph()
        return self._graphs[name]

    def plan(self, name: str) -> Plan:
        """The plan of a graph whose calls are checked.

        Raises:
            DefinitionError: as `graph`.
        """
        graphs: dict[str, Graph] = {}
        waiting = [name]
        while waiting:
            reference = waiting.pop()
            if reference not in graphs:
                graphs[reference] = self.graph(reference)
                waiting += [call.skill for call in self._of(reference) if call.kind == Kind.GRAPH]
        return Plan(root=name, graphs=graphs)

    def _of(self, name: str) -> Iterator[Call]:
        """The calls of a graph's nodes, those of branches included."""
        for node in self.graph(name).nodes.values():
            yield from node.call.inner()

    def find_loop(self, name: str, calls: Sequence[str]) -> DefinitionError | None:
        """A mistake if one of the skills that this one calls leads back to it, or is too deep.

        Args:
            calls: the skills that it calls.
        """
        done: set[tuple[str, int]] = set()
        waiting: list[tuple[str, tuple[str, ...]]] = [(call, (name, call)) for call in calls]
        while waiting:
            reference, chain = waiting.pop()
            shown = " → ".join(chain)
            if reference in chain[:-1]:
                return DefinitionError(f"skill {reference!r} calls itself: {shown}", expected="calls without a loop")
            if len(chain) > MAX_CALL_DEPTH:
                return CapacityError(
                    "skills call each other too deeply",
                    expected=f"at most {MAX_CALL_DEPTH} levels of calls (MAX_CALL_DEPTH)",
                    got=shown,
                )
            if (reference, len(chain)) in done:
                continue
            done.add((reference, len(chain)))
            try:
                inner = [call.skill for call in self._of(reference) if call.kind == Kind.GRAPH]
            except DefinitionError:
                continue
            waiting += [(call, (*chain, call)) for call in dict.fromkeys(inner)]
        return None

    def moved(self, call: Call) -> frozenset[str]:
        """The parts, or roles of the calling graph, that a call moves, through all that it calls."""
        if call.branches:
            return frozenset().union(*(self.moved(branch) for branch in call.branches.values()))
        if call.kind not in (Kind.LEAF, Kind.GRAPH):
            return frozenset()
        try:
            names = self.moved_parts(call.skill) if call.kind == Kind.GRAPH else self.catalogue.find(call.skill).moves
        except DefinitionError:  # reported with the call; or `say`
            return frozenset()
        return frozenset(call.parts.get(name, name) for name in names)

    def moved_parts(self, name: str) -> frozenset[str]:
        """The parts, or roles, that a graph moves.

        Raises:
            DefinitionError: as `graph`.
        """
        if name not in self._moved:
            self._moved[name] = frozenset()  # of calls in a circle, which are mistakes
            self._moved[name] = frozenset().union(*(self.moved(call) for call in self._of(name)))
        return self._moved[name]

    def may_be_instant(self, call: Call) -> bool:
        """Whether a call may end in the tick in which it starts."""
        if call.kind == Kind.GRAPH:
            return self.is_instant(call.skill)
        if call.kind == Kind.FIRST_OF:
            return any(map(self.may_be_instant, call.branches.values()))
        if call.kind == Kind.ALL_OF:
            return all(map(self.may_be_instant, call.branches.values()))
        return not call.kind.takes_time

    def is_instant(self, name: str) -> bool:
        """Whether a graph may end in the tick in which it starts."""
        if name not in self._instant:
            self._instant[name] = False  # of calls in a circle, which are mistakes
            try:
                self._instant[name] = self._has_instant_way(self.graph(name))
            except DefinitionError:
                return False
        return self._instant[name]

    def _has_instant_way(self, graph: Graph) -> bool:
        seen: set[str] = set()
        waiting = [graph.start]
        while waiting:
            id = waiting.pop()
            node = graph.nodes.get(id)
            if node is None or id in seen or not self.may_be_instant(node.call):
                continue
            seen.add(id)
            if not node.then or any(candidate.end for candidate in node.then):
                return True
            waiting += [candidate.go for candidate in node.then]
        return False

    def expand(self, name: str) -> Expanded:
        """A skill with all that it calls.

        Raises:
            DefinitionError: unknown, or calls in a circle.
            CapacityError: more than MAX_EXPANDED skills.
        """
        self._expansions = 0
        return self._expanded("", name, ())

    def _expanded(self, label: str, name: str, chain: tuple[str, ...]) -> Expanded:
        if name in chain:
            raise DefinitionError(f"skill {name!r} calls itself: {' → '.join((*chain, name))}")
        self._expansions += 1
        if self._expansions > MAX_EXPANDED:
            raise CapacityError(
                f"skill {(*chain, name)[0]!r} calls too much to be shown as a whole",
                expected=f"at most {MAX_EXPANDED} skills (MAX_EXPANDED)",
                got="more",
            )
        skill = self.catalogue.find(name)
        chain = (*chain, name)
        found: list[Expanded] = []
        if isinstance(skill.template, ProgramTemplate):
            types = {a.id: a.type for a in skill.template.sample().draft.actions}
            found = [Expanded(label=id, skill=type, level="capability") for id, type in types.items()]
        elif not isinstance(skill.template, DeclaredType):
            for node in self.graph(name).nodes.values():
                found += self._expanded_call("" if node.id == ONLY else node.id, node.call, chain)
        return Expanded(label=label, skill=name, level=skill.level, calls=tuple(found))

    def _expanded_call(self, label: str, call: Call, chain: tuple[str, ...]) -> list[Expanded]:
        if call.branches:
            return [e for name, c in call.branches.items() for e in self._expanded_call(f"{label}/{name}", c, chain)]
        if call.skill == chain[-1] and call.kind == Kind.LEAF:  # made of ROS or Python
            return []
        if call.kind in (Kind.LEAF, Kind.GRAPH) and call.skill != "say":
            return [self._expanded(label, call.skill, chain)]
        return [Expanded(label=label, skill=call.skill or call.kind.value, level="built in")]
