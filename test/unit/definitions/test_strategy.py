"""What strategies refuse by themselves; what depends on parts and types: rules Y9 and Y10."""

from __future__ import annotations

import pytest

from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.definitions.strategy import AxisDefinition, StrategyDefinition
from robot_rt_control.vocabulary.errors import CapacityError, ConditionError, DefinitionError


def test_a_name_a_law_and_a_condition_are_checked_at_once() -> None:
    with pytest.raises(DefinitionError, match="name of a strategy is not valid.*got '1st'"):
        StrategyDefinition(name="1st", law="hold")
    with pytest.raises(DefinitionError, match="strategy 'a': law is not valid"):
        StrategyDefinition(name="a", law="hold!")
    with pytest.raises(ConditionError, match="condition of strategy 'a'"):
        StrategyDefinition(name="a", law="hold", when="x <")
    assert StrategyDefinition(name="a", law="hold", when="x <", parse=False).when == "x <"
    twice = (ParameterValue(name="v", value=1), ParameterValue(name="v", value=2))
    with pytest.raises(DefinitionError, match="strategy 'a': parameter 'v' is given twice"):
        StrategyDefinition(name="a", law="hold", parameters=twice)


def test_inputs_and_captures_are_checked_at_once() -> None:
    with pytest.raises(DefinitionError, match="strategy 'a': name of an input is not valid.*got 'b=c'"):
        StrategyDefinition(name="a", law="hold", inputs=(("b=c", "time"),))
    with pytest.raises(DefinitionError, match="strategy 'a': state variable of input 'b' is not valid.*got 'x y'"):
        StrategyDefinition(name="a", law="hold", inputs=(("b", "x y"),))
    with pytest.raises(DefinitionError, match="strategy 'a': name of a captured state variable is not valid.*got '1'"):
        StrategyDefinition(name="a", law="hold", capture=("1",))
    with pytest.raises(CapacityError, match="strategy 'a': captures too much; expected at most 8 .*; got 9"):
        StrategyDefinition(name="a", law="hold", capture=("time",) * 9)


@pytest.mark.parametrize("name", ["elbow", "joint[3]", "left.elbow", "left.joint[12]"])
def test_names_of_degrees_of_freedom(name: str) -> None:
    default = StrategyDefinition(name="a", law="hold")
    assert AxisDefinition(axis=name, strategies=(default,)).axis == name


@pytest.mark.parametrize("name", ["", "3", "a.b.c", "joint[-1]", "joint[01]", "joint [3]", 3])
def test_other_names_are_refused(name: str) -> None:
    default = StrategyDefinition(name="a", law="hold")
    with pytest.raises(DefinitionError) as caught:
        AxisDefinition(axis=name, strategies=(default,))
    assert str(caught.value) == (
        f"name of a degree of freedom; expected a joint such as 'elbow', 'joint[3]' or 'left.elbow'; got {name!r}"
    )
