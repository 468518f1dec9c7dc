from __future__ import annotations

import math

import numpy as np
import pytest

from robot_rt_control import msg
from robot_rt_control.client import Action, Reaction, Strategy, StrategyState, variable
from robot_rt_control.client.actions import parameter_values
from robot_rt_control.client.conversions import (
    action_message,
    event_of,
    parameter_messages,
    reaction_message,
    state_of,
)
from robot_rt_control.ros.conversions import action_definition, reaction_definition, time_message
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.node.conversions import event_message
from robot_rt_control.server.node.program_messages import state_message
from robot_rt_control.server.programs.program_states import SessionState
from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.event_kinds import Kind


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


def test_a_set_of_actions_goes_there_and_back():
    reaction = Reaction("true", start=["a", "b"]).definition()
    message = reaction_message(reaction)
    assert message.start == "a, b"
    assert reaction_definition(message) == reaction
    assert reaction_definition(msg.Reaction(condition="true", event="e")).start == ()


def test_strategies_go_there_and_back():
    fast = Strategy(
        "fast", "follow", when="eye.distance >= 0.3", parts="eye", inputs={"d": "eye.distance", "v": variable("a.v")},
        capture=["eye.distance", variable("x.ticks")], velocity=(0.3, "rad/s"), mode="soft",
    )  # fmt: skip
    strategies = {"elbow": [fast, Strategy("slow", "velocity")], "joint[2]": [Strategy("keep", "hold")]}
    action = Action("a", "hold", strategies=strategies, time_limit=2.5).definition(("arm",))
    message = action_message(action)
    elbow, joint = message.strategies
    assert (elbow.degree_of_freedom, [s.name for s in elbow.strategies]) == ("elbow", ["fast", "slow"])
    assert (joint.degree_of_freedom, joint.strategies[0].law) == ("joint[2]", "hold")
    assert elbow.strategies[0].inputs == ["d=eye.distance", "v=a.v"]
    assert elbow.strategies[0].capture == ["eye.distance", "x.ticks"]
    assert action_definition(message) == action


def test_an_input_of_a_message_names_its_variable():
    message = msg.ActionDefinition(id="a", type="hold", parts=["arm"])
    message.strategies = [msg.StrategyList(degree_of_freedom="x")]
    message.strategies[0].strategies = [msg.Strategy(name="s", law="force", inputs=["force"])]
    with pytest.raises(DefinitionError) as caught:
        action_definition(message)
    assert str(caught.value) == ("strategy 's': input; expected 'input=variable': 'force=watch.push_x'; got 'force'")


def test_a_change_of_strategy_and_the_governing_ones_go_there_and_back():
    change = ServerEvent(
        kind=Kind.STRATEGY_CHANGED, current_action="a", degree_of_freedom="x", from_strategy="fast", to_strategy="slow",
        names=("eye.distance",), values=(0.2,),
    )  # fmt: skip
    event = event_of(event_message(change, time_message(0)))
    assert (event.degree_of_freedom, event.from_strategy, event.to_strategy) == ("x", "fast", "slow")
    assert event.values == {"eye.distance": 0.2}
    state = SessionState(session="s1", active={"a": 3}, strategies={("a", "x"): ("slow", 7), ("a", "y"): ("fast", 3)})
    assert state_of(state_message(state, time_message(0))).strategies == (
        StrategyState(action="a", degree_of_freedom="x", strategy="slow", since=7),
        StrategyState(action="a", degree_of_freedom="y", strategy="fast", since=3),
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
    assert reaction.place.rpartition(":")[0] == __file__ and reaction_definition(reaction).place == reaction.place


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


def test_S31_an_event_with_more_names_than_values_is_refused():
    message = msg.Event(kind="reaction_fired", names=["x", "y"], values=[0.2])
    with pytest.raises(DefinitionError, match="captured values; expected a value for each of 2 names; got 1"):
        event_of(message)


@pytest.mark.parametrize("count", ["tick", "sequence"])
def test_S31_an_event_with_a_count_that_nothing_reaches_is_refused(count: str):
    with pytest.raises(DefinitionError, match=rf"{count}; expected at most 2\^53; got 18446744073709551615"):
        event_of(msg.Event(kind="reaction_fired", **{count: 2**64 - 1}))
