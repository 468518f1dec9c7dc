"""Why a reaction is true now, or not: each term by the present values, in Kleene's logic."""

from __future__ import annotations

import math
from typing import Any

import pytest
from memory_robot import MemoryRobot
from served_editor import Served

from robot_rt_control.editor.reactions import reaction_shown, session_reactions
from robot_rt_control.editor.timelines import Fired

VALUES = {"d.distance": 0.15, "arm.at_rest": math.nan, "approach.is_done": 0.0, "approach.progress": 0.5,
          "progress": 9.0, "v.x": 3.0, "v.y": 0.0, "v.z": 4.0, "q[0]": 3.0, "q[1]": math.nan}  # fmt: skip


def reaction(condition: str, **more: Any) -> dict[str, Any]:
    empty = {"name": "near", "start": "", "stop": False, "signal": "", "event": "", "fire_once": False,
             "keep_owner": False, "capture": [], "place": ""}  # fmt: skip
    return {**empty, "condition": condition, **more}


def terms(condition: str, owner: str = "approach") -> list[tuple[int, str, str]]:
    found = reaction_shown(owner, reaction(condition), VALUES)["terms"]
    return [(term["depth"], term["text"], term["truth"]) for term in found]


def test_E25_each_term_is_true_false_or_unknown() -> None:
    assert terms("d.distance < 0.2 and not (arm.at_rest or is_done)") == [
        (0, "d.distance < 0.2 and not (arm.at_rest or is_done)", "unknown"),
        (1, "d.distance < 0.2", "true"),
        (1, "not (arm.at_rest or is_done)", "unknown"),
        (2, "arm.at_rest or is_done", "unknown"),
        (3, "arm.at_rest", "unknown"),
        (3, "is_done", "false"),
    ]
    assert terms("d.distance > 0.2 and arm.at_rest")[0][2] == "false", "false and unknown is false"
    assert terms("d.distance < 0.2 or arm.at_rest")[0][2] == "true"
    assert terms("is_unknown(arm.at_rest)") == [(0, "is_unknown(arm.at_rest)", "true")]


def test_E25_a_bare_name_is_the_owners() -> None:
    assert terms("progress < 1")[0][2] == "true" and terms("progress < 1", owner="")[0][2] == "false"
    assert terms("approach.progress < 1", owner="")[0][2] == "true"


def test_E25_norms_have_the_values_of_their_elements() -> None:
    assert terms("norm(v) >= 5 and norm(v) <= 5")[0][2] == "true"
    assert terms("norm(q) > 1")[0][2] == "unknown"
    (term,) = reaction_shown("", reaction("norm(v) > 1"), VALUES)["terms"]
    assert term["values"] == {"v": [3.0, 0.0, 4.0]}


def test_E25_of_a_variable_that_is_not_listed_nothing_is_said() -> None:
    assert [truth for *_, truth in terms("nobody.x > 1 and d.distance > 1")] == ["not listed", "not listed", "false"]


def test_E25_whoever_may_look_is_shown_the_reactions_of_a_session(editor: Served, robot: MemoryRobot) -> None:
    robot.variable_values = {"below.distance": 0.1, "approach.progress": math.nan}
    robot.defined["s1"] = {
        "actions": [{"id": "approach", "type": "move_joint", "parts": ["arm"],
                     "reactions": [reaction("below.distance < 0.2", start="back"), reaction("progress > 1")]}],
        "reactions": [reaction("below.distance > 5", name="far", stop=True, place="/home/ann/pick.py:31")],
    }  # fmt: skip
    cookie = editor.enter(editor.server.keys.watch)
    status, found = editor.post("reactions", {"session": "s1"}, cookie=cookie)
    assert status == 200
    assert [(r["owner"], r["name"], r["terms"][0]["truth"]) for r in found["reactions"]] == [
        ("", "far", "false"), ("approach", "near", "true"), ("approach", "near", "unknown"),
    ]  # fmt: skip
    assert found["reactions"][1]["start"] == "back" and found["reactions"][0]["stop"] is True
    assert [each["place"] for each in found["reactions"]] == ["/home/ann/pick.py:31", "", ""]
    assert found["reactions"][2]["terms"][0]["values"] == {"progress": None}
    assert all("fired" not in each for each in found["reactions"])
    own = editor.post("reactions", {"session": "s1", "action": "approach"}, cookie=cookie)[1]["reactions"]
    assert [each["owner"] for each in own] == ["approach"] * 2
    status, found = editor.post("reactions", {"session": "s9"}, cookie=cookie)
    assert status == 200 and not found["success"] and "s9" in found["message"]


def test_E25_of_a_firing_the_terms_are_shown_by_the_values_of_its_tick(robot: MemoryRobot) -> None:
    robot.variable_values = {"d.distance": 0.5, "approach.progress": 0.9}
    condition = "d.distance < 0.2 and progress < 0.5"
    robot.defined["s1"] = {
        "actions": [{"id": id, "type": "hold", "parts": ["arm"],
                     "reactions": [reaction(condition), reaction("d.x > 1")]} for id in ("approach", "retreat")],
        "reactions": [],
    }  # fmt: skip
    then = Fired(session="s1", reaction="near", owner="approach", values={"d.distance": 0.1, "progress": 0.4})
    robot.defined["s1"]["actions"][0]["reactions"][1]["name"] = "other"
    near, other, elsewhere, _ = session_reactions(robot, {"session": "s1"}, then)
    assert [term["truth"] for term in near["terms"]] == ["false"] * 3
    assert [term["truth"] for term in near["fired"]] == ["true"] * 3
    assert near["fired"][1]["values"] == {"d.distance": 0.1}
    assert "fired" not in other and "fired" not in elsewhere


@pytest.mark.parametrize("session", [None, 1, [], {"a": 1}, "x" * 100_000])
def test_E25_a_session_that_is_none_is_refused(editor: Served, session: Any) -> None:
    cookie = editor.enter(editor.server.keys.watch)
    status, found = editor.post("reactions", {"session": session}, cookie=cookie)
    assert status == 200 and not found["success"]
