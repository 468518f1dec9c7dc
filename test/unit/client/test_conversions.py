from __future__ import annotations

import math

import numpy as np
import pytest

from robot_rt_control import msg
from robot_rt_control.client import Action, Reaction, Strategy, variable
from robot_rt_control.client.actions import parameter_values
from robot_rt_control.client.conversions import action_message, event_of, parameter_messages
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.mark.parametrize(
    ("value", "values", "text", "unit"),
    [
        (0.5, [0.5], "", ""),
        (True, [1.0], "", ""),
        (3, [3.0], "", ""),
        ("tool", [], "tool", ""),
        ([1, 2.5], [1.0, 2.5], "", ""),
        (np.array([0.1, 0.2]), [0.1, 0.2], "", ""),
        ((0.1, "m/s"), [0.1], "", "m/s"),
        (([0.0, 1.0], "rad"), [0.0, 1.0], "", "rad"),
        ((0.0, 1.0), [0.0, 1.0], "", ""),
    ],
)
def test_parameters_are_numbers_texts_or_lists_with_an_optional_unit(value, values, text, unit):
    (message,) = parameter_messages(parameter_values({"p": value}))
    assert (message.name, list(message.values), message.text, message.unit) == ("p", values, text, unit)


def test_other_values_are_refused_by_name():
    with pytest.raises(DefinitionError, match="parameter 'speed'; expected a number, bool, text or list of numbers"):
        parameter_values({"speed": object()})


def test_an_action_with_strategies_is_refused_instead_of_sent_without_them():
    action = Action("a", "hold", strategies={"elbow": [Strategy("s", "velocity", velocity=0.1)]})
    with pytest.raises(DefinitionError) as caught:
        action_message(action.definition(("arm",)))
    assert str(caught.value) == (
        "action 'a' has strategies; expected an action without, over ROS; got strategies of elbow. "
        "Upload it as the text of a program"
    )


def test_an_action_becomes_a_message_with_its_reactions():
    up = Action("up", "velocity_move", linear=[0, 0, 1])
    down = Action(
        "down",
        "velocity_move",
        parts={"part": "arm"},
        linear=([0, 0, -1], "m/s"),
        reactions=[Reaction(variable("d.distance") < 0.2, start=up, event="near", capture=[variable("d.distance")])],
    )
    message = action_message(down.definition(("arm", "gripper")))
    assert (message.id, message.type, message.parts) == ("down", "velocity_move", ["part=arm"])
    (reaction,) = message.reactions
    assert (reaction.condition, reaction.start, reaction.event) == ("d.distance < 0.2", "up", "near")
    assert reaction.capture == ["d.distance"]


def test_without_parts_the_sessions_only_part_is_meant():
    assert action_message(Action("a", "hold").definition(("arm",))).parts == ["arm"]
    with pytest.raises(DefinitionError, match="action 'a': which part; expected parts=…, as the session holds 2 parts"):
        Action("a", "hold").definition(("arm", "gripper"))


def test_an_event_carries_its_captured_values_by_name():
    message = msg.Event(kind="reaction_fired", tick=7, event="near", names=["d.distance", "x"], values=[0.2, math.nan])
    message.stamp.sec, message.stamp.nanosec = 3, 500_000_000
    event = event_of(message)
    assert (event.name, event.tick, event.time) == ("near", 7, 3.5)
    assert event.values["d.distance"] == 0.2 and math.isnan(event.values["x"])
