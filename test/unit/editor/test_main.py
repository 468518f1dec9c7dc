"""The editor's command line, and what it prints."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from robot_rt_control.editor import main as module
from robot_rt_control.editor.keys import Keys
from robot_rt_control.editor.main import announced, listening, main, printed_links
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.vocabulary.errors import RobotControlError


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.5", "::", "robot.example"])
def test_E3_another_address_needs_a_certificate(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--address", address]) == 1
    assert "can be reached from the network; expected 127.0.0.1, or a certificate" in capsys.readouterr().err


def test_a_port_that_is_taken_is_refused_with_the_ways_to_choose_another(capsys: pytest.CaptureFixture[str]) -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port), "--ros-args", "-r", "__node:=blueprint_editor"]) == 1
    said = capsys.readouterr()
    assert not said.out and f"the editor cannot listen at 127.0.0.1, port {port}: it is taken" in said.err
    assert all(way in said.err for way in ("--port 8421", "--editor-port 8421", "editor_port:=8421"))
    with listening("127.0.0.1", port) as free:  # at once, although connections of the last one may linger
        assert free.getsockname() == ("127.0.0.1", port)


def test_other_addresses_that_cannot_be_used() -> None:
    with pytest.raises(RobotControlError, match="port 99999; expected 0 to 65535"):
        listening("127.0.0.1", 99999)
    with pytest.raises(RobotControlError, match=r"cannot listen at 192\.0\.2\.1, port 8420"):  # nobody's
        listening("192.0.2.1", 8420)
    if socket.has_ipv6:
        try:
            with listening("::1", 0) as channel:
                assert channel.family == socket.AF_INET6
        except RobotControlError as error:  # a machine without it
            assert "cannot listen at ::1" in str(error)


def test_the_first_link_of_the_view_may_only_watch() -> None:
    keys = Keys()
    watch, operate, *more = re.findall(r"(\S+)#token=(\S+)", printed_links("http://here:1", keys, view=True))
    assert watch == ("http://here:1/view.html", keys.watch) and operate == ("http://here:1/view.html", keys.operate)
    assert not more
    links = re.findall(r"(\S+)#token=(\S+)", printed_links("http://here:1", keys, view=False))
    assert links == [("http://here:1/", keys.operate), ("http://here:1/", keys.watch), watch]


class Coming:
    """A robot of which only its state is known."""

    def on_state(self, callback: Callable[[Json], None]) -> None:
        self.say = callback


@pytest.mark.parametrize("at_once", [True, False])
def test_links_are_printed_again_when_a_robot_that_came_up_later_is_ready(
    at_once: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise what the robot prints as it starts would hide them."""
    monkeypatch.setattr(module, "_SOON_S", 100.0 if at_once else 0.0)
    robot, said = Coming(), list[str]()

    async def printed(times: int) -> None:
        while "".join(said).count("the links") < times:
            await asyncio.sleep(0.01)
            said.append(capsys.readouterr().out)

    async def serving() -> None:
        context: Any = announced("the links", cast(Robot, robot), None)
        await anext(context)
        robot.say({"problem": "the workcell has not been reached yet"})
        if not at_once:
            await printed(1)
        robot.say({"problem": ""})
        await printed(1 if at_once else 2)
        robot.say({"problem": ""})
        await asyncio.sleep(0)
        with pytest.raises(StopAsyncIteration):
            await anext(context)

    asyncio.run(asyncio.wait_for(serving(), 120))
    assert "".join(said) == ("the links\n" if at_once else "the links\nBlueprints can be run now.\nthe links\n")
