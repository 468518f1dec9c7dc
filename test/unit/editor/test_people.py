"""Who operates, and keeps that."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace

import aiohttp
import pytest
from memory_robot import MemoryRobot
from served_editor import Served

from robot_rt_control.editor import people as module
from robot_rt_control.editor.keys import Keys, Person
from robot_rt_control.editor.people import People

LONG = "name: long\nnodes:\n  a: {wait: 100}\n"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, that a test changes [s]."""
    shown = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: shown[0], time=lambda: shown[0]))
    return shown


def came(people: People, keys: Keys, name: str) -> Person:
    entered = keys.enter(keys.operate, name)
    assert entered is not None
    people.came(entered[1])
    return entered[1]


def two(people: People) -> tuple[Person, Person]:
    """Ann and Ben, both here; Ann operates."""
    keys = Keys()
    ann, ben = came(people, keys, "Ann"), came(people, keys, "Ben")
    assert people.may_operate(ann)
    return ann, ben


def test_E13_who_operates_keeps_that_while_the_page_is_reloaded(now: list[float]) -> None:
    people = People()
    ann, ben = two(people)
    people.left(ann)
    now[0] += 9.0
    people.expire()
    assert people.operator is ann and not people.may_operate(ben), "nobody else gets it meanwhile"
    assert people.take(ben, "") == "Ann operates", "taking over still has to be meant"
    people.came(ann)
    now[0] += 100.0
    assert people.may_operate(ann) and not people.may_operate(ben)
    assert [entry["text"] for entry in people.as_json()["log"]] == ["Ann operates"]


def test_E13_who_does_not_come_back_operates_no_more(now: list[float]) -> None:
    people = People()
    ann, ben = two(people)
    people.came(ann)  # a second page
    people.left(ann)
    now[0] += 100.0
    people.expire()
    assert people.operator is ann, "a page of that browser is still open"
    people.left(ann)
    now[0] += 10.1
    assert people.may_operate(ben)
    assert [e["text"] for e in people.as_json()["log"]] == ["Ann operates", "Ann operates no more", "Ben operates"]
    people.came(ann)
    assert not people.may_operate(ann)


def test_E13_who_took_over_meanwhile_keeps_it(now: list[float]) -> None:
    people = People()
    ann, ben = two(people)
    people.left(ann)
    assert people.take(ben, ann.id) == ""
    now[0] += 100.0
    people.came(ann)
    people.expire()
    assert people.operator is ben and people.as_json()["operator_name"] == "Ben"


def test_E13_over_sockets_and_by_cookie_alone(
    editor: Served, robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, people = editor.server.keys, editor.server.people
    ann, ben = (editor.enter(keys.operate, name) for name in ("Ann", "Ben"))

    async def page(cookie: str) -> str:
        """Open a page, and close it. Returns who operates, as it is shown there."""
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            assert (await asyncio.to_thread(editor.post, "operate", {"take": True}, cookie=ann))[0] == 200
            while True:
                shown = json.loads((await live.receive(timeout=120)).data)
                if shown["people"]["operator"]:
                    return str(shown["people"]["operator_name"])

    assert asyncio.run(page(ann)) == "Ann"
    assert editor.post("run", {"skill": LONG}, cookie=ben)[0] == 409
    assert asyncio.run(page(ann)) == "Ann"
    # The link opened again in the same browser is the same person; with another cookie, or none, it is another one.
    body = json.dumps({"token": keys.operate, "name": "Ann"})
    ids = []
    for cookie in (ann, "", "x", ben):
        status, headers, answer = editor.request("POST", "/api/enter", body, cookie=cookie)
        ids.append((json.loads(answer)["id"], headers["set-cookie"].split(";")[0].split("=", 1)[1] == cookie))
        assert status == 200
    assert ids == [("1", True), ("3", False), ("4", False), ("2", True)]
    # The watching link does not get the rights of the cookie, and its cookie not those of the operating link.
    watching = json.dumps({"token": keys.watch, "name": "Ann"})
    status, headers, answer = editor.request("POST", "/api/enter", watching, cookie=ann)
    assert not json.loads(answer)["may_operate"]
    monkeypatch.setattr(module, "KEPT_S", 0.0)
    end = time.monotonic() + 120
    while people.operator is not None and time.monotonic() < end:
        time.sleep(0.02)
    assert people.operator is None and editor.post("run", {"skill": LONG}, cookie=ben)[1]["success"]
