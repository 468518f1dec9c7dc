"""Writes an expression as the nodes of a blueprint: what surrounds a unit becomes the candidates of its node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_rt_control.blueprint.exchange.expressions import FAILURES, Changed, Expression, If, Serial, Unit
from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.blueprint.graph.results import ANY as ANY_RESULT
from robot_rt_control.blueprint.graph.results import DONE, FAILED, FAILURE
from robot_rt_control.blueprint.text.levels import BLUEPRINT
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.program.schema import ParameterDeclaration
from robot_rt_control.text.dump import dump

End = tuple[str, str]
"""("go", node) or ("end", result)."""
_DONE, _FAILED = ("end", DONE), ("end", FAILED)


@dataclass(kw_only=True)
class MadeSkill:
    """A skill that was made of a tree or of a part of one."""

    template: SkillTemplate
    parameters: dict[str, Parameter]
    outputs: dict[str, Any]
    elements: dict[str, Element]
    """Node → what it was made of."""


class GraphWriter:
    """Writes one skill.

    Args:
        name: of the skill.
        units: what becomes its nodes.
        caught: id of the node that is visited if it fails; its failure is then the output FAILURES. Empty: it fails.

    Attributes:
        warnings: elements that were left out, because nothing leads to them.
    """

    def __init__(self, name: str, units: Sequence[Unit], *, caught: str = "") -> None:
        self._name, self._units, self._caught = name, units, caught
        self.warnings: list[str] = []
        self._nodes: dict[str, dict[str, Any]] = {}
        self._parameters: dict[str, Parameter] = {}
        self._written: dict[str, str] = {}
        """Entry of the blackboard → reference to the output that writes it."""
        self._needed: dict[str, list[str]] = {}
        """Node → its outputs that are read."""

    def write(self, expression: Expression, wanted: Collection[str]) -> MadeSkill:
        """Write the skill.

        Args:
            wanted: entries that become outputs, if something in it writes them.

        Raises:
            DefinitionError: entries of the blackboard do not agree.
        """
        callers = [call for unit in self._units for call in (unit, *unit.branch_of.values())]
        read = {*wanted} | {entry for call in callers for entry, _ in call.reads.values()}
        for unit in self._units:
            for entry, output in unit.writes.items():
                if entry in self._written:
                    raise unit.element.mistake(
                        f"entry {{{entry}}} is written by two nodes", expected="one node that writes it"
                    )
                self._written[entry] = f"${unit.id}.{output}"
                if entry in read:
                    self._needed.setdefault(unit.id, []).append(output)
        caught = self._caught
        start = self._emit(expression, _DONE, ("go", caught) if caught else _FAILED)
        if caught:
            self._nodes[caught] = {"set": {FAILURES: 1}}
        order = [unit.id for unit in self._units] + ([caught] if caught else [])
        self._leave_out(start[1])
        outputs: dict[str, Any] = {entry: {**self._output(entry), "value": self._written[entry]}
                                   for entry in sorted(self._written.keys() & {*wanted})}  # fmt: skip
        if caught:
            outputs[FAILURES] = {"type": "int", "value": f"${FAILURES}"}
        data: dict[str, Any] = {
            "name": self._name,
            "level": BLUEPRINT,
            "parameters": {name: _declaration(p) for name, p in self._parameters.items()},
            "outputs": outputs,
            "values": {FAILURES: {"type": "int", "default": 0}} if caught else {},
            "start": start[1],
            "nodes": {id: self._nodes[id] for id in order if id in self._nodes},
        }
        text = dump({key: value for key, value in data.items() if value})
        template = SkillTemplate(text, source=f"{self._name}.yaml")
        elements = {unit.id: unit.element for unit in self._units}
        return MadeSkill(template=template, parameters=self._parameters, outputs=outputs, elements=elements)

    def _leave_out(self, start: str) -> None:
        """Leave out what can never run, such as what follows ForceFailure in a Sequence."""
        reached, waiting = {start}, [start]
        while waiting:
            then = self._nodes[waiting.pop()].get("then", [])
            listed = [then] if isinstance(then, str) else [candidate.get("go", "") for candidate in then]
            waiting += [id for id in listed if id and id not in reached]
            reached |= {*filter(None, listed)}
        for unit in self._units:
            if unit.id not in reached:
                del self._nodes[unit.id]
                self.warnings.append(str(unit.element.mistake(f"<{unit.element.tag}> can never run")))
        self._nodes = {id: node for id, node in self._nodes.items() if id in reached}

    def _output(self, entry: str) -> dict[str, Any]:
        """Type and unit of what a node writes."""
        for unit in self._units:
            if entry in unit.writes:
                found = unit.call.get("_outputs", {}).get(unit.writes[entry])
                return {} if found is None else {k: v for k, v in found.items() if v and k in ("type", "unit")}
        return {}

    def _emit(self, expression: Expression, success: End, failure: End) -> End:
        """Make the nodes of an expression. Returns where it begins.

        Args:
            success, failure: what follows.
        """
        match expression:
            case Serial(children=children, fallback=fallback):
                for child in reversed(children):
                    entry = self._emit(child, success, failure)
                    success, failure = (success, entry) if fallback else (entry, failure)
                return entry
            case If(condition=condition, then=then, otherwise=otherwise):
                yes = self._emit(then, success, failure)
                no = failure if otherwise is None else self._emit(otherwise, success, failure)
                return self._emit(condition, yes, no)
            case Changed(child=child, how=how):
                if how == "Inverter":
                    return self._emit(child, failure, success)
                always = success if how == "ForceSuccess" else failure
                return self._emit(child, always, always)
            case Unit():
                return self._emit_unit(expression, success, failure)

    def _emit_unit(self, unit: Unit, success: End, failure: End) -> End:
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
        shown = {"title": unit.title} if unit.title else {}
        self._nodes[unit.id] = {**shown, **node, **unit.bounds, **({"then": then} if then else {})}
        return here

    def _giving(self, unit: Unit) -> list[str]:
        """The successes of a leaf that give the outputs that are read; empty: each does."""
        needed = self._needed.get(unit.id)
        if unit.skill is None or not needed:
            return []
        successes = [result for result, failure in unit.skill.results.items() if not failure]
        giving = [result for result in successes if unit.skill.given.get(result, frozenset()) >= {*needed}]
        if not giving:
            raise unit.element.mistake(f"skill {unit.skill.name!r}: no success gives {', '.join(needed)}")
        return [] if giving == successes else giving

    def _filled(self, unit: Unit) -> dict[str, Any]:
        """The call with the entries that it reads."""
        call = {key: value for key, value in unit.call.items() if key != "_outputs"}
        for name, (entry, parameter) in unit.reads.items():
            value = self._written.get(entry)
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
        there = self._parameters.setdefault(entry, replace(parameter, name=entry))
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
