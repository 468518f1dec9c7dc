"""Makes blueprints of behavior trees (BehaviorTree.CPP, version 4): one skill for each tree.

A tree's leaves become nodes; what is around them becomes the candidates that lead from one to the next. What bounds or
repeats more than one leaf, and what runs side by side, becomes a skill of its own. Entries of the blackboard that a
leaf writes become its outputs, all others parameters. What a graph cannot hold is refused with its line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from robot_rt_control.blueprint.catalogue import Skill, SkillCatalogue
from robot_rt_control.blueprint.exchange.ports import (
    BUILT_IN,
    ENTRY,
    PARTS,
    UNTIL,
    entry_of,
    own_ports,
    port_name,
    read_value,
)
from robot_rt_control.blueprint.exchange.xml_reader import Element, read_xml
from robot_rt_control.blueprint.levels import BLUEPRINT
from robot_rt_control.blueprint.results import ANY as ANY_RESULT
from robot_rt_control.blueprint.results import DONE, FAILED, FAILURE
from robot_rt_control.blueprint.skill_file import SkillTemplate
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.program.schema import ParameterDeclaration
from robot_rt_control.text.dump import dump
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.names import NAME_PATTERN

FAILURES = "failures"
"""Output of a branch of ParallelAll: 1 if it failed, else 0."""

_KNOWN = (
    "Sequence", "Fallback", "IfThenElse", "Inverter", "ForceSuccess", "ForceFailure", "Repeat",
    "RetryUntilSuccessful", "Timeout", "Sleep", "ParallelAll", "SubTree", "Action", "Condition",
)  # fmt: skip
_OTHERS = frozenset(
    "AlwaysFailure AlwaysSuccess AsyncFallback AsyncSequence Delay EntryUpdated KeepRunningUntilFailure LoopBool "
    "LoopDouble LoopInt LoopString ManualSelector Parallel Precondition ReactiveFallback ReactiveSequence RunOnce "
    "Script ScriptCondition SequenceStar SequenceWithMemory SetBlackboard SkipUnlessUpdated SubTreePlus Switch2 "
    "Switch3 Switch4 Switch5 Switch6 UnsetBlackboard WaitValueUpdate WasEntryUpdated Control Decorator".split()
)
_WITHOUT_MEANING = ("name", "_description", "_uid", "_fullpath")
_MAX_TIMES = 1_000_000
_COUNTED = ("again", "Repeat", "RetryUntilSuccessful", "ParallelAll")
"""What cannot have a number of attempts in the same node: whether ParallelAll failed is decided by its candidates."""

End = tuple[str, str]
"""("go", node) or ("end", result)."""
_DONE, _FAILED = ("end", DONE), ("end", FAILED)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The skills of a file.

    Args:
        main: name of the outermost one.
        skills: by name, those that are called first.
        warnings: elements that were left out, because nothing leads to them; with their lines.
    """

    main: str
    skills: dict[str, SkillTemplate]
    warnings: tuple[str, ...] = ()


def import_trees(text: str, catalogue: SkillCatalogue, *, source: str = "trees") -> Imported:
    """Read the trees of a file.

    Args:
        catalogue: the skills that leaves can be.

    Raises:
        DefinitionError, ProgramError: not XML, or what cannot be a blueprint; each mistake with its line.
    """
    root = read_xml(text, source)
    mistakes = Mistakes()
    with mistakes.collect():
        importer = _Importer(root, catalogue, mistakes)
        importer.read()
    mistakes.raise_all()
    return Imported(main=importer.names[importer.main], skills=importer.made, warnings=tuple(importer.warnings))


# --- expressions --------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Unit:
    """What becomes one node."""

    element: Element
    id: str
    call: dict[str, Any]
    reads: dict[str, tuple[str, Parameter]] = field(default_factory=dict)
    """Parameter of the call → entry of the blackboard, and how the parameter is declared."""
    writes: dict[str, str] = field(default_factory=dict)
    """Entry of the blackboard → output of the node."""
    branch_of: dict[str, _Unit] = field(default_factory=dict)
    """Of ParallelAll: its branches."""
    bounds: dict[str, Any] = field(default_factory=dict)
    """timeout, retry, repeat."""
    again: str = ""
    """It is done again without end, after "success" or "failure"."""
    at_most: int = 0
    """Of ParallelAll: it fails with this number of failures."""
    skill: Skill | None = None
    """Of a leaf."""


@dataclass(frozen=True)
class _Serial:
    """Sequence, or Fallback."""

    children: tuple[_Expression, ...]
    fallback: bool


@dataclass(frozen=True)
class _If:
    condition: _Expression
    then: _Expression
    otherwise: _Expression | None


@dataclass(frozen=True)
class _Changed:
    """Inverter, ForceSuccess, ForceFailure."""

    child: _Expression
    how: str


_Expression = _Unit | _Serial | _If | _Changed


@dataclass(kw_only=True)
class _Made:
    """A skill that was made of a tree or of a part of one."""

    name: str
    parameters: dict[str, Parameter]
    outputs: dict[str, Any]


class _Importer:
    def __init__(self, root: Element, catalogue: SkillCatalogue, mistakes: Mistakes) -> None:
        if root.tag != "root" or root.attributes.get("BTCPP_format") != "4":
            got = f"<{root.tag}> with BTCPP_format {root.attributes.get('BTCPP_format')!r}"
            raise root.mistake("not a file of behavior trees", expected='<root BTCPP_format="4">', got=got)
        self.catalogue, self.mistakes = catalogue, mistakes
        self.root = root
        self.trees: dict[str, Element] = {}
        self.names: dict[str, str] = {}
        """ID of a tree → name of its skill."""
        self.main = ""
        self.made: dict[str, SkillTemplate] = {}
        self.warnings: list[str] = []
        self._finished: dict[str, _Made] = {}
        self._open: list[str] = []
        self._taken: set[str] = set()

    def read(self) -> None:
        for element in self.root.children:
            with self.mistakes.collect():
                if element.tag == "BehaviorTree":
                    id = _attribute(element, "ID")
                    if id in self.trees:
                        raise element.mistake(f"a second tree {id!r}")
                    self.trees[id] = element
                    self.names[id] = self._free_name(_identifier(id), self._taken)
                    if self.names[id] in self.catalogue.programs or self.names[id] in (
                        self.catalogue.workcell.types or {}
                    ):
                        raise element.mistake(
                            f"tree {id!r} has the name of a program or an action type", expected="another ID"
                        )
                elif element.tag != "TreeNodesModel":
                    raise element.mistake(
                        f"<{element.tag}> is not imported", expected="BehaviorTree or TreeNodesModel"
                    )
        self.main = self.root.attributes.get("main_tree_to_execute") or (
            next(iter(self.trees)) if len(self.trees) == 1 else ""
        )
        if self.main not in self.trees:
            needed = "main_tree_to_execute: the outermost tree"
            expected = unknown("tree", self.main, self.trees) if self.main else needed
            raise self.root.mistake("main tree", expected=expected, got=repr(self.main))
        for id in self.trees:
            self.tree(id)

    def tree(self, id: str) -> _Made | None:
        """The skill of a tree; None: it has mistakes."""
        if id in self._finished:
            return self._finished[id]
        element = self.trees[id]
        if id in self._open:
            raise element.mistake(f"tree {id!r} contains itself: {' → '.join((*self._open, id))}")
        self._open.append(id)
        made = None
        with self.mistakes.collect():
            if len(element.children) != 1:
                raise element.mistake(f"tree {id!r}", expected="one element in it", got=str(len(element.children)))
            wanted = {
                name
                for call in self.root.all()
                if call.tag == "SubTree" and call.attributes.get("ID") == id
                for name in (call.attributes if "_autoremap" not in call.attributes else _entries(element))
            }
            made = self.skill(self.names[id], element.children[0], wanted)
            self._finished[id] = made
        self._open.pop()
        return made

    def skill(self, name: str, element: Element, wanted: Iterable[str], *, caught: bool = False) -> _Made:
        """Make a skill of an element.

        Args:
            wanted: entries that are read elsewhere: they become outputs, if something in it writes them.
            caught: its failure becomes the output FAILURES.
        """
        return _Graph(self, name, element).made(frozenset(wanted), caught=caught)

    def nested_name(self, name: str) -> str:
        return self._free_name(name, self._taken | self.catalogue.skills.keys() | {*self.names.values()})

    def _free_name(self, name: str, taken: Iterable[str]) -> str:
        found = _free(name, frozenset(taken))
        self._taken.add(found)
        return found


class _Graph:
    """One skill in the making."""

    def __init__(self, importer: _Importer, name: str, element: Element) -> None:
        self.importer, self.name, self.element = importer, name, element
        self.units: list[_Unit] = []
        parts = importer.catalogue.workcell.parts or {}
        self._ids = {*_entries(element), *parts, FAILURES}
        self._counts = Counter(_entries(element))
        self.nodes: dict[str, dict[str, Any]] = {}
        self.parameters: dict[str, Parameter] = {}
        self.written: dict[str, str] = {}
        self.needed: dict[str, list[str]] = {}
        """Node → its outputs that are read."""
        self.values: dict[str, Any] = {}

    def made(self, wanted: frozenset[str], *, caught: bool) -> _Made:
        expression = self.expression(self.element)
        callers = [call for unit in self.units for call in (unit, *unit.branch_of.values())]
        read = wanted | {entry for call in callers for entry, _ in call.reads.values()}
        for unit in self.units:
            for entry, output in unit.writes.items():
                if entry in self.written:
                    raise unit.element.mistake(
                        f"entry {{{entry}}} is written by two nodes", expected="one node that writes it"
                    )
                self.written[entry] = f"${unit.id}.{output}"
                if entry in read:
                    self.needed.setdefault(unit.id, []).append(output)
        failed = _FAILED
        if caught:
            failed = ("go", self.free_id("failed"))
            self.values = {FAILURES: {"type": "int", "default": 0}}
        start = self.emit(expression, _DONE, failed)
        if caught:
            self.nodes[failed[1]] = {"set": {FAILURES: 1}}
        order = [unit.id for unit in self.units] + ([failed[1]] if caught else [])
        self._leave_out(start[1])
        outputs: dict[str, Any] = {entry: {**self._output(entry), "value": self.written[entry]}
                                   for entry in sorted(wanted & self.written.keys())}  # fmt: skip
        if caught:
            outputs[FAILURES] = {"type": "int", "value": f"${FAILURES}"}
        data: dict[str, Any] = {
            "name": self.name,
            "level": BLUEPRINT,
            "parameters": {name: _declaration(p) for name, p in self.parameters.items()},
            "outputs": outputs,
            "values": self.values,
            "start": start[1],
            "nodes": {id: self.nodes[id] for id in order if id in self.nodes},
        }
        text = dump({key: value for key, value in data.items() if value})
        self.importer.made[self.name] = SkillTemplate(text, source=f"{self.name}.yaml")
        return _Made(name=self.name, parameters=self.parameters, outputs=outputs)

    def _leave_out(self, start: str) -> None:
        """Leave out what can never run, such as what follows ForceFailure in a Sequence."""
        reached, waiting = {start}, [start]
        while waiting:
            then = self.nodes[waiting.pop()].get("then", [])
            listed = [then] if isinstance(then, str) else [candidate.get("go", "") for candidate in then]
            waiting += [id for id in listed if id and id not in reached]
            reached |= {*filter(None, listed)}
        for unit in self.units:
            if unit.id not in reached:
                del self.nodes[unit.id]
                self.importer.warnings.append(str(unit.element.mistake(f"<{unit.element.tag}> can never run")))
        self.nodes = {id: node for id, node in self.nodes.items() if id in reached}

    def _output(self, entry: str) -> dict[str, Any]:
        """Type and unit of what a node writes."""
        for unit in self.units:
            if entry in unit.writes:
                found = unit.call.get("_outputs", {}).get(unit.writes[entry])
                return {} if found is None else {k: v for k, v in found.items() if v and k in ("type", "unit")}
        return {}

    def free_id(self, wanted: str) -> str:
        id = _free(_identifier(wanted), frozenset(self._ids))
        self._ids.add(id)
        return id

    # --- from elements to expressions -----------------------------------------------------------

    def expression(self, element: Element) -> _Expression:
        for name in element.attributes:
            if name.startswith("_") and name not in (*_WITHOUT_MEANING, "_autoremap"):
                raise element.mistake(f"attribute {name!r} is not imported", expected="no scripts and conditions")
        tag = element.tag
        if tag in ("Sequence", "Fallback"):
            _only(element, ())
            return _Serial(tuple(self.expression(c) for c in _children(element, 1)), fallback=tag == "Fallback")
        if tag == "IfThenElse":
            _only(element, ())
            children = [self.expression(child) for child in _children(element, 2, 3)]
            return _If(children[0], children[1], children[2] if len(children) == 3 else None)
        if tag in ("Inverter", "ForceSuccess", "ForceFailure"):
            _only(element, ())
            (child,) = _children(element, 1, 1)
            return _Changed(self.expression(child), tag)
        return self.unit(element)

    def unit(self, element: Element) -> _Unit:
        makers: dict[str, Callable[[Element], _Unit]] = {
            "Repeat": self.repeat,
            "RetryUntilSuccessful": self.retry,
            "Timeout": self.timeout,
            "Sleep": self.sleep,
            "ParallelAll": self.parallel,
            "SubTree": self.subtree,
        }
        return makers.get(element.tag, self.leaf)(element)

    def add(self, element: Element, call: dict[str, Any], id: str) -> _Unit:
        unit = _Unit(element=element, id=self.free_id(element.attributes.get("name") or id), call=call)
        self.units.append(unit)
        return unit

    def bounded(self, element: Element, *, without: Iterable[str]) -> _Unit:
        """The unit within a decorator; a skill of its own if it cannot have this bound as well."""
        (child,) = _children(element, 1, 1)
        simple = ("Sleep", "ParallelAll", "SubTree", "Repeat", "RetryUntilSuccessful", "Timeout", "Action", "Condition")
        if (child.tag in simple or child.tag not in _KNOWN) and self._bounds(child).isdisjoint(without):
            return self.unit(child)
        return self.nested(child, element)

    def _bounds(self, element: Element) -> set[str]:
        """The bounds that the unit of an element has."""
        found = set()
        while element.tag in ("Repeat", "RetryUntilSuccessful", "Timeout") and element.children:
            endless = element.attributes.get("num_cycles", element.attributes.get("num_attempts")) == "-1"
            found.add("again" if endless else element.tag)
            element = element.children[0]
        return {*found, "ParallelAll"} if element.tag == "ParallelAll" else found

    def nested(self, child: Element, element: Element, *, caught: bool = False) -> _Unit:
        """A skill made of a part of this tree; entries have the same names in it."""
        inside = Counter(_entries(child))
        wanted = [entry for entry, count in self._counts.items() if count > inside[entry]]
        name = element.attributes.get("name") or child.tag.lower()
        made = self.importer.skill(
            self.importer.nested_name(f"{self.name}_{_identifier(name)}"), child, wanted, caught=caught
        )
        unit = self.add(element, {"skill": made.name, "_outputs": made.outputs}, name)
        unit.reads = {name: (name, parameter) for name, parameter in made.parameters.items()}
        unit.writes = {name: name for name in made.outputs if name != FAILURES}
        return unit

    def repeat(self, element: Element) -> _Unit:
        times = self._times(element, "num_cycles")
        if times == -1:
            unit = self.bounded(element, without=["again"])
            unit.again = "success"
        else:
            unit = self.bounded(element, without=_COUNTED)
            unit.bounds["repeat"] = times - 1
        return unit

    def retry(self, element: Element) -> _Unit:
        times = self._times(element, "num_attempts")
        if times == -1:
            unit = self.bounded(element, without=["again"])
            unit.again = "failure"
        else:
            unit = self.bounded(element, without=_COUNTED)
            unit.bounds["retry"] = times - 1
        return unit

    def _times(self, element: Element, name: str) -> int:
        _only(element, (name,))
        return _integer(element, name, 1, _MAX_TIMES, or_minus_one=True)

    def timeout(self, element: Element) -> _Unit:
        _only(element, ("msec",))
        milliseconds = _integer(element, "msec", 1, 10**9)
        unit = self.bounded(element, without=["again", "Repeat", "RetryUntilSuccessful", "Timeout"])
        unit.bounds["timeout"] = milliseconds / 1000
        return unit

    def sleep(self, element: Element) -> _Unit:
        _only(element, ("msec",))
        _children(element, 0, 0)
        return self.add(element, {"wait": _integer(element, "msec", 0, 10**9) / 1000}, "sleep")

    def parallel(self, element: Element) -> _Unit:
        _only(element, ("max_failures",))
        children = _children(element, 1)
        most = _integer(element, "max_failures", 1, len(children), or_minus_one=True, default=1)
        unit = self.add(element, {}, "all")
        units = len(self.units)
        for child in children:
            branch = self.nested(child, child, caught=True)
            unit.branch_of[branch.id] = branch
            unit.writes |= {entry: f"{branch.id}.{output}" for entry, output in branch.writes.items()}
        del self.units[units:]  # they are branches of a node, no nodes
        unit.call["_outputs"] = {
            f"{id}.{name}": output for id, b in unit.branch_of.items() for name, output in b.call["_outputs"].items()
        }
        unit.at_most = len(children) if most == -1 else most
        return unit

    def subtree(self, element: Element) -> _Unit:
        _children(element, 0, 0)
        id = _attribute(element, "ID")
        if id not in self.importer.trees:
            raise element.mistake(f"unknown tree {id!r}", expected=unknown("tree", id, self.importer.trees))
        made = self.importer.tree(id)
        if made is None:
            raise element.mistake(f"tree {id!r} has mistakes")
        unit = self.add(element, {"skill": made.name, "_outputs": made.outputs}, made.name)
        given = {k: v for k, v in element.attributes.items() if k != "ID" and k not in _WITHOUT_MEANING}
        if _flag(element, given.pop("_autoremap", "false")):
            names = [*made.parameters, *made.outputs]
            given = {**{name: f"{{{name}}}" for name in names}, **given}
        for name, text in given.items():
            if name in made.outputs:
                self._write(unit, name, name, text)
            elif name in made.parameters:
                self._give(unit, made.parameters[name], text)
            # else: an entry that the tree neither reads nor writes
        return unit

    def leaf(self, element: Element) -> _Unit:
        tag = element.tag
        name = _attribute(element, "ID") if tag in ("Action", "Condition") else tag
        if tag in _OTHERS or name in _OTHERS:
            raise element.mistake(
                f"<{name}> is not imported",
                expected=", ".join(_KNOWN),
                hint="A blueprint has conditions, reactions and values of its own for it",
            )
        _children(element, 0, 0)
        given = {k: v for k, v in element.attributes.items() if k not in _WITHOUT_MEANING}
        if tag in ("Action", "Condition"):
            del given["ID"]
        if name in BUILT_IN:
            return self._built_in(element, name, given)
        try:
            skill = self.importer.catalogue.find(name)
        except DefinitionError as error:
            raise element.located(error) from None
        call: dict[str, Any] = {"skill": name}
        call["_outputs"] = {key: {"type": o.type, "unit": o.unit} for key, o in skill.outputs.items()}
        unit = self.add(element, call, name)
        unit.skill = skill
        self._ports(unit, skill, given)
        return unit

    def _built_in(self, element: Element, name: str, given: dict[str, str]) -> _Unit:
        port = BUILT_IN[name]
        if given.keys() != {port}:
            raise element.mistake(f"<{name}>", expected=f"the port {port}", got=", ".join(given) or "none")
        unit = self.add(element, {name: given[port].replace("$", "$$") if name != "wait_until" else given[port]}, name)
        entry = entry_of(given[port]) if name != "wait_until" else ""
        if entry:
            unit.reads[""] = (entry, Parameter(name="text", type="text"))
        return unit

    def _ports(self, unit: _Unit, skill: Skill, given: dict[str, str]) -> None:
        parameters, outputs = {p.name: p for p in skill.parameters}, {port_name(name): name for name in skill.outputs}
        for port in own_ports(skill):
            raise unit.element.mistake(f"skill {skill.name!r}: its {port!r} cannot be a port")
        for name, text in given.items():
            if name == PARTS:
                unit.call["parts"] = _parts(unit.element, text)
            elif name == UNTIL:
                unit.call["until"] = text
            elif name in parameters:
                self._give(unit, parameters[name], text)
            elif name in outputs:
                self._write(unit, name, outputs[name], text)
            else:
                known = [*parameters, *outputs, PARTS, UNTIL]
                raise unit.element.mistake(
                    f"skill {skill.name!r} has no port {name!r}", expected=unknown("port", name, known)
                )

    def _give(self, unit: _Unit, parameter: Parameter, text: str) -> None:
        try:
            entry = entry_of(text)
            if entry:
                unit.reads[parameter.name] = (entry, parameter)
            else:
                unit.call.setdefault("with", {})[parameter.name] = read_value(text, parameter)
        except DefinitionError as error:
            raise unit.element.located(error) from None

    def _write(self, unit: _Unit, port: str, output: str, text: str) -> None:
        entry = entry_of(text)
        if not entry:
            raise unit.element.mistake(f"port {port!r} is an output", expected=f"an entry such as {{{port}}}", got=text)
        unit.writes[entry] = output

    # --- from expressions to nodes --------------------------------------------------------------

    def emit(self, expression: _Expression, success: End, failure: End) -> End:
        """Make the nodes of an expression. Returns where it begins.

        Args:
            success, failure: what follows.
        """
        match expression:
            case _Serial(children=children, fallback=fallback):
                for child in reversed(children):
                    entry = self.emit(child, success, failure)
                    success, failure = (success, entry) if fallback else (entry, failure)
                return entry
            case _If(condition=condition, then=then, otherwise=otherwise):
                yes = self.emit(then, success, failure)
                no = failure if otherwise is None else self.emit(otherwise, success, failure)
                return self.emit(condition, yes, no)
            case _Changed(child=child, how=how):
                if how == "Inverter":
                    return self.emit(child, failure, success)
                always = success if how == "ForceSuccess" else failure
                return self.emit(child, always, always)
            case _Unit():
                return self._emit_unit(expression, success, failure)

    def _emit_unit(self, unit: _Unit, success: End, failure: End) -> End:
        here = ("go", unit.id)
        success = here if unit.again == "success" else success
        failure = here if unit.again == "failure" else failure
        node = {key: value for key, value in unit.call.items() if key != "_outputs"}
        if unit.branch_of:
            node["all_of"] = {id: self._filled(branch) for id, branch in unit.branch_of.items()}
            counted = " + ".join(f"${unit.id}.{id}.{FAILURES}" for id in unit.branch_of)
            then: Any = [
                _candidate(success, when=f"{counted} < {unit.at_most}"),
                _candidate(failure, on=ANY_RESULT),
            ]
        else:
            node = self._filled(unit)
            then = _candidates(success, failure, self._giving(unit))
        self.nodes[unit.id] = {**node, **unit.bounds, **({"then": then} if then else {})}
        return here

    def _giving(self, unit: _Unit) -> list[str]:
        """The successes of a leaf that give the outputs that are read; empty: each does."""
        needed = self.needed.get(unit.id)
        if unit.skill is None or not needed:
            return []
        successes = [result for result, failure in unit.skill.results.items() if not failure]
        giving = [result for result in successes if unit.skill.given.get(result, frozenset()) >= {*needed}]
        if not giving:
            raise unit.element.mistake(f"skill {unit.skill.name!r}: no success gives {', '.join(needed)}")
        return [] if giving == successes else giving

    def _filled(self, unit: _Unit) -> dict[str, Any]:
        """The call with the entries that it reads."""
        call = {key: value for key, value in unit.call.items() if key != "_outputs"}
        for name, (entry, parameter) in unit.reads.items():
            value = self.written.get(entry)
            if value is None:
                value = f"${entry}"
                self._declare(unit.element, entry, parameter)
            if name:
                call.setdefault("with", {})[name] = value
            else:
                (key,) = call
                call[key] = value
        return call

    def _declare(self, element: Element, entry: str, parameter: Parameter) -> None:
        there = self.parameters.setdefault(entry, replace(parameter, name=entry))
        if (there.type, there.unit, there.length) != (parameter.type, parameter.unit, parameter.length):
            kinds = [f"{p.type} {p.unit} of length {p.length}".replace("  ", " ") for p in (there, parameter)]
            raise element.mistake(f"entry {{{entry}}} is read as different things", expected=kinds[0], got=kinds[1])


def _candidates(success: End, failure: End, giving: list[str]) -> Any:
    """The candidates. `giving`: the successes that count; empty: all."""
    if success == failure:
        return [_candidate(success, on=ANY_RESULT)]
    found = [] if failure == _FAILED else [_candidate(failure, on=FAILURE)]
    if success != _DONE or found or giving:
        found.insert(0, _candidate(success, on=giving[0] if len(giving) == 1 else giving))
    return success[1] if len(found) == 1 and success[0] == "go" and not giving else found


def _candidate(to: End, *, on: str | list[str] = "", when: str = "") -> dict[str, Any]:
    given = {"on": on, "when": when, to[0]: to[1]}
    return {key: value for key, value in given.items() if value}


def _declaration(parameter: Parameter) -> dict[str, Any]:
    default = ParameterDeclaration()
    length = parameter.length if isinstance(parameter.length, int) else "any"
    given = {"type": parameter.type, "length": length, "unit": parameter.unit}
    return {key: value for key, value in given.items() if value != getattr(default, key)}


# --- elements -------------------------------------------------------------------------------------------


def _attribute(element: Element, name: str) -> str:
    if not element.attributes.get(name):
        raise element.mistake(f"<{element.tag}>", expected=f"the attribute {name}", got="none")
    return element.attributes[name]


def _only(element: Element, names: Iterable[str]) -> None:
    for name in element.attributes:
        if name not in (*names, *_WITHOUT_MEANING):
            raise element.mistake(
                f"<{element.tag}> has no port {name!r}", expected=", ".join(names) or "no ports"
            )


def _children(element: Element, least: int, most: int | None = None) -> list[Element]:
    count = len(element.children)
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} or {most}"
        raise element.mistake(f"<{element.tag}>", expected=f"{wanted} elements in it", got=str(count))
    return element.children


def _integer(
    element: Element, name: str, low: int, high: int, *, or_minus_one: bool = False, default: int | None = None
) -> int:
    text = element.attributes.get(name, "" if default is None else str(default)).strip()
    value = int(text) if re.fullmatch(r"-?[0-9]{1,10}", text) else None
    if value is None or not (low <= value <= high or (or_minus_one and value == -1)):
        expected = f"{name}: a number from {low} to {high}" + (", or -1" if or_minus_one else "")
        raise element.mistake(f"<{element.tag}>", expected=expected, got=repr(text))
    return value


def _flag(element: Element, text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise element.mistake("_autoremap", expected="true or false", got=repr(text))
    return text in ("true", "1")


def _parts(element: Element, text: str) -> dict[str, str]:
    found = {}
    for piece in filter(None, (piece.strip() for piece in text.split(";"))):
        role, equals, part = piece.partition("=")
        if not equals:
            raise element.mistake("port 'parts'", expected="role=part, separated by ;", got=repr(text))
        found[role.strip()] = part.strip()
    return found


def _entries(element: Element) -> Iterator[str]:
    """All entries of the blackboard in a tree or a part of one."""
    for each in element.all():
        for name, text in each.attributes.items():
            found = ENTRY.fullmatch(text.strip())
            if found is not None and name not in ("name", "ID"):
                yield found[1]


def _identifier(text: str) -> str:
    found = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return found if re.fullmatch(NAME_PATTERN, found) else f"n_{found}"


def _free(name: str, taken: frozenset[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
