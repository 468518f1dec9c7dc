"""Motion groups over ROS: planned in the loop, and by processes beside the control server."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client import Client, MotionCommand, MotionGroup, ProgramError, Reaction, Trajectory

from .by_hand import ByHand

pytestmark = pytest.mark.timeout(900)

HOME = (0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0)
AWAY = (0.4, 0.3, 0.2, -1.4, 0.1, 0.6, 0.3)


def profilers() -> list[int]:
    """Process ids of the profilers of this user's workcells on this test's ROS domain."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes()
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        domain = f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}".encode()
        if b"robot_rt_control.server.profiler" in line and domain in environment.split(b"\0"):
            found.append(int(folder.name))
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def hand(workcell) -> Iterator[ByHand]:
    with ByHand(timeout_s=120.0) as made:
        yield made


def test_M9_a_group_from_outside_moves_the_arm_and_M11_stops_when_its_process_dies(client: Client):
    done = Reaction("is_done", event="arrived")
    with client.session("arm") as session:
        home = MotionGroup("home", MotionCommand(part="arm", position=HOME), reactions=[done])
        session.add(home)
        session.start("home")
        session.wait_for("arrived", timeout_s=120.0)
        away = MotionCommand(part="arm", position=AWAY, via=((0.2, 0.6, 0.1, -1.1, 0.0, 0.7, 0.1),), blend=0.05)
        long = MotionCommand(part="arm", position=HOME, duration=60.0)
        session.add(MotionGroup("away", away, long, profile="async"))
        (pid,) = profilers()
        session.start("away")
        session.wait_until("away.progress > 0.06", timeout_s=240.0)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: "away" not in session.active)
        ended = [e for e in session.events if e.kind == "action_stopped" and e.previous_action == "away"]
        assert [e.reason for e in ended] == ["the process that planned its motion ended"]
    wait_until(lambda: not profilers())


def test_M4_a_run_of_a_group_by_hand(hand: ByHand):
    command = f"{{part: arm, position: {list(HOME)}, jerk_percent: 50.0}}"
    result = hand.run(
        "ros2 action send_goal /control_server/run_action robot_rt_control/action/RunAction "
        f'"{{type: motion_group, commands: [{command}]}}"'
    )
    assert result.success, result.message


def test_M2_all_mistakes_of_a_group_over_ros(client: Client):
    with client.session("arm") as session:
        wrong = MotionCommand(part="arm", position=(9, *HOME[1:]), jerk_percent=0.0)
        with pytest.raises(ProgramError) as caught:
            session.add(MotionGroup("wrong", wrong))
        assert "jerk_percent; expected above 0, at most 100; got 0" in str(caught.value)
        assert "is outside its limits" in str(caught.value)
        points = Trajectory(times=np.linspace(0.0, 2.0, 900), positions=np.tile(HOME, (900, 1)))
        session.add(MotionGroup("long", MotionCommand(part="arm", trajectory=points), profile="async"))
