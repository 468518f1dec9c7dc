"""The names of one call of a graph: its parameters, values, outputs of its nodes, visits, and parts of its roles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.plan import Call, Given, Graph
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import Boolean, variables
from robot_rt_control.definitions.parameter_value import ParameterValue, Value
from robot_rt_control.program.declarations import values_of
from robot_rt_control.program.expression import KnownParameter, references
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.vocabulary.errors import DefinitionError

COUNT = ".count"
"""After a node's id: the state variable that counts its visits in this call."""


class Scope:
    """The present values of one call.

    Args:
        arguments: of the graph's parameters.
        roles: role → part.
        present: the moment at which state variables are read; None: they cannot be.

    Raises:
        DefinitionError: an argument is missing, unknown or not as declared; or a first value cannot be computed.
    """

    def __init__(
        self,
        graph: Graph,
        arguments: tuple[ParameterValue, ...],
        roles: Mapping[str, str],
        present: Callable[[], Moment] | None = None,
    ) -> None:
        self.graph, self._present = graph, present
        self.counts: Counter[str] = Counter()
        self._known: dict[str, KnownParameter] = values_of(graph.parameters, arguments, of=f"skill {graph.name!r}")
        self._substitution = Substitution(self._known, roles)
        self.set(graph.values)

    def copy(self, *, without: str = "") -> Scope:
        """The same names and values, to be changed alone; what state variables will be is not known there.

        Args:
            without: the node whose outputs have no value there.
        """
        made = copy(self)
        made._present = None
        made.counts = self.counts.copy()
        made._known = dict(self._known)
        made._substitution = Substitution(made._known, self._substitution.roles)
        if without:
            made.keep(without, {})
        return made

    def has(self, name: str) -> bool:
        """Whether this parameter, value or output has a value."""
        return name in self._known

    def part(self, name: str) -> str:
        """The part for a part or role."""
        return self._substitution.part(name)

    def arguments(self, call: Call) -> tuple[ParameterValue, ...]:
        """The arguments of a call, computed.

        Raises:
            DefinitionError: one cannot be computed, because an output has no value or is not a number.
        """
        return tuple(self.argument(name, given) for name, given in call.arguments.items())

    def argument(self, name: str, given: Given) -> ParameterValue:
        """Raises as `arguments`."""
        return self._with_state(given.references).parameter(name, given.value, given.unit, "node")[0]

    def _with_state(self, names: frozenset[str]) -> Substitution:
        """With the state variables among these names as they are now. Raises DefinitionError: one is unknown."""
        asked = sorted(names & self.graph.state.keys())
        if not asked:
            return self._substitution
        if self._present is None:
            raise DefinitionError(f"node: ${asked[0]}", expected="a moment at which it is read", got="none yet")
        moment = self._present()
        known = {name: KnownParameter(value=self._state(name, moment)) for name in asked}
        return Substitution({**self._known, **known}, self._substitution.roles)

    def _state(self, name: str, moment: Moment) -> Value:
        """A state variable, or the elements of a vector. Raises DefinitionError: it is unknown, never a zero (N55)."""
        sample = self.graph.state[name]
        found = moment.values.get(self._substitution.variable(name), math.nan)
        numbers = tuple(found) if isinstance(found, Sequence) else (found,)
        if any(math.isnan(number) for number in numbers):
            if not moment.pretended:
                raise DefinitionError(f"node: ${name}", expected="a known value of this state variable", got="unknown")
            return sample
        kind: Any = type(sample[0] if isinstance(sample, tuple) else sample)
        converted = tuple(kind(number) for number in numbers)
        return converted if isinstance(found, Sequence) else converted[0]

    def number(self, name: str, given: Given) -> float:
        """A number of seconds.

        Raises:
            DefinitionError: it is not a finite number from 0 on.
        """
        value = self.argument(name, given).value
        if isinstance(value, bool | str | tuple) or not 0.0 <= value < math.inf:
            raise DefinitionError(f"node: {name}", expected="a number of seconds, 0 or more", got=repr(value))
        return float(value)

    def set(self, given: Mapping[str, Given]) -> dict[str, Value]:
        """Set values of this call, all computed before any is set. Raises as `arguments`."""
        computed = {name: self.argument(name, value) for name, value in given.items()}
        for name, found in computed.items():
            unit = found.unit or (self._known[name].unit if name in self._known else "")
            self._known[name] = KnownParameter(value=found.value, unit=unit)
        return {name: found.value for name, found in computed.items()}

    def keep(self, node: str, outputs: Mapping[str, Value]) -> None:
        """The outputs of a node's last attempt; those of earlier ones are gone."""
        for name in [name for name in self._known if name.startswith(f"{node}.")]:
            del self._known[name]
        self.restore({f"{node}.{name}": value for name, value in outputs.items()})

    def restore(self, outputs: Mapping[str, Value]) -> None:
        """Outputs by "node.output"."""
        self._known.update({name: KnownParameter(value=value) for name, value in outputs.items()})

    def outputs(self) -> dict[str, Value]:
        """The graph's own outputs that have a value."""
        found: dict[str, Value] = {}
        for name, given in self.graph.outputs.items():
            if all(self.has(reference) or reference in self.graph.state for reference in given.references):
                try:
                    found[name] = self.argument("output", given).value  # a name can have dots
                except DefinitionError:  # a division by zero, for example: no value
                    continue
        return found

    def condition(self, text: str) -> str:
        """The condition for the loop: with numbers for references, and parts for roles.

        Raises:
            DefinitionError: an output has no value, or the value of a state variable is unknown.
        """
        return self._with_state(references(text)).condition(text, "condition")

    def holds(self, text: str, moment: Moment) -> tuple[bool | None, dict[str, Any]]:
        """The value of a condition, and what decided: the value of each of its variables, None for unknown.

        A condition with an output that has no value is unknown.
        """
        try:
            tree = parse_condition(self.condition(text), computed=True)
        except DefinitionError:
            return None, {}
        if isinstance(tree, Boolean):
            return tree.value, {}
        values = {v.name: self._variable(v.name, moment) for v in variables(tree)}
        return evaluate_ast(tree, values), {name: _shown(value) for name, value in values.items()}

    def settled(self, text: str) -> bool | None:
        """The value of a condition, whatever the robot's state is; None: it depends on it, or on an output."""
        try:
            tree = parse_condition(self.condition(text), computed=True)
        except DefinitionError:
            return None
        return tree.value if isinstance(tree, Boolean) else None

    def _variable(self, name: str, moment: Moment) -> float | Sequence[float]:
        node = name.removesuffix(COUNT)
        if node != name and node in self.graph.nodes:
            return float(self.counts[node])
        return moment.values.get(name, math.nan)


def _shown(value: float | Sequence[float]) -> Any:
    """As the log has it: None for unknown."""
    if isinstance(value, Sequence):
        return [_shown(element) for element in value]
    return None if math.isnan(value) else value
