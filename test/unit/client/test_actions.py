from __future__ import annotations

import pytest

from robot_rt_control.client import Action, Reaction
from robot_rt_control.client.actions import reply_of
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
