"""Parameter values, actions and programs as users define them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


def action(**given: Any) -> ActionDefinition:
    return ActionDefinition(**{"id": "up", "type": "velocity_move", "parts": "arm", **given})


def refusal(make: Any, **given: Any) -> str:
    with pytest.raises(DefinitionError) as caught:
        make(**given)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (1.5, 1.5),
        (True, True),
        ("fast", "fast"),
        ([1, 2.5], (1, 2.5)),
        ((1.0,), (1.0,)),
        (np.array([1.0, 2.0]), (1.0, 2.0)),
        (np.float64(2.0), 2.0),
        (np.int64(2), 2),
        (np.bool_(True), True),
        ([np.float64(1.0), np.int32(2)], (1.0, 2)),
    ],
)
def test_parameter_value(given: Any, value: object) -> None:
    got = ParameterValue(name="p", value=given).value
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize("given", [None, [], [[1.0]], ["a"], np.zeros((2, 2)), {"a": 1}])
def test_refuses_other_values(given: Any) -> None:
    message = refusal(ParameterValue, name="p", value=given)
    assert message.startswith(
        "value of parameter 'p'; expected a number, true, false, a text, or a flat list of numbers; got "
    )


def test_parameter_name_and_unit() -> None:
    assert "name of a parameter is not valid" in refusal(ParameterValue, name="a b", value=1)
    assert refusal(ParameterValue, name="p", value=1, unit=3) == "unit of parameter 'p'; expected a text; got 3"


def test_parts_of_an_action() -> None:
    assert action().parts == ("arm",)
    assert action(parts=["arm", "gripper"]).parts == ("arm", "gripper")
    assert action(parts={"robot": "arm"}).parts == {"robot": "arm"}
    assert action(parts=["robot=arm", "tool=gripper"]).parts == {"robot": "arm", "tool": "gripper"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": "move up"}, "id of an action is not valid"),
        ({"id": "not"}, "id of an action is a word of the condition grammar"),
        ({"type": "a/b"}, "action 'up': type is not valid"),
        ({"parts": []}, "action 'up' has no parts; expected at least one part; got none"),
        ({"parts": ["arm", "arm"]}, "action 'up': part 'arm' is given twice"),
        ({"parts": {"a": "arm", "b": "arm"}}, "action 'up': part 'arm' is given twice"),
        ({"parts": ["a=arm", "a=base"]}, "action 'up': slot 'a' is given twice"),
        ({"parts": ["a=arm", "base"]}, "action 'up': parts; expected 'slot=part' for all parts or for none"),
        ({"parts": ["a=b=c"]}, "action 'up': name of a part is not valid"),
        ({"parts": [3]}, "action 'up': name of a part is not a text"),
        ({"parts": {"a b": "arm"}}, "action 'up': name of a slot is not valid"),
        (
            {"parameters": [ParameterValue(name="p", value=1), ParameterValue(name="p", value=2)]},
            "action 'up': parameter 'p' is given twice",
        ),
        (
            {"reactions": [ReactionDefinition(name="r", condition="x", event="e")] * 2},
            "action 'up': reaction 'r' is given twice",
        ),
        (
            {"reactions": [ReactionDefinition(name="r", condition="x", start=("up",), keep_owner=True)]},
            "reaction 'r' of action 'up' keeps its owner; expected an action with other parts to start; "
            "got the owner itself",
        ),
    ],
)
def test_refuses_actions(given: dict[str, Any], message: str) -> None:
    assert refusal(action, **given).startswith(message)


def test_capacities_of_an_action() -> None:
    with pytest.raises(CapacityError, match=r"too many parts; expected at most 64 \(MAX_PARTS\); got 65"):
        action(parts=[f"p{i}" for i in range(65)])
    command = MotionCommand(part="arm", position=(0.0,))
    with pytest.raises(CapacityError, match=r"too many motion commands; expected at most 1024 .*; got 1025"):
        action(commands=[command] * 1025)


def test_the_parts_of_a_group_are_those_of_its_commands() -> None:
    commands = [MotionCommand(part=name, position=(0.0,)) for name in ("b", "a", "b")]
    assert action(parts=(), commands=commands).parts == ("b", "a")


def test_program() -> None:
    program = ProgramDefinition(actions=[action(), action(id="down")], start="up", parts=["arm"])  # type: ignore[arg-type]  # lists and single names are taken
    assert program.start == ("up",)
    assert program.parts == ("arm",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "a-b"}, "name of a program is not valid"),
        ({"actions": [action(), action()]}, "action 'up' is given twice"),
        ({"start": ["up", "up"]}, "program: id of a starting action 'up' is given twice"),
        ({"start": ["go up"]}, "program: id of a starting action is not valid"),
        ({"parts": ["arm", "arm"]}, "program: name of a part 'arm' is given twice"),
        (
            {"reactions": [ReactionDefinition(name="r", condition="x", event="e")] * 2},
            "free-standing reaction 'r' is given twice",
        ),
        ({"reactions": [ReactionDefinition(name="r", condition="x", signal="s")]}, "reaction 'r': signal"),
    ],
)
def test_refuses_programs(given: dict[str, Any], message: str) -> None:
    assert refusal(ProgramDefinition, **{"actions": [action()], **given}).startswith(message)


def test_program_capacities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacities, "MAX_ACTIONS", 2)
    monkeypatch.setattr(capacities, "MAX_REACTIONS", 2)
    reaction = ReactionDefinition(condition="x", event="e")
    actions = [action(id=f"a{i}", reactions=[reaction]) for i in range(3)]
    ProgramDefinition(actions=tuple(actions[:2]))
    assert (
        refusal(ProgramDefinition, actions=actions)
        == "too many actions; expected at most 2 (MAX_ACTIONS); got 3"
    )
    assert refusal(ProgramDefinition, actions=actions[:2], reactions=[reaction]) == (
        "too many reactions; expected at most 2 (MAX_REACTIONS); got 3"
    )
    assert "at most 64 (MAX_ACTIONS_PER_COMMAND); got 65" in refusal(
        ProgramDefinition, actions=[], start=[f"a{i}" for i in range(65)]
    )
