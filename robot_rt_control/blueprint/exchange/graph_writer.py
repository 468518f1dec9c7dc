"""Writes an expression as the nodes of a blueprint: what surrounds a unit becomes the candidates of its node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_rt_control.blueprint.exchange.assignment import Assignment
from robot_rt_control.blueprint.exchange.expressions import FAILURES, Changed, Expression, If, Serial, Unit
from robot_rt_control.blueprint.exchange.ports import read_value
from robot_rt_control.blueprint.exchange.subtree_models import Port
from robot_rt_control.blueprint.exchange.xml_reader import Element
from robot_rt_control.blueprint.graph.results import ANY as ANY_RESULT
from robot_rt_control.blueprint.graph.results import DONE, FAILED, FAILURE
from robot_rt_control.blueprint.text.levels import BLUEPRINT
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.program.schema import ParameterDeclaration
from robot_rt_control.text.dump import dump
from robot_rt_control.text.scalar import parse_scalar
from robot_rt_control.vocabulary.errors import DefinitionError

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
        defaults: ports whose values become defaults of the parameters.

    Attributes:
        warnings: elements that were left out, because nothing leads to them.
    """

    def __init__(
        self, name: str, units: Sequence[Unit], *, caught: str = "", defaults: Mapping[str, Port] | None = None
    ) -> None:
        self._defaults = defaults or {}
        self._name, self._units, self._caught = name, [*units], caught
        self.warnings: list[str] = []
        self._nodes: dict[str, dict[str, Any]] = {}
        self._parameters: dict[str, Parameter] = {}
        self._values: dict[str, Parameter] = {}
        """Entry of the blackboard that SetBlackboard writes → how it is declared, with its first value."""
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
        sets = {unit.sets for unit in self._units if unit.sets}
        for unit in self._units:
            for entry, output in unit.writes.items():
                if (entry in self._written and entry in read) or entry in sets:
                    raise unit.element.mistake(
                        f"entry {{{entry}}} is written by two nodes", expected="one node that writes it"
                    )
                self._written[entry] = f"${unit.id}.{output}"
                if entry in read:
                    self._needed.setdefault(unit.id, []).append(output)
        expression = self._find_values(expression, sets, wanted)
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
            "values": {
                **{entry: _declaration(p) for entry, p in self._values.items()},
                **({FAILURES: {"type": "int", "default": 0}} if caught else {}),
            },
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
            if unit.id not in reached and unit.id in self._nodes:
                del self._nodes[unit.id]
                self.warnings.append(str(unit.element.mistake(f"<{unit.element.tag}> can never run")))
        self._nodes = {id: node for id, node in self._nodes.items() if id in reached}

    def _output(self, entry: str) -> dict[str, Any]:
        """Type and unit of what a node writes, or of a value."""
        if entry in self._values:
            return {k: v for k, v in _declaration(self._values[entry]).items() if k in ("type", "unit")}
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
        then: Any
        if unit.guard:
            ((id, body),) = unit.branch_of.items()
            node["first_of"] = {**node["first_of"], id: self._filled(body)}
            also = [unit.guard] if unit.guard_succeeds else []
            then = [_candidate(success, on=[*also, id] if also else id), _candidate(failure, on=ANY_RESULT)]
        elif unit.when:
            then = [_candidate(success, when=unit.when), _candidate(failure)]
        elif unit.sets:
            node = {"set": {unit.sets: self._set_to(unit)}}
            then = _candidates(success, failure, [])
        elif unit.branch_of:
            node["all_of"] = {id: self._filled(branch) for id, branch in unit.branch_of.items()}
            counted = " + ".join(f"${unit.id}.{id}.{FAILURES}" for id in unit.branch_of)
            then = [
                _candidate(success, when=f"{counted} < {unit.at_most}"),
                _candidate(failure, on=ANY_RESULT),
            ]
        else:
            node = self._filled(unit)
            then = _candidates(success, failure, self._giving(unit))
        self._nodes[unit.id] = {**node, **unit.bounds, **({"then": then} if then else {})}
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

    # --- values ---------------------------------------------------------------------------------

    def _find_values(self, expression: Expression, sets: set[str], wanted: Collection[str]) -> Expression:
        """Declare the entries that SetBlackboard writes as values. Returns what is left: those that are set to a value
        of their own before anything else have it as their first one."""
        for entry in sorted(sets):
            self._values[entry] = self._kind_of(entry, frozenset())
        first: dict[str, Unit] = {}
        if isinstance(expression, Serial) and not expression.fallback:
            for child in expression.children[:-1]:
                if not isinstance(child, Unit) or not child.sets or child.text is None or child.sets in first:
                    break
                first[child.sets] = child
            if first:
                expression = replace(expression, children=expression.children[len(first) :])
        for entry, unit in first.items():
            self._values[entry] = replace(self._values[entry], default=self._set_to(unit))
            self._units.remove(unit)
        found = Assignment(expression, sets, frozenset(first))
        for unit, entry in found.early:
            expected = "SetBlackboard before it on every way"
            raise unit.element.mistake(f"entry {{{entry}}} may be read before it is set", expected=expected)
        for entry in sorted(sets & {*wanted}):
            if not found.surely(entry):
                setting = next(unit for unit in (*first.values(), *self._units) if unit.sets == entry)
                raise setting.element.mistake(
                    f"entry {{{entry}}} is read elsewhere, and may not be set",
                    expected="SetBlackboard on every way through what is repeated, a branch or a tree of its own",
                )
            self._written[entry] = f"${entry}"
        return expression

    def _kind_of(self, entry: str, asked: frozenset[str]) -> Parameter:
        """A value, as what reads it is declared; else as what is written to it."""
        readers = [call for unit in self._units for call in (unit, *unit.branch_of.values()) if not call.sets]
        for call in readers:
            for read, parameter in call.reads.values():
                if read == entry:
                    return replace(_plain(parameter), name=entry, default=_FIRST[parameter.type](parameter.length))
        setting = [unit for unit in self._units if unit.sets == entry]
        sources = [source for unit in setting for source, _ in unit.reads.values()]
        targets = [u.sets for u in self._units if u.sets and entry in [source for source, _ in u.reads.values()]]
        for other in (*targets, *sources):
            if other not in asked and other != entry:
                return replace(self._kind_of(other, asked | {entry}), name=entry)
        if not setting and entry in self._written:
            given = {"type": "float", "unit": "", **self._output(entry)}
            return Parameter(name=entry, **given, default=_FIRST[given["type"]](1))
        written = [parse_scalar(unit.text.strip()) for unit in setting if unit.text is not None]
        for name, kinds in (("bool", {bool}), ("int", {int}), ("float", {int, float})):
            if written and {type(value) for value in written} <= kinds:
                return Parameter(name=entry, type=name, default=_FIRST[name](1))
        return Parameter(name=entry, type="text", default="")

    def _set_to(self, unit: Unit) -> Any:
        """What SetBlackboard sets."""
        parameter = self._values[unit.sets]
        for source, _ in unit.reads.values():
            if source not in self._values and source not in self._written:
                self._declare(unit.element, source, parameter)
            return self._written.get(source, f"${source}")
        try:
            return read_value(unit.text or "", parameter)
        except DefinitionError as error:
            raise unit.element.located(error) from None

    def _declare(self, element: Element, entry: str, parameter: Parameter) -> None:
        there = self._values.get(entry) or self._parameters.get(entry)
        if there is None:
            there = self._parameters[entry] = replace(parameter, name=entry, default=self._default(entry, parameter))
        if (there.type, there.unit, there.length) != (parameter.type, parameter.unit, parameter.length):
            kinds = [f"{p.type} {p.unit} of length {p.length}".replace("  ", " ") for p in (there, parameter)]
            raise element.mistake(f"entry {{{entry}}} is read as different things", expected=kinds[0], got=kinds[1])


    def _default(self, entry: str, parameter: Parameter) -> Any:
        """What a parameter is when a call leaves it out."""
        port = self._defaults.get(entry)
        if port is None or not port.value:
            return None
        try:
            return read_value(port.value, replace(parameter, name=entry))
        except DefinitionError as error:
            raise port.element.located(error) from None


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


_FIRST: dict[str, Callable[[int | str], Any]] = {
    "float": lambda length: _first(0.0, length),
    "int": lambda length: _first(0, length),
    "bool": lambda length: _first(False, length),
    "text": lambda length: _first("", length),
}
"""Type → a first value that nobody reads, of a length."""


def _first(value: Any, length: int | str) -> Any:
    return value if length == 1 else [value] * (length if isinstance(length, int) else 1)


def _plain(parameter: Parameter) -> Parameter:
    """Type, length and unit alone."""
    return Parameter(name=parameter.name, type=parameter.type, length=parameter.length, unit=parameter.unit)


def _declaration(parameter: Parameter) -> dict[str, Any]:
    default = ParameterDeclaration()
    length = parameter.length if isinstance(parameter.length, int) else "any"
    given = {"type": parameter.type, "length": length, "unit": parameter.unit, "default": parameter.default}
    return {key: value for key, value in given.items() if value != getattr(default, key)}
