"""Reads elements of a behavior tree as expressions: what runs becomes a unit, what is around it says what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from robot_rt_control.blueprint.exchange.elements import (
    WITHOUT_MEANING,
    attribute,
    children_of,
    entries_of,
    free,
    identifier,
    integer,
    only,
    parts_of,
)
from robot_rt_control.blueprint.exchange.expressions import FAILURES, Changed, Expression, If, Serial, Unit
from robot_rt_control.blueprint.exchange.graph_writer import MadeSkill
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
from robot_rt_control.blueprint.exchange.reactive import (
    CONDITION,
    HOLDS,
    all_or_any,
    condition_of,
    is_holds,
    judged,
)
from robot_rt_control.blueprint.exchange.subtree_models import Models, given_ports
from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.blueprint.text.catalogue import Skill, SkillCatalogue
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_KNOWN = (
    "Sequence", "Fallback", "IfThenElse", "Inverter", "ForceSuccess", "ForceFailure", "Repeat",
    "RetryUntilSuccessful", "Timeout", "Delay", "Sleep", "ParallelAll", "ReactiveSequence", "ReactiveFallback",
    "SetBlackboard", "SubTree", "Action", "Condition",
)  # fmt: skip
_OTHERS = frozenset(
    "AlwaysFailure AlwaysSuccess AsyncFallback AsyncSequence EntryUpdated KeepRunningUntilFailure LoopBool "
    "LoopDouble LoopInt LoopString ManualSelector Parallel Precondition RunOnce "
    "Script ScriptCondition SequenceStar SequenceWithMemory SkipUnlessUpdated SubTreePlus Switch2 "
    "Switch3 Switch4 Switch5 Switch6 UnsetBlackboard WaitValueUpdate WasEntryUpdated Control Decorator".split()
)
_MAX_TIMES = 1_000_000
_DECIDED = "decided"
"""A bound of elements whose candidates decide whether they failed: ParallelAll and `holds`."""
_COUNTED = ("again", "Repeat", "RetryUntilSuccessful", _DECIDED)
"""What cannot have a number of attempts in the same node."""
_SIMPLE = ("Sleep", "ParallelAll", "SubTree", "SetBlackboard", "Repeat", "RetryUntilSuccessful", "Timeout", "Action",
           "Condition")  # fmt: skip
"""Elements that are one node."""


class Trees(Protocol):
    """The other trees of the file, and what a part of this one becomes."""

    catalogue: SkillCatalogue
    trees: dict[str, Element]
    models: Models

    def tree(self, id: str) -> MadeSkill | None:
        """The skill of a tree; None: it has mistakes."""

    def skill(self, name: str, element: Element, wanted: Iterable[str], *, caught: bool = False) -> MadeSkill:
        """Make a skill of an element."""

    def nested_name(self, name: str) -> str:
        """A free name for the skill of a part of a tree."""


class TreeReader:
    """Reads what becomes one skill.

    Args:
        name: of the skill.
        element: all of it.

    Attributes:
        units: what becomes its nodes, in the order of the elements.
    """

    def __init__(self, trees: Trees, name: str, element: Element) -> None:
        self._trees, self._name = trees, name
        self.units: list[Unit] = []
        parts = trees.catalogue.workcell.parts or {}
        self._ids = {*entries_of(element), *parts, FAILURES}
        self._counts = Counter(entries_of(element))

    def free_id(self, wanted: str) -> str:
        """An id that no other node has, nor a part or an entry of the blackboard."""
        id = free(identifier(wanted), frozenset(self._ids))
        self._ids.add(id)
        return id

    def expression(self, element: Element) -> Expression:
        """Read an element.

        Raises:
            DefinitionError: a blueprint cannot hold it, or it is not valid; with its line.
        """
        _refuse_scripts(element)
        tag = element.tag
        if tag in ("Sequence", "Fallback"):
            only(element, ())
            return Serial(tuple(self.expression(c) for c in children_of(element, 1)), fallback=tag == "Fallback")
        if tag == "IfThenElse":
            only(element, ())
            children = [self.expression(child) for child in children_of(element, 2, 3)]
            return If(children[0], children[1], children[2] if len(children) == 3 else None)
        if tag in ("Inverter", "ForceSuccess", "ForceFailure"):
            only(element, ())
            (child,) = children_of(element, 1, 1)
            return Changed(self.expression(child), tag)
        if tag == "Delay":
            only(element, ("delay_msec",))
            (child,) = children_of(element, 1, 1)
            return Serial((self._wait(element, "delay_msec", "delay"), self.expression(child)), fallback=False)
        if tag in ("ReactiveSequence", "ReactiveFallback"):
            only(element, ())
            return self._reactive(element)
        return self._unit(element)

    def _unit(self, element: Element) -> Unit:
        _refuse_scripts(element)
        makers: dict[str, Callable[[Element], Unit]] = {
            "Repeat": self._repeat,
            "RetryUntilSuccessful": self._retry,
            "Timeout": self._timeout,
            "Sleep": self._sleep,
            "ParallelAll": self._parallel,
            "SubTree": self._subtree,
            "SetBlackboard": self._set,
        }
        return makers.get(element.tag, self._leaf)(element)

    def _add(self, element: Element, call: dict[str, Any], id: str) -> Unit:
        unit = Unit(element=element, id=self.free_id(element.attributes.get("name") or id), call=call)
        self.units.append(unit)
        return unit

    def _bounded(self, element: Element, *, without: Iterable[str]) -> Unit:
        """The unit within a decorator; a skill of its own if it cannot have this bound as well."""
        (child,) = children_of(element, 1, 1)
        if (child.tag in _SIMPLE or child.tag not in _KNOWN) and self._bounds(child).isdisjoint(without):
            return self._unit(child)
        return self._nested(child, element)

    def _bounds(self, element: Element) -> set[str]:
        """The bounds that the unit of an element has."""
        found = set()
        while element.tag in ("Repeat", "RetryUntilSuccessful", "Timeout") and element.children:
            endless = element.attributes.get("num_cycles", element.attributes.get("num_attempts")) == "-1"
            found.add("again" if endless else element.tag)
            element = element.children[0]
        return {*found, _DECIDED} if element.tag == "ParallelAll" or is_holds(element) else found

    def _nested(self, child: Element, element: Element, *, caught: bool = False) -> Unit:
        """A skill made of a part of this tree; entries have the same names in it."""
        inside = Counter(entries_of(child))
        wanted = [entry for entry, count in self._counts.items() if count > inside[entry]]
        name = element.attributes.get("name") or child.tag.lower()
        made = self._trees.skill(
            self._trees.nested_name(f"{self._name}_{identifier(name)}"), child, wanted, caught=caught
        )
        unit = self._add(element, {"skill": made.template.name, "_outputs": made.outputs}, name)
        unit.reads = {name: (name, parameter) for name, parameter in made.parameters.items()}
        unit.writes = {name: name for name in made.outputs if name != FAILURES}
        return unit

    def _repeat(self, element: Element) -> Unit:
        times = self._times(element, "num_cycles")
        if times == -1:
            unit = self._bounded(element, without=["again"])
            unit.again = "success"
        else:
            unit = self._bounded(element, without=_COUNTED)
            unit.bounds["repeat"] = times - 1
        return unit

    def _retry(self, element: Element) -> Unit:
        times = self._times(element, "num_attempts")
        if times == -1:
            unit = self._bounded(element, without=["again"])
            unit.again = "failure"
        else:
            unit = self._bounded(element, without=_COUNTED)
            unit.bounds["retry"] = times - 1
        return unit

    def _times(self, element: Element, name: str) -> int:
        only(element, (name,))
        return integer(element, name, 1, _MAX_TIMES, or_minus_one=True)

    def _timeout(self, element: Element) -> Unit:
        only(element, ("msec",))
        milliseconds = integer(element, "msec", 1, 10**9)
        unit = self._bounded(element, without=["again", "Repeat", "RetryUntilSuccessful", "Timeout"])
        unit.bounds["timeout"] = milliseconds / 1000
        return unit

    def _sleep(self, element: Element) -> Unit:
        only(element, ("msec",))
        children_of(element, 0, 0)
        return self._wait(element, "msec", "sleep")

    def _wait(self, element: Element, port: str, id: str) -> Unit:
        return self._add(element, {"wait": integer(element, port, 0, 10**9) / 1000}, id)

    def _set(self, element: Element) -> Unit:
        """SetBlackboard: a value of the skill, that is set."""
        children_of(element, 0, 0)
        only(element, ("value", "output_key"))
        entry = attribute(element, "output_key").strip()
        if ENTRY.fullmatch(f"{{{entry}}}") is None or entry == FAILURES:
            expected = f"a name without braces, other than {FAILURES}"
            raise element.mistake("port 'output_key'", expected=expected, got=repr(entry))
        if "value" not in element.attributes:
            raise element.mistake("<SetBlackboard>", expected="the attribute value", got="none")
        unit = self._add(element, {"set": {}}, f"set_{entry}")
        unit.sets, text = entry, element.attributes["value"]
        try:
            source = entry_of(text)
        except DefinitionError as error:
            raise element.located(error) from None
        if source:
            unit.reads[entry] = (source, Parameter(name=entry))
        else:
            unit.text = text
        return unit

    # --- conditions -----------------------------------------------------------------------------

    def _holds(self, element: Element) -> Unit:
        unit = self._add(element, {"set": {}}, HOLDS)
        unit.when = str(condition_of(element))
        return unit

    def _reactive(self, element: Element) -> Expression:
        """Conditions, which are judged again while the last element runs: when they end it, `first_of` does so."""
        any_of = element.tag == "ReactiveFallback"
        children = children_of(element, 1)
        conditions = [judged(child) for child in children]
        for child, condition in zip(children[:-1], conditions[:-1], strict=True):
            if condition is None:
                raise child.mistake(
                    f"<{child.tag}> in <{element.tag}>",
                    expected=f'conditions before the last element: <Condition ID="{HOLDS}" {CONDITION}="…"/>, also in '
                    "Inverter, Sequence and Fallback",
                    hint="What takes time, other than the last one, would be begun again and again",
                )
        if len(children) == 1 or conditions[-1] is not None:
            return Serial(tuple(self.expression(child) for child in children), fallback=any_of)
        together = all_or_any([c for c in conditions[:-1] if c is not None], any_of=any_of)
        first = self._add(element, {"set": {}}, "check")
        first.when = str(together.yes)
        node = self._add(element, {}, "while")
        units = len(self.units)
        body = self._branch(children[-1])
        del self.units[units:]  # it is a branch of a node, no node
        node.guard, node.guard_succeeds = self.free_id("until"), any_of
        node.call["first_of"] = {node.guard: {"wait_until": str(together.yes if any_of else together.no)}}
        node.branch_of[body.id] = body
        node.writes = {entry: f"{body.id}.{output}" for entry, output in body.writes.items()}
        node.call["_outputs"] = {f"{body.id}.{name}": o for name, o in body.call.get("_outputs", {}).items()}
        return Serial((first, node), fallback=any_of)

    def _branch(self, child: Element) -> Unit:
        """What runs beside another one: one call, or a skill of its own."""
        plain = child.tag in ("Sleep", "SubTree", "Action", "Condition") or child.tag not in _KNOWN
        return self._unit(child) if plain and not is_holds(child) else self._nested(child, child)

    def _parallel(self, element: Element) -> Unit:
        only(element, ("max_failures",))
        children = children_of(element, 1)
        most = integer(element, "max_failures", 1, len(children), or_minus_one=True, default=1)
        unit = self._add(element, {}, "all")
        units = len(self.units)
        for child in children:
            branch = self._nested(child, child, caught=True)
            unit.branch_of[branch.id] = branch
            unit.writes |= {entry: f"{branch.id}.{output}" for entry, output in branch.writes.items()}
        del self.units[units:]  # they are branches of a node, no nodes
        unit.call["_outputs"] = {
            f"{id}.{name}": output for id, b in unit.branch_of.items() for name, output in b.call["_outputs"].items()
        }
        unit.at_most = len(children) if most == -1 else most
        return unit

    def _subtree(self, element: Element) -> Unit:
        children_of(element, 0, 0)
        id = attribute(element, "ID")
        if id not in self._trees.trees:
            raise element.mistake(f"unknown tree {id!r}", expected=unknown("tree", id, self._trees.trees))
        made = self._trees.tree(id)
        if made is None:
            raise element.mistake(f"tree {id!r} has mistakes")
        unit = self._add(element, {"skill": made.template.name, "_outputs": made.outputs}, made.template.name)
        given = given_ports(element, self._trees.models.get(id, {}), [*made.parameters, *made.outputs])
        for name, text in given.items():
            if name in made.outputs:
                self._write(unit, name, name, text)
            elif name in made.parameters:
                self._give(unit, made.parameters[name], text)
            # else: an entry that the tree neither reads nor writes
        return unit

    def _leaf(self, element: Element) -> Unit:
        tag = element.tag
        name = attribute(element, "ID") if tag in ("Action", "Condition") else tag
        if tag in _OTHERS or name in _OTHERS:
            raise element.mistake(
                f"<{name}> is not imported",
                expected=", ".join(_KNOWN),
                hint="A blueprint has conditions, reactions and values of its own for it",
            )
        if is_holds(element):
            return self._holds(element)
        children_of(element, 0, 0)
        given = {k: v for k, v in element.attributes.items() if k not in WITHOUT_MEANING}
        if tag in ("Action", "Condition"):
            del given["ID"]
        if name in BUILT_IN:
            return self._built_in(element, name, given)
        try:
            skill = self._trees.catalogue.find(name)
        except DefinitionError as error:
            raise element.located(error) from None
        call: dict[str, Any] = {"skill": name}
        call["_outputs"] = {key: {"type": o.type, "unit": o.unit} for key, o in skill.outputs.items()}
        unit = self._add(element, call, name)
        unit.skill = skill
        self._ports(unit, skill, given)
        return unit

    def _built_in(self, element: Element, name: str, given: dict[str, str]) -> Unit:
        port = BUILT_IN[name]
        if given.keys() != {port}:
            raise element.mistake(f"<{name}>", expected=f"the port {port}", got=", ".join(given) or "none")
        unit = self._add(element, {name: given[port].replace("$", "$$") if name != "wait_until" else given[port]}, name)
        entry = entry_of(given[port]) if name != "wait_until" else ""
        if entry:
            unit.reads[""] = (entry, Parameter(name="text", type="text"))
        return unit

    def _ports(self, unit: Unit, skill: Skill, given: dict[str, str]) -> None:
        parameters, outputs = {p.name: p for p in skill.parameters}, {port_name(name): name for name in skill.outputs}
        for port in own_ports(skill):
            raise unit.element.mistake(f"skill {skill.name!r}: its {port!r} cannot be a port")
        for name, text in given.items():
            if name == PARTS:
                unit.call["parts"] = parts_of(unit.element, text)
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

    def _give(self, unit: Unit, parameter: Parameter, text: str) -> None:
        try:
            entry = entry_of(text)
            if entry:
                unit.reads[parameter.name] = (entry, parameter)
            else:
                unit.call.setdefault("with", {})[parameter.name] = read_value(text, parameter)
        except DefinitionError as error:
            raise unit.element.located(error) from None

    def _write(self, unit: Unit, port: str, output: str, text: str) -> None:
        entry = entry_of(text)
        if not entry:
            raise unit.element.mistake(f"port {port!r} is an output", expected=f"an entry such as {{{port}}}", got=text)
        unit.writes[entry] = output


def _refuse_scripts(element: Element) -> None:
    """Refuse pre- and postconditions."""
    for name in element.attributes:
        if name.startswith("_") and name not in (*WITHOUT_MEANING, "_autoremap"):
            raise element.mistake(f"attribute {name!r} is not imported", expected="no scripts and conditions")
