from __future__ import annotations

import sys

import pytest

from robot_rt_control.client import Action, Reaction
from robot_rt_control.client.actions import reply_of
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.vocabulary.errors import DefinitionError


def test_a_reply_goes_to_an_action_by_id_or_as_it_is():
    action = Action("a", "hold")
    assert Reaction("true", call=print, reply_to=action).reply_to == "a"
    assert Reaction("true", call=print, reply_to="b").reply_to == "b"
    with pytest.raises(DefinitionError, match="reply_to='b'; expected a callback to reply; got no `call`"):
        Reaction("true", reply_to="b")


def test_a_callback_returns_parameters_or_nothing():
    assert reply_of(None, "a") == {} and reply_of({"velocity": 0.1}, "a") == {"velocity": 0.1}
    with pytest.raises(DefinitionError, match=r"result for action 'a'; expected a mapping .* or None; got \[1\]"):
        reply_of([1], "a")


def test_a_defined_action_becomes_one_for_a_session_with_the_same_definition() -> None:
    reaction = ReactionDefinition(condition="is_done", start=("next",), event="there", fire_once=True, capture=("a.b",))
    parameters = (ParameterValue(name="position", value=(0.1, 0.2), unit="rad"), ParameterValue(name="n", value=(1.0,)))
    for parts in (("arm",), {"left": "arm"}):
        defined = ActionDefinition(
            id="move", type="move_joint", parts=parts, parameters=parameters, reactions=(reaction,), time_limit=2.0
        )
        assert Action.of(defined).definition(("arm",)) == defined


def test_E25_a_reaction_knows_the_line_that_defined_it() -> None:
    line = sys._getframe().f_lineno
    near, far = Reaction("d.distance < 1", event="near"), Reaction("d.distance > 1", event="far", place="tour.yaml:4")
    assert near.definition().place == f"{__file__}:{line + 1}"
    assert far.definition().place == Reaction.of(far.definition()).place == "tour.yaml:4"
    assert near.definition() == Reaction("d.distance < 1", event="near").definition(), "the same, defined elsewhere"
    long = Reaction("is_done", stop=True, place=f"{'x' * 300}/pick.py:31")
    assert len(long.definition().place) == 250 and long.definition().place.endswith("/pick.py:31")
