"""The server of recordings: the editor's links and limits, and no robot."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_editor import Served, served_by
from written_recording import URDF, write_recording

from robot_rt_control.editor.past.recorded import Recorded
from robot_rt_control.editor.past.server import PastServer


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    it = Recorded(write_recording(tmp_path_factory.mktemp("past") / "a.mcap", 1500, fault=("arm", 700)))
    with served_by(lambda port: PastServer([it], port=port)) as made:
        yield made
    it.close()


@pytest.fixture
def cookie(past: Served) -> str:
    return past.enter(past.server.keys.watch)


def bytes_of(past: Served, name: str, fields: Any, cookie: str) -> tuple[int, bytes]:
    status, _, body = past.request("POST", f"/api/{name}", json.dumps(fields), cookie=cookie)
    return status, body


def test_E2_without_a_cookie_nothing_of_the_recording_is_said(past: Served) -> None:
    for name in ("past", "past_events", "past_variables", "past_joints", "past_columns", "past_samples", "past_bars",
                 "scene"):  # fmt: skip
        assert past.post(name)[0] == 403
    assert past.request("POST", "/api/past", "{}", Origin="http://elsewhere")[0] == 403
    status, headers, body = past.request("GET", "/past.html")
    assert status == 200 and b"past_page.js" in body and "script-src 'self'" in headers["content-security-policy"]


def test_H12_a_recording_is_served_with_its_scene(past: Served, cookie: str) -> None:
    status, about = past.post("past", cookie=cookie)
    assert status == 200 and about["recordings"][0]["last"] == 1500
    events = past.post("past_events", cookie=cookie)[1]
    assert [stop["tick"] for stop in events["stops"]] == [700]
    scene = past.post("scene", {"tick": 3}, cookie=cookie)[1]
    assert scene["success"] and [link["name"] for link in scene["links"]] == ["world", "a", "c", "b"]
    assert scene["parts"] == [{"name": "arm", "links": [1, 2, 3]}] and scene["from"] is scene["until"] is None
    status, body = bytes_of(past, "past_joints", {"block": 1}, cookie)
    assert status == 200 and struct.unpack_from("<4I", body) == (1000, 2, 2, 0)
    names = past.post("past_variables", cookie=cookie)[1]["variables"]
    asked = {"names": [names[0]["name"]], "first": 1, "last": 1500}
    assert len(bytes_of(past, "past_columns", {**asked, "count": 100}, cookie)[1]) == 100 * 33
    assert len(bytes_of(past, "past_samples", asked, cookie)[1]) == 8 + 2 * 8 * 1500
    done = past.post("past_bars", {"first": 1, "last": 1500}, cookie=cookie)[1]
    assert done["bars"] == [[0, 0, 1, 1500]] and done["gaps"] == []


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"first": 1},
        {"first": 1, "last": 20_001},
        {"first": 5, "last": 4},
        {"first": True, "last": 9},
        {"first": 2**60, "last": 2**60},
        {"first": 1.0, "last": 9},
    ],
)
def test_bars_of_hostile_ranges_are_refused(past: Served, cookie: str, asked: dict[str, Any]) -> None:
    answer = past.post("past_bars", asked, cookie=cookie)[1]
    assert not answer["success"] and "at most 20000 ticks" in answer["message"]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("past_joints", {}),
        ("past_joints", {"block": 2}),
        ("past_joints", {"block": -1}),
        ("past_joints", {"block": 0.5}),
        ("past_joints", {"block": True}),
        ("past_joints", {"block": "0"}),
        ("past_joints", {"block": 10**400}),
        ("past_columns", {"names": ["speed"], "first": 1, "last": 9, "count": 5000}),
        ("past_columns", {"names": ["speed"], "first": 1, "last": 9, "count": 0}),
        ("past_columns", {"names": [], "first": 1, "last": 9, "count": 9}),
        ("past_columns", {"names": ["speed"] * 17, "first": 1, "last": 9, "count": 9}),
        ("past_columns", {"names": "speed", "first": 1, "last": 9, "count": 9}),
        ("past_columns", {"names": [{}], "first": 1, "last": 9, "count": 9}),
        ("past_columns", {"names": ["../../etc/passwd"], "first": 1, "last": 9, "count": 9}),
        ("past_samples", {"names": ["speed"], "first": 1, "last": 20_001}),
        ("past_samples", {"names": ["speed"], "first": 9, "last": 1}),
        ("scene", {"tick": "1"}),
    ],
)
def test_E4_what_is_malformed_is_refused(past: Served, cookie: str, name: str, fields: Any) -> None:
    status, answer = past.post(name, fields, cookie=cookie)
    assert status == 400 and answer["message"]


def test_another_recording_than_those_that_are_open_is_refused(past: Served, cookie: str) -> None:
    for number in (1, -1, "0", None, True, 1e9):
        assert past.post("past_joints", {"recording": number, "block": 0}, cookie=cookie)[0] == 404


def test_H12_there_is_no_robot_that_could_be_moved_or_stopped(past: Served, cookie: str) -> None:
    operates = past.enter(past.server.keys.operate)
    for name in ("run", "control", "speed", "resume", "operate", "list_skills", "save_program", "variables"):
        assert past.post(name, {"take": True}, cookie=operates)[0] == 404
    for who in ("", cookie, operates):
        status, answer = past.post("protective_stop", {"stop": True}, cookie=who)
        assert status == 200 and answer["success"] is False and "there is no robot" in answer["message"]


def test_H12_another_tool_is_another_scene(tmp_path: Path) -> None:
    it = Recorded(write_recording(tmp_path / "b.mcap", 300))
    changed = URDF.replace('name="r"', 'name="changed"')
    it.descriptions = [(1, URDF), (200, changed)]
    with served_by(lambda port: PastServer([it], port=port)) as served:
        cookie = served.enter(served.server.keys.watch)
        scenes = [served.post("scene", {"tick": tick}, cookie=cookie)[1] for tick in (0, 199, 200, 10**6)]
    assert [scene["name"] for scene in scenes] == ["r", "r", "changed", "changed"]
    assert [(scene["from"], scene["until"]) for scene in scenes] == [(None, 200)] * 2 + [(200, None)] * 2
    it.close()


def test_a_recording_without_a_robot_says_so(tmp_path: Path) -> None:
    it = Recorded(write_recording(tmp_path / "b.mcap", 300, urdf=None))
    with served_by(lambda port: PastServer([it], port=port)) as served:
        cookie = served.enter(served.server.keys.watch)
        answer = served.post("scene", {"tick": 1}, cookie=cookie)[1]
        assert answer["success"] is False and "expected a robot_description" in answer["message"]
        assert bytes_of(served, "past_joints", {"block": 0}, cookie)[0] == 200, "the rest works"
    it.close()
