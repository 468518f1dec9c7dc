"""What the page's operator tells the robot over HTTP: jogs, motion of parts, actions; and who is refused."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from memory_robot import MemoryRobot
from served_editor import Served

from robot_rt_control.editor import jogs
from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.operating import Operating
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

JOG = {"hold": "a", "part": "arm", "joint": 3, "direction": -1, "speed": 0.1}
ENOUGH_S = 120.0


@pytest.fixture
def ann(editor: Served, monkeypatch: pytest.MonkeyPatch) -> str:
    """The cookie of somebody who operates, to whom no request is late: the machine may be slow."""
    monkeypatch.setattr(jogs, "LEASE_S", ENOUGH_S)
    monkeypatch.setattr(jogs, "LOST_S", ENOUGH_S)
    cookie = editor.enter(editor.server.keys.operate, "Ann")
    assert editor.post("operate", {"take": True}, cookie=cookie)[1]["success"]
    return cookie


def press(editor: Served, cookie: str, **more: Any) -> int:
    status, answer = editor.post("jog", {**JOG, **more}, cookie=cookie)
    assert status == 200 and answer["success"], answer
    return int(answer["beat"])


def beat(editor: Served, cookie: str, number: int, hold: str = "a") -> dict[str, Any]:
    return dict(editor.post("jog", {"hold": hold, "beat": number}, cookie=cookie)[1])


def moving(robot: MemoryRobot) -> bool:
    """Whether the last command moves."""
    return any(robot.joggers[-1].taken[-1][1])


def test_E26_a_press_alone_moves_nothing_and_each_beat_is_passed_on(
    editor: Served, robot: MemoryRobot, ann: str
) -> None:
    number = press(editor, ann)
    assert not moving(robot) and robot.joggers[-1].name == "jog: Ann"
    for _ in range(3):
        answer = beat(editor, ann, number)
        assert answer["success"] and moving(robot)
        number = answer["beat"]
    action, values, age = robot.joggers[-1].taken[-1]
    assert (action, values[3], sum(map(bool, values))) == (jogs.JOINTS, -0.2, 1) and 0 < age < ENOUGH_S
    assert not beat(editor, ann, number, "b")["success"], "another page of this person"
    assert editor.post("jog", {"hold": "a", "release": True}, cookie=ann)[1]["success"] and not moving(robot)
    assert beat(editor, ann, number)["message"] == "released"
    assert len(robot.joggers) == 1


def test_E26_the_tool_moves_in_its_axes_no_faster_than_it_may(editor: Served, robot: MemoryRobot, ann: str) -> None:
    motion = {"axis": "rz", "frame": "tool", "direction": 1}
    for speed, expected in ((0.1, 0.2), (0.5, 0.4)):
        beat(editor, ann, press(editor, ann, hold=f"h{speed * 10:g}", speed=speed, **motion), f"h{speed * 10:g}")
        assert robot.joggers[-1].taken[-1][:2] == (jogs.IN_TOOL, [0, 0, 0, 0, 0, expected])


def test_E26_only_who_operates_jogs(editor: Served, robot: MemoryRobot, ann: str) -> None:
    ben = editor.enter(editor.server.keys.operate, "Ben")
    eve = editor.enter(editor.server.keys.watch, "Eve")
    assert editor.post("jog", JOG, cookie=ben)[0] == 409
    assert editor.post("jog", JOG, cookie=eve)[0] == 403 and not robot.joggers
    number = press(editor, ann)
    assert beat(editor, ann, number)["success"] and moving(robot)
    operator = editor.server.people.operator
    assert operator is not None
    assert editor.post("operate", {"take": True, "instead_of": operator.id}, cookie=ben)[1]["success"]
    assert not moving(robot), "at once"
    assert editor.post("jog", {"hold": "a", "beat": number + 1}, cookie=ann)[0] == 409


def test_E26_a_page_whose_socket_is_gone_moves_nothing(editor: Served, robot: MemoryRobot, ann: str) -> None:
    async def look_and_go() -> int:
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: ann}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            await live.receive()
            number = await asyncio.to_thread(press, editor, ann)
            answer = await asyncio.to_thread(beat, editor, ann, number)
            assert moving(robot)
            return int(answer["beat"])

    number = asyncio.run(look_and_go())
    end = time.monotonic() + ENOUGH_S
    while moving(robot):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert beat(editor, ann, number)["message"] == "the page is gone"


def test_E26_what_the_workcell_refuses_ends_the_hold(editor: Served, robot: MemoryRobot, ann: str) -> None:
    number = press(editor, ann)
    robot.joggers[-1].refusal = RobotControlError("part 'arm' is not free: welding holds it")
    end = time.monotonic() + ENOUGH_S
    while (answer := beat(editor, ann, number))["success"]:
        number = answer["beat"]
        assert time.monotonic() < end
    assert answer["message"] == "part 'arm' is not free: welding holds it"
    robot.joggers[-1].refusal = ValueError("a bug")
    robot.joggers[-1].taken.clear()
    number = press(editor, ann, hold="bug")
    while (answer := beat(editor, ann, number, "bug"))["success"]:
        number = answer["beat"]
        assert time.monotonic() < end
    assert answer["message"].startswith("internal error in a jog: ValueError: a bug")
    robot.faults["arm"] = "joint 3: following error"
    assert editor.post("jog", {**JOG, "hold": "b"}, cookie=ann)[1]["message"] == (
        "part 'arm' is faulted: joint 3: following error; expected an enabled part"
    )


def test_E26_hostile_jogs_are_refused(editor: Served, robot: MemoryRobot, ann: str) -> None:
    wrong: list[Any] = [None, True, -1, 7, 10**400, 1e308, float("nan"), float("inf"), "", "x" * 3000, [], {}, [1]]
    for key in JOG:
        for n, value in enumerate(wrong):
            if (key, value) in (("direction", -1), ("direction", True), ("hold", 7)):
                continue
            body = json.dumps({**JOG, "hold": f"w{n}", key: value})
            status, _, text = editor.request("POST", "/api/jog", body, cookie=ann)
            assert status in (200, 429) and not json.loads(text)["success"], (key, value)
            editor.server.keys.person(ann).requests.rate = 1e6  # type: ignore[union-attr]
    assert not any(any(values) for jogger in robot.joggers for _, values, _ in jogger.taken)


def test_E27_parts_are_enabled_disabled_and_cleared_one_at_a_time(
    editor: Served, robot: MemoryRobot, ann: str
) -> None:
    for command, state in (("disable", "disabled"), ("enable", "enabled")):
        assert editor.post("set_motion", {"part": "arm", "command": command}, cookie=ann)[1]["success"]
        assert robot.status()["parts"][0] == {"name": "arm", "operational_state": state, "fault": ""}
    for body in ({}, {"part": "", "command": "enable"}, {"part": ["arm"], "command": "enable"}, {"part": "arm"}):
        answer = editor.post("set_motion", body, cookie=ann)[1]
        assert not answer["success"] and "set_motion: " in answer["message"], "no part never means all"
    assert [call for call, _ in robot.calls] == ["set_motion"] * 2
    eve = editor.enter(editor.server.keys.watch, "Eve")
    for name in ("set_motion", "jog", "start_action", "end_action", "speed"):
        assert editor.post(name, {"part": "arm", "command": "disable"}, cookie=eve)[0] == 403


def test_E28_an_action_is_started_by_typed_values_and_ended(editor: Served, robot: MemoryRobot, ann: str) -> None:
    body = {"type": "move_linear", "parts": {"part": "arm"}, "values": {"linear": "0, 0, 0.06", "angular": "[0, 0, 1]"},
            "limit": 1000}  # fmt: skip
    answer = editor.post("start_action", body, cookie=ann)[1]
    assert answer["success"] and answer["start"] == 1, answer
    assert robot.calls[-1] == ("run_action", {
        "type": "move_linear", "parts": ["part=arm"], "until": "", "limit_s": 1000.0,
        "values": {"linear": [0.0, 0.0, 0.06], "angular": [0.0, 0.0, 1.0]},
    })  # fmt: skip
    shown = lambda: json.loads(editor.server.watchers.text)["starts"]  # noqa: E731
    end = time.monotonic() + ENOUGH_S
    while not shown() or shown()[0]["state"] != "runs":
        assert time.monotonic() < end
        time.sleep(0.01)
    assert (shown()[0]["type"], shown()[0]["who"]) == ("move_linear", "Ann")
    assert not editor.post("end_action", {"start": 2}, cookie=ann)[1]["success"]
    assert editor.post("end_action", {"start": 1}, cookie=ann)[1]["success"]
    while shown()[0]["state"] != "cancelled":
        assert time.monotonic() < end
        time.sleep(0.01)


def test_E28_a_refusal_names_its_field(editor: Served, robot: MemoryRobot, ann: str) -> None:
    start = {"type": "move_linear", "parts": {"part": "arm"}}
    answer = editor.post("start_action", {**start, "values": {"linear_velocity": "-1"}}, cookie=ann)[1]
    assert not answer["success"] and list(answer["fields"]) == ["linear_velocity"]
    answer = editor.post("start_action", {**start, "values": {"linear": "[1, x]"}}, cookie=ann)[1]
    assert answer["fields"] == {"linear": "parameter 'linear'; expected a list of numbers; got '[1, x]'"}
    end = time.monotonic() + ENOUGH_S
    while json.loads(editor.server.watchers.text)["starts"]:  # a state of before may still be the last one
        assert time.monotonic() < end
        time.sleep(0.01)
    for body, text in (
        ({"type": "nothing"}, "action type 'nothing'"),
        ({**start, "parts": ["arm"]}, "start_action: parts"),
        ({**start, "values": {"linear": [1]}}, "start_action: values"),
        ({**start, "limit": -1}, "start_action: limit"),
        ({**start, "until": 5}, "start_action: until"),
    ):
        answer = editor.post("start_action", body, cookie=ann)[1]
        assert not answer["success"] and text in answer["message"]


def test_E32_masses_of_an_arm_have_to_be_known() -> None:
    link = '<link name="{}"><inertial><mass value="{}"/></inertial></link>'
    text = f"<robot>{link.format('a', '1.5')}{link.format('b', '0.0')}<link name='c'/></robot>"
    found = [jogs.have_masses(text, links) for links in ({"a", "b"}, {"b"}, {"c"}, set())]
    assert found == [True, False, False, False] and not jogs.have_masses("no XML", {"a"})


@pytest.mark.parametrize("mass", ["nan", "inf", "-1", "-0.0", "0e5", "much", "", "${m}"])
def test_E32_what_is_no_mass_does_not_count(mass: str) -> None:
    assert not jogs.have_masses(
        f'<robot><link name="a"><inertial><mass value="{mass}"/></inertial></link></robot>', {"a"}
    )


def test_E32_the_masses_are_those_of_the_scene_whose_links_are_looked_for(
    robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another description may have come since."""
    robot.description_text = '<robot><link name="a"><inertial><mass value="1"/></inertial></link></robot>'
    scenes: Any = SimpleNamespace(links_of=lambda _: {"a"}, description="<robot/>")
    operating = Operating(robot, scenes)
    monkeypatch.setattr(operating.jogs, "wanted_part", lambda *_: "arm")
    person = Person(id="1", name="Ann", may_operate=True)
    with ThreadPoolExecutor(1) as threads, pytest.raises(DefinitionError, match="nothing is known of its masses"):
        asyncio.run(operating.jog(person, {"part": "arm", "by_hand": True}, threads))


def test_E32_only_who_operates_guides_and_only_what_can_be_guided(editor: Served, robot: MemoryRobot, ann: str) -> None:
    status, answer = editor.post("jog", {"hold": "g", "part": "arm", "by_hand": True}, cookie=ann)
    assert status == 200 and not answer["success"] and "nothing is known of its masses" in answer["message"]
    eve = editor.enter(editor.server.keys.watch, "Eve")
    assert editor.post("jog", {"hold": "g", "part": "arm", "by_hand": True}, cookie=eve)[0] == 403
    assert not robot.joggers
