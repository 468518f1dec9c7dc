"""Strategies as users define them: for one degree of freedom of an action an ordered list of laws."""

from __future__ import annotations

import re
from dataclasses import InitVar, dataclass

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.definitions.reaction import captures_of
from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.names import (
    NAME_PATTERN,
    check_name,
    check_type_name,
    check_variable,
    each_once,
    names_of,
)

AXIS_PATTERN = rf"(?:{NAME_PATTERN}\.)?{NAME_PATTERN}(?:\[(?:0|[1-9][0-9]*)\])?"
_AXIS = re.compile(AXIS_PATTERN)


@dataclass(frozen=True, kw_only=True)
class StrategyDefinition:
    """A law for one degree of freedom, and when it governs.

    Args:
        name: unique in its list.
        law: name of an action type that commands one degree of freedom.
        when: the condition, see conditions/grammar.py; it is evaluated as a level in every tick. Empty: always.
        parts: parts that the law only reads, in the order of its slots after the first.
        parameters: of the law; an omitted parameter takes its default.
        inputs: (input of the law, name of the state variable that it reads), see `action_type.Input`.
        capture: names of the state variables whose values its event `strategy_changed` carries, at most MAX_CAPTURES.
        parse: False: `validation` checks the condition later, together with the rest of its program.

    Raises:
        ConditionError: the condition is not valid.
        DefinitionError, CapacityError: a name is not valid, a parameter is given twice, or there are too many captures.
    """

    name: str
    law: str
    when: str = ""
    parts: tuple[str, ...] = ()
    parameters: tuple[ParameterValue, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    capture: tuple[str, ...] = ()
    parse: InitVar[bool] = True

    def __post_init__(self, parse: bool) -> None:
        check_name("name of a strategy", self.name)
        check_type_name(f"strategy {self.name!r}: law", self.law)
        if parse and self.when:
            parse_condition(self.when, of=f"condition of strategy {self.name!r}")
        object.__setattr__(self, "parts", names_of(f"strategy {self.name!r}: parts", self.parts))
        for part in self.parts:
            check_name(f"strategy {self.name!r}: name of a part", part)
        object.__setattr__(self, "parameters", tuple(self.parameters))
        each_once(f"strategy {self.name!r}: parameter", [p.name for p in self.parameters])
        object.__setattr__(self, "inputs", tuple((name, str(variable)) for name, variable in self.inputs))
        each_once(f"strategy {self.name!r}: input", [name for name, _ in self.inputs])
        for name, variable in self.inputs:
            check_name(f"strategy {self.name!r}: name of an input", name)
            check_variable(f"strategy {self.name!r}: state variable of input {name!r}", variable)
        object.__setattr__(self, "capture", captures_of(f"strategy {self.name!r}", self.capture))


@dataclass(frozen=True, kw_only=True)
class AxisDefinition:
    """The strategies of one degree of freedom, in order of priority.

    Args:
        axis: a joint of the action's part by name or index, "elbow" or "joint[3]", or a degree of freedom that the
            action's type declares, "x"; if the action moves several parts, with the part before it: "left.elbow".
        strategies: the first whose condition holds governs; the last one has no condition.
        written: how a program's text names the degree of freedom, for its lines; empty: as `axis`.

    Raises:
        DefinitionError: the name of the degree of freedom is not valid, the list is empty or has no default, or a
            strategy that is not the last has no condition.
    """

    axis: str
    strategies: tuple[StrategyDefinition, ...]
    written: str = ""

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"strategies of {self.axis!r}"

    def __post_init__(self) -> None:
        if not isinstance(self.axis, str) or not _AXIS.fullmatch(self.axis):
            raise DefinitionError(
                "name of a degree of freedom",
                expected="a joint such as 'elbow', 'joint[3]' or 'left.elbow'",
                got=repr(self.axis),
            )
        object.__setattr__(self, "strategies", tuple(self.strategies))
        each_once(f"{self.label}: strategy", [s.name for s in self.strategies])
        if not self.strategies:
            raise DefinitionError(f"{self.label}: the list is empty", expected="at least one strategy", got="none")
        for strategy in self.strategies[:-1]:
            if not strategy.when:
                raise DefinitionError(
                    f"{self.label}: strategy {strategy.name!r} has no condition, but is not the last",
                    expected="a condition (`when`): the strategies after it would never govern",
                    got="none",
                )
        last = self.strategies[-1]
        if last.when:
            raise DefinitionError(
                f"{self.label}: there is no default",
                expected="a last strategy without `when`: it governs if no other strategy does",
                got=f"strategy {last.name!r} with the condition {last.when!r}",
                hint="Leave `when` out of the last strategy, or add one that stands still: velocity 0",
            )
