"""What if, as the editor's server answers it: simulated in a process, one at a time, ended with the page's cancel."""

from __future__ import annotations

import json
import math
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory_robot import CONFIG, MemoryRobot
from served_editor import Served, served

from robot_rt_control.editor import what_ifs as what_ifs_module
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.ros.tick_batches import TickBatch, TickNames

LIFT = """
name: lift
nodes:
  stay: {wait: 0.2, then: up}
  up: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.01], speed: 0.1}, until: is_settled}
"""
JOINTS = load_workcell(CONFIG).joint_state_names()
Q = (0.1, 0.5, 0.1, 1.4, 0.1, 1.0, 0.1)
PATIENCE_S = 600.0


@pytest.fixture
def editor(robot: MemoryRobot) -> Iterator[Served]:
    with served(robot, workcell=CONFIG) as made:
        yield made


@pytest.fixture
def asked(editor: Served, robot: MemoryRobot) -> dict[str, Any]:
    """A question about a run's first node; the ticks of that time are kept."""
    assert robot.run({"skill": LIFT})["success"]
    deadline = time.monotonic() + PATIENCE_S
    while not any(record["what"] == "node" for record in robot.runs[0].records):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    tick = next(r["tick"] for r in robot.runs[0].records if r["what"] == "node")
    names = [*JOINTS["arm"], *JOINTS["gripper"]]
    layout = TickNames(
        version=7, period=0.001, columns=1 + len(names), variables={}, actions={}, integers=frozenset({0}),
        joints={name: 1 + i for i, name in enumerate(names)},
    )  # fmt: skip
    rows = np.zeros((20, 1 + len(names)), np.int64)
    rows[:, 0] = np.arange(tick - 5, tick + 15) if tick >= 6 else np.arange(1, 21)
    rows.view(np.float64)[:, 1:] = (*Q, 0.01, 0.01)
    recent = editor.server._timelines.recent
    recent._asked = math.inf  # somebody looks back
    recent.take(TickBatch(version=7, rows=rows, action_names={}), layout)
    return {"id": "a", "run": "run-1", "tick": max(tick, 1), "loop": 7, "text": LIFT}


def test_E34_what_would_have_come_is_simulated_from_where_the_robot_was(editor: Served, asked: dict[str, Any]) -> None:
    cookie = editor.enter(editor.server.keys.operate, "Ann")
    assert editor.post("me", cookie=cookie)[1]["simulates"] is True
    changed = LIFT.replace("0.01]", "0.02]")
    status, found = editor.post("what_if", {**asked, "text": changed}, cookie=cookie)
    assert (status, found["success"], found["message"]) == (200, True, "")
    assert (found["result"], found["failure"]) == ("done", False)
    assert [r["path"] for r in found["records"] if r["what"] == "node"] == ["stay", "up"]
    assert "Node 'stay' begins anew; values, counts and attempts do as well." in found["notes"]
    about = found["about"]
    body = f'{{"number": {found["number"]}, "block": {found["first"] // about["block"]}}}'
    status, _, block = editor.request("POST", "/api/what_if_joints", body, cookie=cookie)
    n, joints, _, _ = struct.unpack_from("<4I", block)
    assert status == 200 and about["joints"][:7] == list(JOINTS["arm"])
    q = np.frombuffer(block, "<f4", n * joints, 16 + 8 * n).reshape(n, joints)[found["first"] % about["block"]]
    assert np.allclose(q[:7], Q, atol=1e-3), "[rad]"
    # Put away, it is gone, with its files.
    folder = Path(editor.server._what_ifs._folder)
    assert folder.exists() and editor.post("what_if_end", {"id": "a"}, cookie=cookie)[1]["success"]
    assert not folder.exists()
    assert editor.post("what_if_joints", {"number": found["number"], "block": 0}, cookie=cookie)[0] == 404


def test_E34_who_may_only_watch_simulates_nothing(editor: Served, asked: dict[str, Any]) -> None:
    cookie = editor.enter(editor.server.keys.watch)
    for name in ("what_if", "what_if_end"):
        assert editor.post(name, asked, cookie=cookie)[0] == 403


def test_E34_hostile_questions_are_refused_in_words(editor: Served, asked: dict[str, Any]) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    for wrong, problem in (
        ({"tick": "1"}, "whole numbers"),
        ({"tick": True}, "whole numbers"),
        ({"text": None}, "id, run, text"),
        ({"id": 3}, "id, run, text"),
        ({"tick": 10**9}, "ticks that are kept"),
        ({"tick": -1}, "ticks that are kept"),
        ({"loop": 8}, "ticks that are kept"),
        ({"run": "../../etc/passwd"}, "no run"),
        ({"text": "nodes: [" * 1000}, "skill"),
        ({"text": LIFT.replace("move_linear", "os_system")}, "os_system"),
        ({"text": "name: x\nnodes:\n  stay: {skill: y}\n"}, "y"),
    ):
        status, answer = editor.post("what_if", {**asked, **wrong}, cookie=cookie)
        assert status == 200 and not answer["success"] and problem in answer["message"], (wrong, answer)


def test_E34_one_at_a_time_and_a_cancel_ends_the_process(editor: Served, asked: dict[str, Any]) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    endless = {**asked, "text": LIFT.replace("wait: 0.2", "wait: 50")}
    answers: list[Any] = []
    first = threading.Thread(target=lambda: answers.append(editor.post("what_if", endless, cookie=cookie)[1]))
    first.start()
    what_ifs = editor.server._what_ifs
    deadline = time.monotonic() + PATIENCE_S
    while what_ifs._process is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process = what_ifs._process
    refused = editor.post("what_if", asked, cookie=cookie)[1]
    assert not refused["success"] and "one simulation at a time" in refused["message"]
    other = editor.enter(editor.server.keys.operate, "Ben")
    assert editor.post("what_if_end", {"id": "a"}, cookie=other)[1]["success"]
    assert editor.post("what_if_end", {"id": "b"}, cookie=cookie)[1]["success"]
    assert editor.post("what_if_end", cookie=cookie)[1]["success"]
    assert what_ifs._process is process, "neither Ben's, nor another one of the same person"
    assert editor.post("what_if_end", {"id": "a"}, cookie=cookie)[1]["success"]
    first.join(PATIENCE_S)
    assert answers[0]["message"] == "what if: it was cancelled" and process.is_gone


def test_E34_what_is_cancelled_before_its_process_begins_ends_no_other_one(
    editor: Served, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    endless = {**asked, "text": LIFT.replace("wait: 0.2", "wait: 50")}
    what_ifs, reads, goes_on = editor.server._what_ifs, threading.Event(), threading.Event()
    question = what_ifs._question

    def slow(*given: Any) -> Any:
        monkeypatch.setattr(what_ifs, "_question", question)
        reads.set()
        assert goes_on.wait(PATIENCE_S)
        return question(*given)

    monkeypatch.setattr(what_ifs, "_question", slow)
    answers: dict[str, Any] = {}

    def ask(name: str) -> threading.Thread:
        def post() -> None:
            answers[name] = editor.post("what_if", endless, cookie=cookie)[1]

        thread = threading.Thread(target=post)
        thread.start()
        return thread

    first = ask("first")
    assert reads.wait(PATIENCE_S)
    assert editor.post("what_if_end", {"id": "a"}, cookie=cookie)[1]["success"]
    second = ask("second")
    deadline = time.monotonic() + PATIENCE_S
    while what_ifs._process is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process = what_ifs._process
    goes_on.set()
    first.join(PATIENCE_S)
    assert answers["first"]["message"] == "what if: it was cancelled"
    assert what_ifs._process is process, "the second one can still be ended"
    assert editor.post("what_if_end", {"id": "a"}, cookie=cookie)[1]["success"]
    second.join(PATIENCE_S)
    assert answers["second"]["message"] == "what if: it was cancelled" and process.is_gone


def test_E34_a_run_with_too_many_records_is_refused(
    editor: Served, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(what_ifs_module, "MOST_WHAT_IF_RECORDS", 1)
    answer = editor.post("what_if", asked, cookie=editor.enter(editor.server.keys.operate))[1]
    assert not answer["success"] and "at most 1 records" in answer["message"]


def test_E34_it_ends_with_the_pages_of_who_asked(editor: Served, asked: dict[str, Any]) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    found = editor.post("what_if", asked, cookie=cookie)[1]
    assert found["success"]
    person = editor.server.keys.person(cookie)
    assert person is not None
    left = person.visits
    person.visits += 1  # a page has come again meanwhile, and may be gone by now
    editor.loop.call_soon_threadsafe(editor.server._gone, person, left)
    body = {"number": found["number"], "block": 0}
    assert editor.request("POST", "/api/what_if_joints", json.dumps(body), cookie=cookie)[0] == 200
    editor.loop.call_soon_threadsafe(editor.server._gone, person, person.visits)
    deadline = time.monotonic() + PATIENCE_S
    while editor.server._what_ifs._shown is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_E34_an_editor_without_a_workcell_file_offers_nothing(robot: MemoryRobot) -> None:
    with served(robot) as editor:
        cookie = editor.enter(editor.server.keys.operate)
        assert editor.post("me", cookie=cookie)[1]["simulates"] is False
