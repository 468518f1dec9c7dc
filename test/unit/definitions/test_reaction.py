"""Reactions as users define them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from robot_rt_control.definitions.reaction import ReactionDefinition
from robot_rt_control.vocabulary.errors import CapacityError, ConditionError, DefinitionError


def reaction(**given: Any) -> ReactionDefinition:
    return ReactionDefinition(**{"condition": "is_done", "name": "r", **given})


def test_accepts_combined_responses() -> None:
    full = reaction(start="up", signal="pause", event="gone", fire_once=True, keep_owner=True, capture=["a.b[1]", "c"])
    assert full.capture == ("a.b[1]", "c")
    assert reaction(stop=True, event="gone", capture="c").capture == ("c",)
    assert ReactionDefinition(condition="x < 1", event="e").label == "reaction on 'x < 1'"
    assert full.label == "reaction 'r'"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "reaction 'r' has no response; expected at least one of start, stop, signal, event; got none"),
        ({"capture": ["x"]}, "reaction 'r' has no response"),
        (
            {"start": "up", "stop": True},
            "reaction 'r' starts and stops; expected start or stop, not both; got start 'up' with stop. "
            "Starting an action ends the owner already, unless keep_owner is set",
        ),
        (
            {"event": "e", "keep_owner": True},
            "reaction 'r' keeps its owner; expected keep_owner together with start; got no start",
        ),
        ({"start": "go up"}, "reaction 'r': id of the action to start is not valid; expected letters"),
        ({"signal": "a/b"}, "reaction 'r': signal is not valid; expected 'signal' (of the owner) or 'action.signal'"),
        ({"event": "too close"}, "reaction 'r': name of the event is not valid"),
        ({"event": "e", "stop": 1}, "reaction 'r': 'stop'; expected true or false; got 1"),
        ({"event": "e", "fire_once": "yes"}, "reaction 'r': 'fire_once'; expected true or false; got 'yes'"),
        ({"event": "e", "capture": ["x", "y z"]}, "reaction 'r': name of a captured state variable is not valid"),
        ({"event": "e", "capture": 3}, "reaction 'r': capture; expected a name, or a list of names; got 3"),
        ({"event": "e", "name": "my reaction"}, "name of a reaction is not valid"),
    ],
)
def test_refuses(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        reaction(**given)
    assert str(caught.value).startswith(message)


def test_capture_capacity() -> None:
    reaction(event="e", capture=[f"x{i}" for i in range(8)])
    with pytest.raises(
        CapacityError, match=r"reaction 'r': captures too much; expected at most 8 .*MAX_CAPTURES\); got 9"
    ):
        reaction(event="e", capture=[f"x{i}" for i in range(9)])


def test_condition_is_parsed_at_once() -> None:
    with pytest.raises(ConditionError) as caught:
        reaction(condition="x <", event="e")
    assert str(caught.value).startswith("condition of reaction 'r' is not valid at column 4")
    assert str(caught.value).endswith("\n  x <\n     ^")


def test_free_standing() -> None:
    reaction(signal="drift.pause", start="up").check_free_standing()
    with pytest.raises(DefinitionError, match="reaction 'r' keeps its owner; .*got a free-standing reaction"):
        reaction(start="up", keep_owner=True).check_free_standing()
    with pytest.raises(
        DefinitionError, match="signal; expected 'action.signal' in a free-standing reaction; got 'pause'"
    ):
        reaction(signal="pause").check_free_standing()


def test_a_condition_that_is_judged_later() -> None:
    later = ReactionDefinition(condition="x <", event="e", parse=False)
    assert (later.condition, later.label) == ("x <", "reaction on 'x <'")
    with pytest.raises(DefinitionError, match="reaction on 'x <' has no response"):
        ReactionDefinition(condition="x <", parse=False)
    with pytest.raises(ConditionError, match="condition is not valid at column 4"):
        replace(later, event="f")
