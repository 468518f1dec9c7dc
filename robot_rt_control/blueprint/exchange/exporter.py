"""Makes behavior trees (BehaviorTree.CPP, version 4) of blueprints that have the shape of one.

That is: from each node one way leads on after success and one after failure, without reactions or loops through several
nodes. A node that only judges a condition is the leaf `holds`, values are entries that SetBlackboard writes, and
`first_of` with a `wait_until` is a reactive element. Other conditions, results with names, and what is computed cannot
be held. All of this is refused with its line. A skill that is called and has this shape becomes a tree of its own, with
a model of its ports; each other one is a leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from robot_rt_control.blueprint.exchange.decomposition import Decomposition
from robot_rt_control.blueprint.exchange.expressions import FAILURES
from robot_rt_control.blueprint.exchange.node_models import default_text, node_models
from robot_rt_control.blueprint.exchange.ports import (
    BUILT_IN,
    PARTS,
    UNTIL,
    own_ports,
    port_name,
    reference_of,
    written_value,
)
from robot_rt_control.blueprint.exchange.reactive import CONDITION, HOLDS, judges
from robot_rt_control.blueprint.exchange.written_xml import Xml, merged, series
from robot_rt_control.blueprint.graph.plan import Call, Candidate, Given, Graph, Kind, Node
from robot_rt_control.blueprint.graph.results import DONE, FAILED, STANDARD
from robot_rt_control.blueprint.text.calls import Calls
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError

_OK, _BAD = "=done", "=failed"
"""Ends, among ids of nodes."""
_NONE = "=none"
"""In place of the node that counts failures, in a branch that cannot fail."""


def export_trees(name: str, catalogue: SkillCatalogue) -> str:
    """A file with the tree of a skill, those that it calls, and a model of its leaves.

    Args:
        name: of a skill made of nodes, which has been checked.

    Raises:
        DefinitionError, ProgramError: it does not have the shape of a tree; each reason with its line.
        CapacityError: its tree has more than MAX_NODES_OF_A_TREE nodes.
    """
    exporter = _Exporter(catalogue)
    exporter.tree(name)
    leaves = sorted(exporter.leaves)
    root = Xml("root", {"BTCPP_format": "4", "main_tree_to_execute": name}, [*reversed(exporter.trees.values())])
    skills = [catalogue.find(leaf) for leaf in leaves if leaf not in (*BUILT_IN, HOLDS)]
    model = node_models(skills, leaves, [catalogue.find(tree) for tree in reversed(exporter.trees)])
    return _document([*root.lines()], model)


def export_models(catalogue: SkillCatalogue) -> str:
    """A file with a model of all skills, so that an editor for behavior trees knows them."""
    skills = [skill for skill in catalogue.all() if not skill.problem]
    return _document(['<root BTCPP_format="4">', "</root>"], node_models(skills, [*sorted(BUILT_IN), HOLDS]))


def _document(lines: list[str], model: list[str]) -> str:
    inner = [f"  {line}" for line in model]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *lines[:-1], *inner, lines[-1], ""])


class _Exporter:
    def __init__(self, catalogue: SkillCatalogue) -> None:
        self.catalogue, self.calls = catalogue, Calls(catalogue)
        self.trees: dict[str, Xml] = {}
        self.leaves: set[str] = set()
        self._open: list[str] = []

    def tree(self, name: str) -> None:
        """Add the tree of a skill, and of those that it calls. Raises as `export_trees`."""
        template = self.catalogue.find(name).template
        if not isinstance(template, SkillTemplate):
            raise DefinitionError(f"skill {name!r}", expected="a skill made of nodes", got="another one")
        if name in self._open:
            raise DefinitionError(f"skill {name!r} calls itself")
        self._open.append(name)
        leaves, trees = set(self.leaves), dict(self.trees)
        try:
            made = _Tree(self, template, self.calls.graph(name)).made()
        except DefinitionError:
            self.leaves, self.trees = leaves, trees
            raise
        finally:
            self._open.remove(name)
        self.trees[name] = Xml("BehaviorTree", {"ID": name}, [made])

    def has_tree(self, name: str) -> bool:
        """Whether a called skill becomes a tree."""
        if name in self.trees:
            return True
        if "@" in name or not isinstance(self.catalogue.find(name).template, SkillTemplate):
            return False
        try:
            self.tree(name)
        except DefinitionError:
            return False
        return True


class _Tree:
    """The tree of one graph.

    Args:
        given: parameter → what its ports say; for a part that is written within another tree.
        prefix: of the entries that its nodes write.
    """

    def __init__(
        self,
        exporter: _Exporter,
        template: SkillTemplate,
        graph: Graph,
        given: Mapping[str, str] | None = None,
        prefix: str = "",
    ) -> None:
        self.exporter, self.template, self.graph, self.prefix = exporter, template, graph, prefix
        self.given = {p.name: f"{{{p.name}}}" for p in graph.parameters} if given is None else given
        self.mistakes = Mistakes()
        self.entries: dict[str, str] = {}
        """Output of a node ("seat.wish") → the entry that it is written to."""
        self.values = {name: f"{prefix}{name}".replace(".", "__") for name in graph.values if name != FAILURES}
        """Value of the graph → the entry that it is."""
        self.elements: dict[str, Xml] = {}
        self.guard_succeeds: dict[str, bool] = {}
        """`first_of` with a guard → whether it succeeds when the guard ends first."""
        self.next: dict[str, tuple[str | None, str | None]] = {}
        """Node → what follows success, and failure; None: it does not end so."""

    def made(self) -> Xml:
        """The outermost element. Raises as `export_trees`."""
        content = self.template.content
        for key in ("reactions", "roles", "results"):
            if getattr(content, key):
                self._refuse(f"{key} of a blueprint", (key,))
        for name, given in self.graph.outputs.items():
            reference = reference_of(given)
            if self.values.get(reference) == reference and name not in {**self.given, **self.values}:
                self.values[reference] = name
                continue
            if "." not in reference or reference in self.entries:
                if reference in self.values and self.values[reference] == name:
                    continue
                self._refuse(f"output {name!r}", ("outputs", name), "an output of one node, such as $seat.wish")
            self.entries[reference] = name
        return self._made(_BAD)

    def branch(self) -> Xml:
        """The same of a branch of ParallelAll, whose failures are counted."""
        return self._made(self._counting() or _NONE)

    def _made(self, failed: str) -> Xml:
        referenced = [name for node in self.graph.nodes.values() for name in node.references if "." in name]
        for name in referenced:
            self.entries.setdefault(name, f"{self.prefix}{name}".replace(".", "__"))
        for id, node in self.graph.nodes.items():
            if id != failed:
                with self.mistakes.collect(self.template.places, *self._place(id)):
                    self.next[id] = self._ways(node, failed)
                    self.elements[id] = self._element(node)
        self.mistakes.raise_all()
        self._find_loops()
        self.mistakes.raise_all()
        ways = Decomposition(self.graph.name, self.next, self.elements)
        found = merged(ways.made(self.graph.start, _OK, _BAD))
        self._find_doubled(found)
        first = []
        for value in self.template.values:
            if value.name in self.values:
                with self.mistakes.collect(self.template.places, "values", value.name):
                    first.append(self._set(value.name, Given(value=self.graph.values[value.name].value)))
        self.mistakes.raise_all()
        for element in reversed(first):
            found = series("Sequence", element, found)
        return found

    def _place(self, id: str) -> tuple[str, ...]:
        return ("is",) if self.template.content.is_ is not None else ("nodes", id)

    def _refuse(self, what: str, path: tuple[str, ...], expected: str = "none: a behavior tree cannot hold it") -> None:
        with self.mistakes.collect(self.template.places, *path):
            raise DefinitionError(what, expected=expected)

    # --- ways -----------------------------------------------------------------------------------

    def _ways(self, node: Node, failed: str) -> tuple[str | None, str | None]:
        """What follows success, and failure."""
        then = node.then
        if judges(node):
            yes, no = (self._target(candidate, failed) for candidate in then)
            return yes, no
        if node.call.kind == Kind.ALL_OF and then:
            self._check_counting(node)
            then = (type(then[0])(go=then[0].go, end=then[0].end), *then[1:])
        found: dict[bool, set[str]] = {False: set(), True: set()}
        gives = any(reference.startswith(f"{node.id}.") for reference in self.entries)
        named = any(not bad for result, bad in node.call.results.items() if result not in STANDARD)
        guard = self._guard(node)
        for result, failure in node.call.results.items():
            if result == DONE and ((gives and named) or guard):
                continue  # it has none of the outputs that are used, or is no result of it
            to = _BAD if failure or then else _OK
            for candidate in then:
                if candidate.when:
                    raise DefinitionError("a condition", expected="none: a behavior tree cannot hold it")
                if candidate.takes(result, failure):
                    to = candidate.go or (_OK if candidate.end == DONE else _BAD)
                    if candidate.end not in ("", DONE, FAILED):
                        raise DefinitionError(f"the end {candidate.end!r}", expected="done or failed")
                    break
            to = self._counted(to, failed)
            if result == guard:
                guarded = to
                continue
            found[failure].add(to)
        for failure, targets in found.items():
            if len(targets) > 1:
                word = "failures" if failure else "successes"
                raise DefinitionError(f"its {word} lead to different nodes", expected="one way for all of them")
        success, failing = next(iter(found[False]), None), next(iter(found[True]), None)
        if guard:
            if guarded not in (success, failing):
                expected = f"{guard!r} leads where success or failure leads"
                raise DefinitionError("the conditions lead to a node of their own", expected=expected)
            self.guard_succeeds[node.id] = guarded != failing
        return (None if success == node.id else success), (None if failing == node.id else failing)

    def _target(self, candidate: Candidate, failed: str) -> str:
        """Where a candidate leads."""
        if candidate.end not in ("", DONE, FAILED):
            raise DefinitionError(f"the end {candidate.end!r}", expected="done or failed")
        return self._counted(candidate.go or (_OK if candidate.end == DONE else _BAD), failed)

    def _counted(self, to: str, failed: str) -> str:
        """The same, with the node that counts a branch's failure as its failure."""
        if to == _BAD != failed:
            raise DefinitionError("a failure ends the other branches", expected=f"that it leads to {failed!r}")
        return _BAD if to == failed else to

    def _find_loops(self) -> None:
        """Loops through several nodes, and nodes that nothing leads to."""
        done: set[str] = set()
        path: list[tuple[str, Iterator[str]]] = []

        def enter(id: str) -> None:
            path.append((id, iter([to for to in self.next[id] if to in self.next])))

        enter(self.graph.start)
        while path:
            id, rest = path[-1]
            to = next(rest, None)
            if to is None:
                done.add(id)
                path.pop()
            elif any(to == other for other, _ in path):
                self._refuse(f"node {id!r} leads back to {to!r}", self._place(id))
            elif to not in done:
                enter(to)
        for id in self.next.keys() - done:
            self._refuse(f"node {id!r}: only a person's jump or a reaction leads to it", self._place(id))

    # --- nodes ----------------------------------------------------------------------------------

    def _element(self, node: Node) -> Xml:
        element = self._call(node)
        if node.retry and node.repeat:
            raise DefinitionError("retry and repeat in one node", expected="one of them")
        if node.call.kind == Kind.ALL_OF and (node.retry or node.repeat):
            raise DefinitionError("retry or repeat of branches side by side", expected="none")
        if node.timeout is not None:
            value = node.timeout.value
            milliseconds = value * 1000 if isinstance(value, int | float) else 0.5
            if milliseconds != round(milliseconds) or milliseconds < 1:
                raise DefinitionError("timeout", expected="whole milliseconds", got=repr(value))
            element = Xml("Timeout", {"msec": str(round(milliseconds))}, [element])
        if node.retry:
            element = Xml("RetryUntilSuccessful", {"num_attempts": str(node.retry + 1)}, [element])
        if node.repeat:
            element = Xml("Repeat", {"num_cycles": str(node.repeat + 1)}, [element])
        success, failure = self.next[node.id]
        if success is None and failure is None:
            raise DefinitionError("it never leads to another node", expected="a way out")
        if success is None:
            element = Xml("Repeat", {"num_cycles": "-1"}, [element])
        if failure is None:
            element = Xml("RetryUntilSuccessful", {"num_attempts": "-1"}, [element])
        return element

    def _call(self, node: Node) -> Xml:
        call = node.call
        match call.kind:
            case Kind.WAIT:
                value = call.arguments["time"].value
                milliseconds = value * 1000 if isinstance(value, int | float) else 0.5
                if milliseconds != round(milliseconds):
                    raise DefinitionError("wait", expected="whole milliseconds", got=repr(value))
                return Xml("Sleep", {"name": node.id, "msec": str(round(milliseconds))})
            case Kind.ALL_OF:
                return self._parallel(node)
            case Kind.SET if judges(node):
                (condition,) = (candidate.when for candidate in node.then if candidate.when)
                self.exporter.leaves.add(HOLDS)
                return Xml("Condition", {"ID": HOLDS, "name": node.id, CONDITION: _plain(condition)})
            case Kind.SET if call.arguments:
                return self._sets(node)
            case Kind.FIRST_OF if self._guard(node):
                return self._reactive(node)
            case Kind.LEAF if call.skill == "say":
                return self._built_in(node, "say", call.arguments["text"])
            case Kind.LOG:
                return self._built_in(node, "log", call.arguments["text"])
            case Kind.WAIT_UNTIL:
                self.exporter.leaves.add("wait_until")
                return Xml("Action", {"ID": "wait_until", "name": node.id, "condition": _plain(call.until)})
            case Kind.GRAPH if self.exporter.has_tree(call.skill):
                return self._ports(Xml("SubTree", {"ID": call.skill, "name": node.id}), node.id, call)
            case Kind.GRAPH | Kind.LEAF:
                self.exporter.leaves.add(call.skill)
                return self._ports(Xml("Action", {"ID": call.skill, "name": node.id}), node.id, call)
        raise DefinitionError(f"node {node.id!r}: {call.kind.value}", expected="a skill, wait, say, log or wait_until")

    def _built_in(self, node: Node, name: str, given: Given) -> Xml:
        self.exporter.leaves.add(name)
        text = self._value(given, Parameter(name=BUILT_IN[name], type="text"))
        return Xml("Action", {"ID": name, "name": node.id, BUILT_IN[name]: text})

    def _ports(self, element: Xml, id: str, call: Call) -> Xml:
        skill = self.exporter.catalogue.find(call.skill)
        for port in own_ports(skill):
            raise DefinitionError(f"skill {skill.name!r}: its {port!r} cannot be a port", expected="another name")
        parameters = {p.name: p for p in skill.parameters}
        for name, given in call.arguments.items():
            element.attributes[name] = self._value(given, parameters[name])
        is_tree = element.tag == "SubTree"
        for output in call.outputs:
            entry = self.entries.get(f"{id}.{output}")
            if entry is not None:
                element.attributes[port_name(output)] = f"{{{entry}}}"
        for name, parameter in parameters.items() if is_tree else ():
            if name not in call.arguments and parameter.default is not None and not default_text(parameter):
                # Its model cannot say this default: an empty text would be none.
                element.attributes[name] = written_value(Given(value=parameter.default), parameter)
        if call.parts:
            if is_tree:
                raise DefinitionError(f"skill {skill.name!r}: roles of a tree", expected="none")
            element.attributes[PARTS] = ";".join(f"{role}={part}" for role, part in call.parts.items())
        if call.until:
            element.attributes[UNTIL] = _plain(call.until)
        return element

    def _sets(self, node: Node) -> Xml:
        """The elements that set values."""
        arguments = node.call.arguments
        for name, given in arguments.items():
            if given.references & (arguments.keys() - {name}):
                raise DefinitionError(f"value {name!r} of others that are set here", expected="nodes of their own")
        found = self._set(*next(iter(arguments.items())))
        found.attributes["name"] = node.id
        for name, given in [*arguments.items()][1:]:
            found = series("Sequence", found, self._set(name, given))
        return found

    def _set(self, name: str, given: Given) -> Xml:
        declared = {value.name: value for value in self.template.values}
        if name not in self.values:
            raise DefinitionError(f"value {name!r}", expected=f"a value other than {FAILURES!r}")
        text = self._value(given, declared[name])
        return Xml("SetBlackboard", {"value": text, "output_key": self.values[name]})

    def _guard(self, node: Node) -> str:
        """The branch of `first_of` that watches a condition beside one other branch; empty: there is none."""
        call = node.call
        watching = [name for name, branch in call.branches.items() if branch.kind == Kind.WAIT_UNTIL]
        return watching[0] if call.kind == Kind.FIRST_OF and len(call.branches) == 2 and watching else ""

    def _reactive(self, node: Node) -> Xml:
        if node.retry or node.repeat or node.timeout is not None:
            raise DefinitionError("retry, repeat or timeout of branches side by side", expected="none")
        guard = self._guard(node)
        ((name, body),) = ((name, branch) for name, branch in node.call.branches.items() if name != guard)
        self.exporter.leaves.add(HOLDS)
        condition = Xml("Condition", {"ID": HOLDS, CONDITION: _plain(node.call.branches[guard].until)})
        succeeds = self.guard_succeeds[node.id]
        judged = condition if succeeds else Xml("Inverter", {}, [condition])
        inner = self._call(replace(node, id=f"{node.id}.{name}", call=body, then=()))
        return Xml("ReactiveFallback" if succeeds else "ReactiveSequence", {"name": node.id}, [judged, inner])

    def _value(self, given: Given, parameter: Parameter) -> str:
        """What a port says."""
        reference = reference_of(given)
        if not reference:
            return written_value(given, parameter)
        if reference in self.values:
            return f"{{{self.values[reference]}}}"
        if reference in self.entries:
            return f"{{{self.entries[reference]}}}"
        if reference not in self.given:
            raise DefinitionError(f"${reference}", expected="a parameter, or an output of a node in the same graph")
        return self.given[reference]

    # --- side by side ---------------------------------------------------------------------------

    def _check_counting(self, node: Node) -> None:
        """Whether all_of waits for all its branches and counts failures, as ParallelAll does."""
        self._most(node)
        for name, branch in node.call.branches.items():
            if self._branch(node.id, name, branch) is None:
                raise DefinitionError(
                    f"branch {name!r}: a failure ends the other branches",
                    expected=f"branches that end as done and count in {FAILURES!r}, as imported ones do",
                )

    def _most(self, node: Node) -> int:
        """With how many failures it fails."""
        counted = " + ".join(f"${node.id}.{name}.{FAILURES}" for name in node.call.branches)
        when, _, most = node.then[0].when.rpartition(" < ")
        rest = node.then[1:]
        if when != counted or not most.isdigit() or len(rest) != 1 or rest[0].on != ("any",):
            raise DefinitionError("branches side by side", expected="candidates that count failures, as imported ones")
        return int(most)

    def _branch(self, id: str, name: str, call: Call) -> _Tree | None:
        template = self.exporter.catalogue.find(call.skill).template if call.kind == Kind.GRAPH else None
        if not isinstance(template, SkillTemplate):
            return None
        graph = self.exporter.calls.graph(call.skill)
        parameters = {p.name: p for p in graph.parameters}
        given = {key: self._value(value, parameters[key]) for key, value in call.arguments.items()}
        found = _Tree(self.exporter, template, graph, given, f"{self.prefix}{id}.{name}.")
        for output, value in graph.outputs.items():
            entry = self.entries.get(f"{id}.{name}.{output}")
            if entry is not None:
                found.entries[reference_of(value)] = entry
        is_counting = found._counting() is not None and not graph.reactions and not template.roles
        return found if is_counting else None

    def _counting(self) -> str | None:
        """The node that counts the failure of a branch; empty: it cannot fail; None: this is no such branch."""
        content = self.template.content
        setting = [id for id, node in content.nodes.items() if node.set and FAILURES in node.set]
        if FAILURES not in content.values or FAILURES not in self.graph.outputs or len(setting) > 1:
            return None
        is_first = self.graph.values[FAILURES].value == 0 and reference_of(self.graph.outputs[FAILURES]) == FAILURES
        if not setting:
            return "" if is_first else None
        node = self.graph.nodes[setting[0]]
        set_to = {name: given.value for name, given in node.call.arguments.items()}
        is_plain = not node.then and not node.retry and not node.repeat
        return setting[0] if is_plain and is_first and set_to == {FAILURES: 1} else None

    def _parallel(self, node: Node) -> Xml:
        most = self._most(node)
        children = []
        for name, branch in node.call.branches.items():
            inner = self._branch(node.id, name, branch)
            assert inner is not None  # _check_counting has seen it
            children.append(inner.branch())
        return Xml("ParallelAll", {"name": node.id, "max_failures": str(most)}, children)

    def _find_doubled(self, tree: Xml) -> None:
        """Nodes that write something and are in the tree twice."""
        seen: set[str] = set()
        waiting = [tree]
        while waiting:
            element = waiting.pop()
            waiting += element.children
            id = element.attributes.get("name", "")
            writes = any(reference.startswith(f"{id}.") for reference in self.entries)
            if id and id in seen and writes:
                self._refuse(f"node {id!r}: several ways lead to it, and its outputs are used", self._place(id))
            seen.add(id)


def _plain(condition: str) -> str:
    """A condition without values of the blueprint."""
    if "$" in condition:
        raise DefinitionError("a condition with values", expected="state variables and numbers")
    return condition
