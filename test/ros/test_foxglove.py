"""What the application Foxglove sees of a workcell: a client of the test speaks its protocol (X15)."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest
from mcap_ros2._dynamic import generate_dynamic
from scipy.spatial.transform import Rotation

from robot_rt_control.client import Action, Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("own_domain")]

PATIENCE_S = 120.0
REPOSITORY = Path(__file__).resolve().parents[2]
_DATA = struct.Struct("<BIQ")
"""Kind, subscription and time of a message."""


class Seen:
    """What came on each topic."""

    def __init__(self) -> None:
        self.info: dict[str, Any] = {}
        self.status: list[dict[str, Any]] = []
        self.channels: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, list[Any]] = {}
        self._readers: dict[int, tuple[str, Callable[[bytes], Any]]] = {}

    def take(self, text: dict[str, Any]) -> list[dict[str, int]]:
        """Take what the server says. Returns subscriptions to all that is new."""
        if text["op"] == "serverInfo":
            self.info = text
        if text["op"] == "status":
            self.status.append(text)
        new = text["channels"] if text["op"] == "advertise" else []
        for channel in new:
            self.channels[channel["topic"]] = channel
            self._readers[channel["id"]] = channel["topic"], self._reader(channel)
        return [{"id": channel["id"], "channelId": channel["id"]} for channel in new]

    def _reader(self, channel: dict[str, Any]) -> Callable[[bytes], Any]:
        if channel["encoding"] == "cdr":
            assert channel["schemaEncoding"] == "ros2msg"
            return generate_dynamic(channel["schemaName"], channel["schema"])[channel["schemaName"]]
        return json.loads if channel["encoding"] == "json" else bytes

    def take_data(self, data: bytes) -> None:
        kind, subscription, _ = _DATA.unpack_from(data)
        assert kind == 1
        topic, read = self._readers[subscription]
        self.messages.setdefault(topic, []).append(read(data[_DATA.size :]))

    def pose(self, frame: str) -> np.ndarray:
        """(4, 4) The frame in the world, by the newest transforms."""
        messages = [*self.messages["/tf_static"], *self.messages["/tf"]]
        newest = {transform.child_frame_id: transform for message in messages for transform in message.transforms}
        X = np.eye(4)
        while frame != "world":
            transform = newest[frame]
            t, r = transform.transform.translation, transform.transform.rotation
            step = np.eye(4)
            step[:3, :3] = Rotation.from_quat([r.x, r.y, r.z, r.w]).as_matrix()
            step[:3, 3] = [t.x, t.y, t.z]
            X, frame = step @ X, transform.header.frame_id
        return X


async def look(port: int, until: Callable[[Seen], bool], send: dict[str, Any] | None = None) -> Seen:
    """Subscribe to all there is, until enough has come."""
    seen = Seen()
    deadline = time.monotonic() + PATIENCE_S
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"ws://127.0.0.1:{port}", protocols=("foxglove.sdk.v1",), max_msg_size=0) as link,
    ):
        if send is not None:
            await link.send_json(send)
        while not until(seen):
            assert time.monotonic() < deadline, (sorted(seen.channels), {k: len(v) for k, v in seen.messages.items()})
            try:
                message = await link.receive(timeout=0.5)
            except TimeoutError:
                continue
            if message.type == aiohttp.WSMsgType.BINARY:
                seen.take_data(message.data)
            elif message.type == aiohttp.WSMsgType.TEXT:
                new = seen.take(json.loads(message.data))
                if new:
                    await link.send_json({"op": "subscribe", "subscriptions": new})
    return seen


def port_in(text: str) -> int | None:
    found = re.search(r"Foxglove: +ws://localhost:(\d+) \(read only\)", text)
    return int(found[1]) if found else None


def wait_for(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_X15_joints_frames_variables_and_events_as_the_workcell_has_them(tmp_path: Path) -> None:
    arguments = ["--workcell", "arm7", "--controllers", "false", "--foxglove", "--foxglove-port", "0"]
    with (
        DemoWorkcell(arguments, tmp_path / "workcell.log", environment={"XDG_DATA_HOME": str(tmp_path)}) as cell,
        Client("looking", timeout_s=60.0) as client,
    ):
        cell.wait_until_ready(client, lambda _: None)
        port = port_in((tmp_path / "workcell.log").read_text())
        assert port is not None
        client.enable()
        with client.session("arm") as session:
            session.add(Action("down", "move_linear", offset=[0.0, 0.1, -0.1], speed=0.2))
            assert session.follow("down").wait(PATIENCE_S).end == "reached"
            wait_for(lambda: client.value("arm.at_rest") == 1.0)
            q = [client.value(f"arm.position[{j}]") for j in range(7)]
            at = [client.value(f"arm.tool.{axis}") for axis in "xyz"]
            topics = {"/tf", "/tf_static", "/joint_states", "/robot_description", "/state_variables", "/log",
                      "/control_server/markers", "/realtime_executor/status"}  # fmt: skip
            evil = {"op": "advertise", "channels": [{"id": 1, "topic": "/evil", "encoding": "json", "schemaName": ""}]}
            seen = asyncio.run(
                look(port, lambda s: topics <= s.messages.keys() and len(s.messages["/tf"]) > 1, send=evil)
            )
            assert seen.info["capabilities"] == [] and seen.status, "it takes nothing of clients, and says so"
            assert "/evil" not in dict(client.node.get_topic_names_and_types())
            joints = seen.messages["/joint_states"][-1]
            known = dict(zip(joints.name, joints.position, strict=True))
            assert [known[f"joint_{j + 1}"] for j in range(7)] == pytest.approx(q, abs=1e-6)
            assert seen.pose("arm_tool")[:3, 3] == pytest.approx(at, abs=1e-4)
            assert seen.messages["/state_variables"][-1]["arm"]["position"] == pytest.approx(q, abs=1e-6)
            (description,) = seen.messages["/robot_description"]
            assert "<robot" in description.data
            assert any(b"session_opened" in message for message in seen.messages["/log"])
            assert seen.channels["/log"]["schemaName"] == "foxglove.Log"
            # Nobody looks any more: nothing is followed.
            for topic in ("/tf", "/control_server/markers", "/rangefinder/range"):
                wait_for(lambda topic=topic: client.node.count_subscribers(topic) == 0)  # type: ignore[misc]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), 10.0)  # this machine, but not its loopback address


def test_a_taken_port_is_refused_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "robot_rt_control.editor.foxglove.main", "--port", str(port)]
        ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 1
    assert f"it cannot listen at port {port}" in ended.stderr and "--port 8766" in ended.stderr


def test_it_is_served_beside_the_view(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "robot_rt_control.command_line.main", "view", "--port", "0", "--foxglove",
               "--foxglove-port", "0"]  # fmt: skip
    output = tmp_path / "output"
    with output.open("wb") as file, subprocess.Popen(command, cwd=REPOSITORY, stdout=file) as process:
        try:
            wait_for(lambda: port_in(output.read_text()) is not None and "See the robot" in output.read_text())
            port = port_in(output.read_text())
            assert port is not None
            assert asyncio.run(look(port, lambda s: bool(s.info))).info["name"] == "robot_rt_control"
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_S) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 10.0)
