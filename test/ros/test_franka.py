"""An FR3 over its own network protocol, simulated by a program of others: it moves, is lost, and comes back."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fr3_with_hand import fr3_with_hand

from robot_rt_control.client import Action, Client, Reaction
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.testing.franka_simulator import NOT_RUN, FrankaSimulator
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import RobotControlError

DOMAIN = claim_domain("franka")
START = np.array([0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785])
PATIENCE = 600.0
"""On a busy machine, the simulator's time is many times slower."""

pytestmark = [pytest.mark.timeout(3600), pytest.mark.skipif(bool(NOT_RUN), reason=NOT_RUN)]


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, FrankaSimulator, DemoWorkcell]]:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(DOMAIN))
    with FrankaSimulator(DOMAIN) as simulator:
        text = fr3_with_hand()
        assert "address: 127.0.0.1" in text and "max_age_ticks: 1500" in text and "lag: 0.2" in text
        text = text.replace("realtime: ignore", "realtime: ignore\n      reply: 5.0", 1)
        text = text.replace("address: 127.0.0.1", f"address: {simulator.address}")
        # On a busy machine the simulator stands still for a while.
        text = text.replace("force: 20  # [N]", "silence: 600.0")
        text = re.sub("max_age_ticks: 1.00", "max_age_ticks: 60000", text)
        text = text.replace("lag: 0.2", "lag: 5.0")
        (tmp_path / "fr3.yaml").write_text(text)
        arguments = [
            "--workcell",
            str(tmp_path / "fr3.yaml"),
            "--controllers",
            "false",
            "--no-frames",
            "--priority",
            "0",
        ]
        with DemoWorkcell(arguments, tmp_path / "workcell.log") as workcell:
            with Client("starting", timeout_s=60.0) as starting:
                workcell.wait_until_ready(starting, lambda _: None)
            with Client("test", timeout_s=60.0) as client:
                yield client, simulator, workcell


def until(condition: Callable[[], Any], what: str) -> None:
    given_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < given_up, what
        time.sleep(0.02)


def position(client: Client) -> np.ndarray:
    return np.array([client.value(f"arm.position[{j}]") for j in range(7)])


def arm(client: Client) -> Any:
    return next(part for part in client.parts() if part.name == "arm")


def near(client: Client, end: np.ndarray) -> bool:
    return bool(np.abs(position(client) - end)[3:5].max() < 0.03)


def fingers_are_at(client: Client, position: float) -> bool:
    return abs(client.value("gripper.position[0]") - position) < 0.003


def process_of(workcell: DemoWorkcell, word: str) -> int:
    children = Path(f"/proc/{workcell.pid}/task/{workcell.pid}/children").read_text().split()
    found = [int(pid) for pid in children if word in Path(f"/proc/{pid}/cmdline").read_text()]
    assert len(found) == 1
    return found[0]


def test_an_fr3_and_its_hand_move_it_is_lost_and_comes_back(cell: tuple[Client, FrankaSimulator, DemoWorkcell]) -> None:
    client, simulator, workcell = cell
    assert client.executor_status().clock == "hardware", "the robot's packets drive the loop"
    np.testing.assert_allclose(position(client), START, atol=0.01)

    with client.session("gripper", lease_s=PATIENCE) as session:
        openings = {"open": 1.0, "close": 0.0}
        session.add(*(Action(name, "move_gripper", opening=opening) for name, opening in openings.items()))
        for name, opening in openings.items():
            session.start(name)
            until(partial(fingers_are_at, client, 0.04 * opening), f"the hand to {name}")
            until(lambda: client.value("hand_state.is_moving") == 0.0, "its end")

    with client.session("arm", lease_s=PATIENCE) as session:
        goal = START + [0.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.2]
        session.add(Action("move", "move_joint", position=goal.tolist()))
        session.start("move")
        session.wait_until("move.is_settled", timeout_s=PATIENCE)
        np.testing.assert_allclose(position(client), goal, atol=0.01)

    # The network is lost: the part is faulted with the reason.
    simulator.kill()
    until(lambda: arm(client).operational_state == "faulted", "the fault")
    lost = "part 'arm' is faulted: the hardware reports an error: error 0x20000 (network_lost); check the cable"
    until(lambda: any(lost in line for line in workcell.last_lines(50)), "its reason")
    with pytest.raises(RobotControlError):
        client.clear_faults("arm")
    simulator.start()

    def cleared() -> bool:
        try:
            client.clear_faults("arm")
        except RobotControlError:
            return False
        return True

    until(cleared, "a robot that is connected anew")
    until(lambda: np.isfinite(position(client)).all(), "its states")
    client.enable("arm")
    with client.session("arm", lease_s=PATIENCE) as session:
        session.add(Action("again", "move_joint", position=(position(client) + [0, 0, 0, 0, 0, 0, 0.1]).tolist()))
        session.start("again")
        session.wait_until("again.is_settled", timeout_s=PATIENCE)

    # A killed driver: the loop faults the part and ends; the robot stops by itself.
    ended = re.compile(
        r"hardware_driver_robot \(process \d+\) was ended by SIGKILL .* the parts of device 'robot' are faulted"
    )
    os.kill(process_of(workcell, "__node:=hardware_driver_robot"), signal.SIGKILL)
    until(lambda: any(ended.search(line) for line in workcell.last_lines(400)), "its end")


@pytest.mark.long
def test_an_fr3_moves_in_each_mode_and_reacts(cell: tuple[Client, FrankaSimulator, DemoWorkcell]) -> None:
    client, _, _ = cell
    with client.session("arm", lease_s=PATIENCE) as session:
        for mode in ("velocity", "effort"):
            begin = position(client)
            end = begin + [0.0, 0.0, 0.0, 0.1, -0.15, 0.0, 0.0]
            session.add(
                Action(
                    mode,
                    "track_trajectory",
                    times=[0.0, 1.0],
                    positions=[*begin, *end],
                    mode=mode,
                    velocities=[0.0] * 14,
                )
            )
            session.start(mode)
            session.wait_until(f"{mode}.is_done", timeout_s=PATIENCE)
            until(partial(near, client, end), f"the goal by {mode}")
            client.disable("arm")  # at rest in between: a Franka changes its mode only there
            client.enable("arm")

        begin = position(client)
        session.add(Action("follow", "follow_joint_stream", goal_timeout=60.0))
        session.start("follow")
        with session.stream("follow", "goal") as stream:
            stream.write((begin + [0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0]).tolist())
            until(lambda: abs(position(client)[4] - begin[4] - 0.1) < 0.01, "the stream's goal")

        # A reaction to an effort, which has no gravity in it: what pushes against the joint, here its own inertia.
        session.add(
            Action(
                "press",
                "move_joint",
                position=(position(client) + [0.0, -0.4, 0.0, 0.5, 0.0, 0.0, 0.0]).tolist(),
                reactions=[Reaction("arm.effort[3] > 0.7", start="halt", event="contact")],
            ),
            Action("halt", "stop"),
        )
        session.start("press")
        session.wait_for("contact", timeout_s=PATIENCE)
        until(lambda: client.value("arm.at_rest") == 1.0, "rest")
