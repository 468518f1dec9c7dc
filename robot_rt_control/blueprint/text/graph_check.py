"""What only a whole graph shows: unreachable nodes, outputs without value, loops without time, conditions (N6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

from robot_rt_control.blueprint.graph.plan import ONLY, Call, Candidate, Graph, Kind, Node
from robot_rt_control.blueprint.graph.results import STANDARD, SUCCESS
from robot_rt_control.blueprint.graph.scope import COUNT
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.graph_reader import GraphReader
from robot_rt_control.blueprint.text.node_kinds import branches_in, kinds_in
from robot_rt_control.blueprint.text.schema import CallKeys
from robot_rt_control.conditions.compiler import check_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.program.expression import references
from robot_rt_control.validation.edges import Found
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Names = frozenset[str]


class GraphCheck:
    """The mistakes and warnings of one graph whose single items are readable.

    Args:
        graph: as the reader made it.
        calls: of all skills that it calls.
    """

    def __init__(self, reader: GraphReader, graph: Graph, calls: Calls) -> None:
        self._reader, self._graph, self._calls = reader, graph, calls
        self._catalogue: SkillCatalogue = reader.catalogue
        self._scope = reader.state.names

    def find_mistakes(self) -> Found:
        yield from self._find_unreachable()
        yield from self._find_missing_outputs()
        yield from self._find_instant_loops()
        yield from self.find_in_conditions()
        yield from self._find_shared_parts()

    def warnings(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What is valid, but probably not intended."""
        for node in self._graph.nodes.values():
            taken = {r for r, bad in node.call.results.items() for c in node.then if c.takes(r, bad)}
            for result, failure in node.call.results.items():
                if failure and result not in STANDARD and result not in taken and node.id != ONLY:
                    text = f"node {node.id!r}: nobody takes its failure {result!r}; it ends the graph as failed"
                    yield self._reader.place(node.id), text
        for index, reaction in enumerate(self._graph.reactions):
            back = self._back_without_time(reaction.go)
            if back:
                text = f"reaction {reaction.when!r}: its node {reaction.go!r} takes no time, so the condition still"
                yield ("reactions", index), f"{text} holds when the graph goes on at {back!r}"
        declared = {p.name for p in self._reader.template.parameters}
        used = self._reader.substitution.used | {n for c in self._conditions() for n in references(c[0])}
        outputs = {n for given in self._graph.outputs.values() for n in given.references}
        for name in sorted(declared - used - outputs):
            yield ("parameters", name), f"parameter {name!r} is not used"

    def _back_without_time(self, go: str) -> str:
        """The node of the graph's usual ways to which a reaction's node leads without anything that takes time."""
        nodes = self._graph.nodes
        usual = self._reached_from([self._graph.start])
        waiting, seen = [go], set[str]()
        while waiting:
            node = nodes.get(waiting.pop())
            if node is None or node.id in seen or not self._calls.may_be_instant(node.call):
                continue
            seen.add(node.id)
            waiting += [candidate.go for candidate in node.then if candidate.go]
            back = [candidate.go for candidate in node.then if candidate.go in usual]
            if back:
                return back[0]
        return ""

    # --- ways through the graph -----------------------------------------------------------------

    @cached_property
    def reached(self) -> frozenset[str]:
        """Nodes that candidates and reactions lead to, and those for jumps."""
        graph = self._graph
        begins = [graph.start, *(n.id for n in graph.nodes.values() if n.manual)]
        return self._reached_from([*begins, *(reaction.go for reaction in graph.reactions)])

    def _reached_from(self, begins: Sequence[str]) -> frozenset[str]:
        """Nodes to which candidates lead from these, themselves included."""
        graph = self._graph
        found: set[str] = set()
        waiting = [*begins]
        while waiting:
            id = waiting.pop()
            if id in graph.nodes and id not in found:
                found.add(id)
                waiting += [candidate.go for candidate in graph.nodes[id].then if candidate.go]
        return frozenset(found)

    def _find_unreachable(self) -> Found:
        for id in self._graph.nodes:
            if id not in self.reached:
                yield (
                    DefinitionError(
                        f"node {id!r} cannot be reached",
                        expected="a candidate or reaction that leads to it",
                        got="none",
                        hint="If a person jumps to it, write manual: true",
                    ),
                    self._reader.place(id),
                )

    def gives(self, call: Call, key: tuple[str, ...], result: str) -> Names:
        """The outputs that surely have a value when a call ended with this result."""
        skill = self._reader.called.get(key)
        if skill is not None:
            return skill.given.get(result, frozenset())
        found: set[str] = set()
        for name, branch in call.branches.items():
            if (call.kind == Kind.ALL_OF and result == "done") or (call.kind == Kind.FIRST_OF and result == name):
                common = [self.gives(branch, (*key, name), r) for r, bad in branch.results.items() if not bad]
                surely = frozenset.intersection(*common) if common else frozenset()
                found |= {f"{name}.{output}" for output in surely}
        return frozenset(found)

    @cached_property
    def available(self) -> Mapping[str, Names]:
        """Node → outputs that surely have a value when it starts, as "node.output"."""
        graph = self._graph
        names = [f"{id}.{output}" for id, node in graph.nodes.items() for output in node.call.outputs]
        bits = {name: 1 << index for index, name in enumerate(names)}  # a set of names is one number
        everything, leading = (1 << len(names)) - 1, self._leading(bits)
        found = dict.fromkeys(graph.nodes, everything)
        first = [id for id in [graph.start, *(n.id for n in graph.nodes.values() if n.manual)] if id in found]
        found.update(dict.fromkeys(first, 0))
        waiting = [*sorted(self.reached), *first]
        while waiting:
            id = waiting.pop()
            for target, lost, given in leading[id]:
                there = found[target] & (found[id] & ~lost | given)
                if there != found[target]:
                    found[target] = there
                    waiting.append(target)
        return {
            id: frozenset(name for name in self._named(id) if name in bits and bits[name] & found[id])
            for id in graph.nodes
        }

    def _named(self, id: str) -> Names:
        """The outputs that are needed when the node starts, or at an end of the graph after it."""
        at_end = (given.references for given in self._graph.outputs.values())
        return self._graph.nodes[id].references.union(*at_end)

    def _leading(self, bits: Mapping[str, int]) -> dict[str, list[tuple[str, int, int]]]:
        """Node → where it leads, the outputs that are lost on the way, and those that are given. A reaction can come
        before the node's end."""
        found: dict[str, list[tuple[str, int, int]]] = {}
        for node in self._graph.nodes.values():
            own = sum(bits[f"{node.id}.{output}"] for output in node.call.outputs)
            ways = [(c.go, self._given_to(node, c.on)) for c in node.then if c.go in self._graph.nodes]
            ways += [(reaction.go, frozenset()) for reaction in self._graph.reactions]
            found[node.id] = [(go, own, sum(bits[name] for name in given)) for go, given in ways]
        return found

    def _given_to(self, node: Node, on: Iterable[str]) -> Names:
        """The outputs of a node that surely have a value with any of these results."""
        taking = Candidate(on=tuple(on))
        sets = [
            self.gives(node.call, (node.id,), result)
            for result, failure in node.call.results.items()
            if taking.takes(result, failure)
        ]
        common = frozenset.intersection(*sets) if sets else frozenset()
        return frozenset(f"{node.id}.{output}" for output in common)

    def _find_missing_outputs(self) -> Found:
        graph = self._graph
        known = {f"{id}.{output}" for id, node in graph.nodes.items() for output in node.call.outputs}
        for node in graph.nodes.values():
            for name in sorted(node.references):
                if name in known and name not in self.available[node.id]:
                    yield _no_value(f"node {node.id!r}", name), self._reader.place(node.id)
            for index, candidate in enumerate(node.then):
                if not candidate.end or graph.results.get(candidate.end, True):
                    continue
                there = _without(self.available[node.id], node.id) | self._given_to(node, candidate.on)
                yield from self._missing_at_end(there, node.id, (*self._reader.place(node.id), "then", index))
            if not node.then:
                there = _without(self.available[node.id], node.id) | self._given_to(node, (SUCCESS,))
                yield from self._missing_at_end(there, node.id, self._reader.place(node.id))
        for name, given in graph.outputs.items():
            for reference in sorted(given.references):
                names = {*known, *(p.name for p in graph.parameters), *graph.values, *graph.state}
                if reference not in names:
                    error = DefinitionError(
                        f"output {name!r}: unknown ${reference}", expected=unknown("output", reference, names)
                    )
                    yield error, ("outputs", name)

    def _missing_at_end(self, there: Names, node: str, path: tuple[str | int, ...]) -> Found:
        """Outputs of the graph that may have no value at this end."""
        if node == ONLY:
            return
        for name, given in self._graph.outputs.items():
            for reference in sorted(given.references):
                if "." in reference and reference not in there and reference not in self._graph.state:
                    yield _no_value(f"node {node!r}: the end of the graph, for its output {name!r}", reference), path

    def _find_instant_loops(self) -> Found:
        nodes = {id: node for id, node in self._graph.nodes.items() if self._calls.may_be_instant(node.call)}
        for id in nodes:
            chain = _loop(id, {n: [c.go for c in node.then if c.go in nodes] for n, node in nodes.items()})
            if chain and id == min(chain):
                shown = " → ".join([*chain, chain[0]])
                error = DefinitionError(
                    f"nothing in this loop takes time: {shown}", expected="a node that waits, asks or moves"
                )
                yield error, self._reader.place(id)

    # --- conditions and parts -------------------------------------------------------------------

    def _conditions(self) -> Iterator[tuple[str, str, tuple[str | int, ...], str]]:
        """Text, name for messages, place, and action type whose variables have bare names, of each condition."""
        content = self._reader.template.content
        if content.is_ is not None:
            yield from self._untils(content.is_, (ONLY,), ("is",))
        for id, node in content.nodes.items():
            path = ("nodes", id)
            yield from self._untils(node, (id,), path)
            for index, candidate in enumerate(node.then):
                if candidate.when:
                    key = "when" if len(node.then) == 1 else f"then[{index}].when"
                    yield candidate.when, f"node {id!r}: {key}", (*path, "then", index, "when"), ""
        for index, reaction in enumerate(content.reactions):
            yield reaction.when, f"reaction {index}: when", ("reactions", index, "when"), ""
        for index, command in enumerate(content.commands):
            if command.when:
                yield command.when, f"command {index}: when", ("commands", index, "when"), ""

    def _untils(
        self, written: CallKeys, key: tuple[str, ...], path: tuple[str | int, ...]
    ) -> Iterator[tuple[str, str, tuple[str | int, ...], str]]:
        """The conditions of a call and of its branches."""
        of = f"node {'/'.join(key)!r}"
        for kind, condition in kinds_in(written):
            if kind.fields[0].form == "condition":
                yield condition, f"{of}: {kind.name}", (*path, kind.name), ""
        skill = self._reader.called.get(key)
        if written.until and written.skill and skill is not None and isinstance(skill.template, DeclaredType):
            yield written.until, f"{of}: until", (*path, "until"), f"type {written.skill}"
        for kind, branches in branches_in(written):
            for name, branch in branches.items():
                yield from self._untils(branch, (*key, name), (*path, kind.name, name))

    def find_in_conditions(self) -> Found:
        """Mistakes of conditions. They can be found although nodes have mistakes: what an unknown skill gives is not
        judged."""
        for text, of, path, owner in self._conditions():
            if any(self._reader.is_of_unknown_skill(name) for name in references(text)):
                continue
            try:
                self._reader.state.refuse_unknown(text, of)
                filled = self._reader.substitution.condition(text, of)
                check_condition(filled, partial(self._resolve, owner), known=partial(self._known, owner), of=of)
            except DefinitionError as mistake:
                yield mistake, path
            for name in sorted(references(text)) if path[0] == "commands" else ():
                yield DefinitionError(f"{of}: ${name} has no value before the start", expected="state variables"), path
            for name in sorted(references(text)) if path[0] == "reactions" else ():
                if name in self._reader.state.samples:
                    error = DefinitionError(
                        f"{of}: ${name}", expected=f"{name} without the dollar: it is judged in every tick"
                    )
                    yield error, path
                elif "." in name:
                    error = DefinitionError(
                        f"{of}: ${name} may have no value yet", expected="parameters and state variables"
                    )
                    yield error, path

    def _resolve(self, owner: str, name: str) -> VariableRef | None:
        node = name.removesuffix(COUNT)
        if node != name and node in self._reader.template.content.nodes:
            return VariableRef(0, "int")
        return self._scope.resolve(name, owner)

    def _known(self, owner: str) -> list[str]:
        of_types = (name for name in self._scope.known(owner) if not name.startswith("type "))
        return [*(f"{id}{COUNT}" for id in self._reader.template.content.nodes), *of_types]

    def _find_shared_parts(self) -> Found:
        for node in self._graph.nodes.values():
            yield from self._find_shared(node.call, (node.id,), self._reader.place(node.id))

    def _find_shared(self, call: Call, key: tuple[str, ...], path: tuple[str | int, ...]) -> Found:
        holder: dict[str, str] = {}
        for name, branch in call.branches.items():
            place = (*path, call.kind.value, name)
            for part in sorted(self._calls.moved(branch)):
                if part in holder:
                    error = DefinitionError(
                        f"node {'/'.join(key)!r}: branches {holder[part]!r} and {name!r} both move {part!r}",
                        expected="branches that share no part",
                    )
                    yield error, place
                holder[part] = name
            yield from self._find_shared(branch, (*key, name), place)


def _without(names: Names, node: str) -> Names:
    return frozenset(name for name in names if not name.startswith(f"{node}."))


def _no_value(of: str, name: str) -> DefinitionError:
    return DefinitionError(
        f"{of}: ${name} may have no value yet",
        expected="an output that every way to here has given",
        hint="Lead only results that give it to here",
    )


def _loop(start: str, leads: Mapping[str, list[str]]) -> list[str]:
    """A way from a node back to itself; empty: there is none."""
    before: dict[str, str] = {}
    waiting = [start]
    while waiting:
        id = waiting.pop(0)
        for target in leads[id]:
            if target == start:
                way = [id]
                while way[0] != start:
                    way.insert(0, before[way[0]])
                return way
            if target not in before:
                before[target] = id
                waiting.append(target)
    return []
