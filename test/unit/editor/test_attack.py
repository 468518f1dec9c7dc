"""Attacks on the editor's server: nothing crashes, nothing starts, everybody else is served as before."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from editor_attack import EditorAttack, StrictRobot, wrong_statuses
from memory_robot import Json
from served_editor import Served, served


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[StrictRobot]:
    made = StrictRobot(tmp_path / "skills")
    yield made
    made.answers.set()
    made.close()


@pytest.fixture
def attacked(robot: StrictRobot) -> Iterator[tuple[Served, EditorAttack]]:
    with served(robot) as editor:
        keys = editor.server.keys
        yield editor, EditorAttack(editor.port, operate=editor.enter(keys.operate), watch=editor.enter(keys.watch))


def attack(
    made: tuple[Served, EditorAttack], robot: StrictRobot, log: pytest.LogCaptureFixture, n: int
) -> None:
    """Each kind gets what it should, and afterwards all is as before."""
    editor, attacking = made
    with log.at_level(logging.ERROR):
        found = attacking.requests(n, Random(n))
    assert not wrong_statuses(found)
    refused = editor.server.refused
    assert refused[403] >= sum(n for (_, status), n in found.items() if status == 403) > 0
    closed, _ = attacking.messages(n // 5, Random(n))
    assert closed >= n // 10 and editor.server.watchers.closed > 0
    with attacking.deaf(5):
        opened, turned_away = attacking.sockets(200)
        assert opened <= 100 and turned_away >= 100
        time.sleep(0.3)
    assert not robot.runs and robot.speed == 1.0 and not robot.stopped
    assert not [r.getMessage() for r in log.records if r.levelno >= logging.ERROR and r.name.startswith("robot_rt")]
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("me", cookie=cookie)[0] == 200
    state = json.loads(editor.server.watchers.text)["robot"]
    assert state["blueprints"] is True


def test_E4_a_few_hundred_attacks(
    attacked: tuple[Served, EditorAttack], robot: StrictRobot, caplog: pytest.LogCaptureFixture
) -> None:
    attack(attacked, robot, caplog, 300)


@pytest.mark.long
def test_E4_ten_thousand_attacks(
    attacked: tuple[Served, EditorAttack], robot: StrictRobot, caplog: pytest.LogCaptureFixture
) -> None:
    attack(attacked, robot, caplog, 10_000)


def test_E6_stopping_waits_for_nobody(attacked: tuple[Served, EditorAttack], robot: StrictRobot) -> None:
    """A watcher keeps all others busy with requests that are not answered: the protective stop is taken at once."""
    editor, attacking = attacked
    robot.answers.clear()
    statuses: list[int] = []

    def ask(i: int) -> None:  # different questions: equal ones are asked once
        statuses.append(editor.post("list_skills", {"search": f"{i}"}, cookie=attacking.watch)[0])

    flood = [threading.Thread(target=ask, args=(i,)) for i in range(30)]
    for thread in flood:
        thread.start()
    end = time.monotonic() + 120
    while statuses.count(429) < 22 and time.monotonic() < end:
        time.sleep(0.01)
    assert statuses == [429] * 22, "one person has so many requests under way and no more"
    assert editor.post("protective_stop", {"stop": True}, cookie=attacking.operate)[1]["success"] and robot.stopped
    assert statuses == [429] * 22, "the others still wait"
    robot.answers.set()
    for thread in flood:
        thread.join(120)
    assert robot.calls_made == 8


def test_E6_who_floods_may_still_stop(attacked: tuple[Served, EditorAttack], robot: StrictRobot) -> None:
    editor, attacking = attacked
    person = editor.server.keys.person(attacking.watch)
    assert person is not None
    person.requests.rate = 0.0  # however slowly they come
    while editor.post("me", cookie=attacking.watch)[0] != 429:
        pass
    assert editor.post("protective_stop", {"stop": True}, cookie=attacking.watch)[0] == 200 and robot.stopped


def test_E4_a_watcher_cannot_come_in_without_end(attacked: tuple[Served, EditorAttack]) -> None:
    """Else each cookie would have requests of its own, and those of others would be forgotten."""
    editor, attacking = attacked
    body = json.dumps({"token": editor.server.keys.watch})
    editor.server._entering.rate = 0.0  # however slowly they come
    statuses = [editor.request("POST", "/api/enter", body)[0] for _ in range(300)]
    assert 429 in statuses
    keys = editor.server.keys
    person = keys.person(attacking.operate)
    assert person is not None
    person.sockets = 1

    async def many() -> None:
        for _ in range(2000):
            keys.enter(keys.watch, "")

    asyncio.run_coroutine_threadsafe(many(), editor.loop).result(20)
    assert keys.person(attacking.operate) is person, "who is here is not forgotten"


def test_E8_a_robot_that_fails_is_asked_again(
    attacked: tuple[Served, EditorAttack], robot: StrictRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, _ = attacked
    looked = threading.Event()

    def fail() -> Json:
        looked.set()
        raise UnicodeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(robot, "status", fail)
        assert looked.wait(120)
    robot.set_speed(0.25)
    end = time.monotonic() + 120
    while json.loads(editor.server.watchers.text)["robot"].get("speed") != 0.25:
        assert time.monotonic() < end, "nobody looks any more"
        time.sleep(0.02)
