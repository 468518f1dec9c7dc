"""Operating by the process of the view, beside a workcell: what it asks the client for, and its death."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client import Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def client(own_domain: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("operate")
    arguments = ["--workcell", "arm7", "--controllers", "false", "--no-frames"]
    log, environment = folder / "workcell.log", {"XDG_DATA_HOME": str(folder)}
    with DemoWorkcell(arguments, log, environment=environment) as cell, Client("test", timeout_s=60.0) as made:
        cell.wait_until_ready(made, lambda _: None)
        made.enable()
        yield made


class View:
    """The process of the view, and a page of it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "robot_rt_control.command_line.main", "view", "--port", "0"]
        self.process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        links = [self.process.stdout.readline(), self.process.stdout.readline()]
        self.port, token = re.findall(r":(\d+)/view.html#token=(\S+)", links[1])[0]
        self.connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=PATIENCE_S)
        self.cookie = ""
        self.ask("enter", token=token, name="Ann")
        assert self.ask("operate", take=True)["success"]

    def ask(self, name: str, /, **fields: Any) -> dict[str, Any]:
        origin = f"http://127.0.0.1:{self.port}"
        headers = {"Origin": origin, "Content-Type": "application/json", "Cookie": self.cookie}
        self.connection.request("POST", f"/api/{name}", json.dumps(fields), headers)
        answer = self.connection.getresponse()
        self.cookie = (answer.getheader("Set-Cookie") or self.cookie).split(";")[0]
        return dict(json.loads(answer.read()))

    def hold(self, holds: Callable[[], bool], **motion: Any) -> None:
        """Hold a button until something holds; press again if the machine has stalled."""
        end, presses, answer = time.monotonic() + PATIENCE_S, 0, {"success": False}
        while not holds():
            assert time.monotonic() < end, answer
            if not answer["success"]:
                presses += 1
                answer = self.ask("jog", hold=f"p{presses}", part="arm", **motion)
            else:
                time.sleep(0.03)
                answer = self.ask("jog", hold=f"p{presses}", beat=answer["beat"])


@pytest.fixture
def view() -> Iterator[View]:
    made = View()
    yield made
    made.process.kill()
    made.process.wait(PATIENCE_S)


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def moved(client: Client, name: str, by: float) -> Callable[[], bool]:
    begun = client.value(name)
    return lambda: (client.value(name) - begun) * by > by * by


def test_E26_the_death_of_the_views_process_ends_its_jog(client: Client, view: View) -> None:
    view.hold(moved(client, "arm.position[3]", 0.02), joint=3, direction=1, speed=0.1)
    view.hold(moved(client, "arm.tool.z", -0.002), axis="z", frame="world", direction=-1, speed=0.1)
    assert [session.name for session in client.sessions()] == ["jog: Ann"]
    view.process.kill()
    until(lambda: client.value("arm.at_rest") == 1.0)
    until(lambda: not client.sessions())
    assert not any(part.fault for part in client.parts())


def test_E26_a_part_that_is_held_is_not_jogged_and_says_by_whom(client: Client, view: View) -> None:
    with client.session("arm", name="welding"):
        answer = view.ask("jog", hold="a", part="arm", joint=0, direction=1, speed=0.1)
        until(lambda: not answer.update(view.ask("jog", hold="a", beat=answer["beat"])) and not answer["success"])
    assert "part 'arm' is not free" in answer["message"] and "welding" in answer["message"]


def test_E27_a_part_is_disabled_and_enabled(client: Client, view: View) -> None:
    state = lambda: next(part.operational_state for part in client.parts() if part.name == "arm")  # noqa: E731
    assert view.ask("set_motion", part="arm", command="disable")["success"] and state() == "disabled"
    assert "is disabled" in view.ask("jog", hold="a", part="arm", joint=0, direction=1, speed=0.1)["message"]
    assert view.ask("set_motion", part="arm", command="enable")["success"] and state() == "enabled"


def test_E28_an_action_is_started_refused_at_its_field_and_ended(client: Client, view: View) -> None:
    refused = view.ask("start_action", type="move_joint", parts={"part": "arm"}, values={"position": "1, 2"})
    assert not refused["success"] and list(refused["fields"]) == ["position"], refused
    q = [client.value(f"arm.position[{j}]") for j in range(7)]
    goal = ", ".join(f"{value:.4f}" for value in [q[0] + 0.1, *q[1:]])
    assert view.ask("start_action", type="move_joint", parts={"part": "arm"}, values={"position": goal})["success"]
    until(lambda: abs(client.value("arm.position[0]") - q[0] - 0.1) < 1e-3 and not client.sessions())
    started = view.ask("start_action", type="hold", parts={"part": "arm"}, until="arm.position[0] > 3")
    assert started["success"] and client.sessions(), started
    assert view.ask("end_action", start=started["start"])["success"]
    until(lambda: not client.sessions())
