"""Rule E31 of docs/semantics/editor.md over HTTP: goals as they would be; and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory_robot import MemoryRobot
from served_editor import Served

from robot_rt_control.editor import keys
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.workcell import load_workcell


@pytest.fixture
def arm(robot: MemoryRobot) -> PartFacts:
    """The robot is an iiwa, at its first position."""
    workcell = load_workcell(find_workcell("iiwa"))
    facts = PartFacts(workcell.part("arm"))
    robot.description_text = workcell.robot_description()
    robot.positions = dict(zip(workcell.joint_state_names()["arm"], facts.commanded_position.tolist(), strict=True))
    part = {
        "name": "arm", "kind": "arm", "joint_names": list(facts.joint_names), "command_modes": ["position"],
        "position_lower": facts.limits("position_lower").tolist(),
        "position_upper": facts.limits("position_upper").tolist(),
    }  # fmt: skip
    robot.parts = lambda: [part]  # type: ignore[method-assign]
    return facts


def asked(editor: Served, cookie: str, **body: Any) -> tuple[int, dict[str, Any]]:
    status, answer = editor.post("goal", {"part": "arm", **body}, cookie=cookie)
    return status, dict(answer)


@pytest.fixture
def ann(editor: Served, arm: PartFacts) -> str:
    """The cookie of somebody who may edit; the scene is there."""
    cookie = editor.enter(editor.server.keys.operate, "Ann")
    assert editor.post("scene", cookie=cookie)[1]["success"]
    return cookie


def test_E31_a_goal_is_answered_and_refused_in_words(editor: Served, arm: PartFacts, ann: str) -> None:
    q = [float(each) + 0.1 for each in arm.commanded_position]
    status, answer = asked(editor, ann, q=q)
    p, o = arm.forward(q)
    assert status == 200 and answer["success"], answer
    assert answer["position"] == pytest.approx(p, abs=1e-9) and answer["orientation"] == pytest.approx(o, abs=1e-9)
    assert answer["q"] == q and len(answer["joints"]) == 7
    found = asked(editor, ann, position=(p + [0, 0, 0.03]).tolist(), orientation=o.tolist(), seed=q)[1]
    assert found["lacks"] == [0.0, 0.0] and arm.forward(found["q"])[0] == pytest.approx(p + [0, 0, 0.03], abs=2e-6)
    for body, text in (
        ({}, "expected either q, or position and orientation"),
        ({"q": q, "position": [0, 0, 1]}, "expected either q, or position"),
        ({"q": q[1:]}, "goal: q; expected 7 numbers"),
        ({"q": [*q[1:], True]}, "goal: q"),
        ({"q": [*q[1:], 1e4]}, "goal: q"),
        ({"q": [*q[1:], 10**400]}, "goal: q"),
        ({"q": [*q[1:], float("nan")]}, "goal: q"),
        ({"q": "x"}, "goal: q"),
        ({"position": [0, 0, {}]}, "goal: position; expected 3 numbers"),
        ({"orientation": [0, 0, 0, 2]}, "a quaternion x y z w of length 1"),
        ({"position": [0, 0, 1], "seed": [0]}, "goal: seed"),
        ({"part": "leg", "q": q}, "part 'leg'; expected one of"),
        ({"part": ["arm"], "q": q}, "goal: part"),
    ):
        status, answer = asked(editor, ann, **body)
        assert status == 200 and not answer["success"] and text in answer["message"], (body, answer)


def test_E31_a_robot_whose_joints_are_not_known_has_no_goal(
    editor: Served, robot: MemoryRobot, arm: PartFacts, ann: str
) -> None:
    robot.positions = {}
    assert "are not in the scene" in asked(editor, ann, q=[0.0] * 7)[1]["message"]


def test_E31_each_person_gets_as_many_goals_as_are_computed(
    editor: Served, robot: MemoryRobot, arm: PartFacts, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_WATCHERS_GOALS", (1e-6, 2.0))
    eve = editor.enter(editor.server.keys.watch, "Eve")
    assert [asked(editor, eve, q=[0.0] * 7)[0] for _ in range(3)] == [200, 200, 429]
    assert asked(editor, ann, q=[0.0] * 7)[0] == 200
    assert editor.post("goal", {"part": "arm", "q": [0.0] * 7}, cookie="")[0] == 403


def test_E31_a_process_that_dies_is_started_anew_and_loads_no_compiler(
    editor: Served, arm: PartFacts, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor.server._goals, "rest", lambda: None)  # nobody looks: it would end the process meanwhile
    assert asked(editor, ann, position=[0.5, 0.0, 0.5])[1]["success"]  # the first one compiles what is not kept yet
    first = editor.server._goals._process._process
    assert first is not None
    first.kill()
    answers = [asked(editor, ann, position=[0.5, 0.0, 0.5])[1] for _ in range(3)]
    assert answers[-1]["success"] and np.isfinite(answers[-1]["position"]).all(), answers
    process = editor.server._goals._process._process
    assert process is not None and process.pid != first.pid
    maps = Path(f"/proc/{process.pid}/maps").read_text()
    loaded = {name for name in ("numpy", "numba", "scipy", "mujoco") if f"/{name}/" in maps}
    assert loaded == {"numpy"}, "as in test/ros/test_loaded_libraries.py"
