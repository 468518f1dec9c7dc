"""What a workcell's processes must not load if all native code is in the cache: it costs seconds and 50 MB each."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from robot_rt_control.client import Action, Client, MotionCommand, MotionGroup
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.vocabulary.errors import SessionError

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("own_domain")]

HEAVY = ("numba", "scipy", "matplotlib", "mujoco", "pybullet")


def libraries(pid: int) -> set[str]:
    """The Python packages whose compiled modules are mapped into a process."""
    return set(re.findall(r"/(?:site|dist)-packages/(\w+)/\S*\.so", Path(f"/proc/{pid}/maps").read_text()))


def started(pid: int) -> dict[str, int]:
    """Name of each process that a supervisor has started → its pid."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    commands = {child: Path(f"/proc/{child}/cmdline").read_text().split("\0") for child in children}
    return {next(w for w in words if "robot_rt_control." in w): int(child) for child, words in commands.items()}


def move(client: Client) -> None:
    """By ordinary actions to joint positions and poses, by a trajectory so long that it becomes a motion group, and by
    groups that are planned to a position and at a velocity."""
    with client.session("arm", lease_s=60.0) as session:
        q = [client.value(f"arm.commanded_position[{j}]") for j in range(7)]
        times = [0.001 * i for i in range(1001)]
        stay = Action("stay", "track_trajectory", times=times, positions=q * len(times))
        p = [client.value(f"arm.tool.{axis}") for axis in "xyz"]
        session.add(
            stay,
            Action("there", "move_joint", position=[q[0] + 0.05, *q[1:]]),
            Action("up", "move_joint", tool_position=[p[0], p[1], p[2] + 0.01]),
            Action("back", "move_linear", position=p),
            MotionGroup("away", MotionCommand(part="arm", position=(q[0] + 0.1, *q[1:])), profile="async"),
        )
        for action in ("stay", "there", "up", "back", "away"):
            session.start(action)
            session.wait_until(f"{action}.is_settled", 60.0)
        session.add(MotionGroup("turn", MotionCommand(part="arm", velocity=(-0.1, *[0.0] * 6), time=1.0)))
        session.start("turn")
        session.wait_until("turn.is_settled", 60.0)


def move_at_last(client: Client) -> None:
    """On a busy machine the loop may hear nothing from the server for a while, and end the session."""
    given_up = time.monotonic() + 600.0
    while True:
        try:
            move(client)
        except SessionError:
            if time.monotonic() > given_up:
                raise
        else:
            return


def test_a_workcell_whose_code_is_in_the_cache_runs_without_the_compiler(tmp_path: Path) -> None:
    arguments = ["--workcell", "arm7", "--no-frames", "--priority", "0"]
    for turn in range(2):  # if the cache lacks anything, the first one compiles it
        with DemoWorkcell(arguments, tmp_path / f"{turn}.log") as workcell, Client("moves", timeout_s=60.0) as client:
            workcell.wait_until_ready(client, lambda _: None)
            pids = started(workcell.pid)
            seen = {name: libraries(pid) for name, pid in pids.items()}
            move_at_last(client)
            moved = {name: libraries(pid) for name, pid in pids.items()}
        if not any(loaded & set(HEAVY) for loaded in (*seen.values(), *moved.values())):
            break
    assert {"robot_rt_control.realtime.executor.node", "robot_rt_control.server.node.node"} <= seen.keys()
    assert all("numpy" in loaded for loaded in seen.values()), "this test would find nothing"
    nothing: dict[str, list[str]] = {name: [] for name in seen}
    assert {name: sorted(loaded & set(HEAVY)) for name, loaded in seen.items()} == nothing
    assert {name: sorted(loaded & set(HEAVY)) for name, loaded in moved.items()} == nothing, "when it has moved"
