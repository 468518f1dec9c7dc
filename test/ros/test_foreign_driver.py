"""A driver in C++ as `workcell` starts it, in real processes: all tests of FollowJointTrajectory, and its end."""

from __future__ import annotations

import functools
import importlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from foreign_driver import Fault, ForeignDriver

from robot_rt_control.client import Action, Client, Reaction
from robot_rt_control.demo.demo_workcell import DemoWorkcell

trajectories = importlib.import_module("test_follow_joint_trajectory")
REPOSITORY = Path(__file__).resolve().parents[2]
Cell = tuple[DemoWorkcell, ForeignDriver]

pytestmark = pytest.mark.timeout(900)

SHORT = (
    "test_a_trajectory_is_followed_with_feedback_and_state",
    "test_a_newer_goal_preempts_and_goes_on_without_a_jump",
    "test_cancel_stops_on_the_way",
    "test_a_broken_path_tolerance_stops_and_names_joint_and_limit",
    "test_J18_a_stream_of_trajectories_stops_with_an_empty_one_and_none_of_it_comes_later",
)
"""What depends on the driver; the others ask the control server, which answers the same on any hardware."""


def again(test: Callable[..., None]) -> Callable[..., None]:
    """A test once more, with the fixtures of this file."""

    @functools.wraps(test)
    def run(*arguments: Any, **more: Any) -> None:
        test(*arguments, **more)

    return run if test.__name__ in SHORT else pytest.mark.long(run)


found = {name: again(test) for name, test in vars(trajectories).items() if name.startswith("test_")}
assert found.keys() >= set(SHORT)
globals().update(found)

DEVICES = """
devices:
  drive: {max_age_ticks: 15000, external: {silence: 10000, EXTERNAL}}
controllers:
  arm_controller:
    type: joint_trajectory_controller/JointTrajectoryController
    part: arm
    options: {allow_partial_joints_goal: true}
"""
"""A busy machine is neither a silent driver nor a silent executor."""


def workcell_text() -> str:
    """The iiwa alone, on a foreign driver, at 250 Hz."""
    text = (REPOSITORY / "config" / "iiwa.yaml").read_text()
    text, _, _ = text.partition("  rangefinder:\n")
    for old, new in (
        ("period: 0.001", "period: 0.004"),
        ("action_type_folders: [../examples]", ""),
        ("trusted_native_code: [../examples]", ""),
        ("default_hardware: simulator", ""),
        # Commands that it missed are made up faster than the joints may move, and this component is there at once.
        ("device: sim", "device: drive\n    monitors: {following_error: false, position_jump: false}\n"
         "    system_limits: {velocity_tolerance: 10.0}"),
    ):
        assert old in text
        text = re.sub(rf"{re.escape(old)}.*", new, text, count=1)
    return text + DEVICES


@pytest.fixture(scope="module")
def cell(own_domain: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    folder = tmp_path_factory.mktemp("foreign")
    driver = ForeignDriver(folder, workcell_text())
    arguments = ["--workcell", str(driver.workcell), "--hardware", "external", "--no-frames", "--priority", "0"]
    with DemoWorkcell(arguments, folder / "workcell.log") as workcell:
        with Client("starting", timeout_s=60.0) as starting:
            workcell.wait_until_ready(starting, lambda _: None)
        yield workcell, driver


@pytest.fixture(scope="module")
def moveit(cell: Cell) -> Iterator[Any]:
    made = trajectories.MoveIt()
    yield made
    made.close()


@pytest.fixture
def client(cell: Cell) -> Iterator[Client]:
    with Client("test", timeout_s=60.0) as made:
        yield made


def until(condition: Callable[[], Any], what: str) -> None:
    given_up = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < given_up, what
        time.sleep(0.02)


def test_zz_a_reaction_acts_and_a_device_that_fails_or_a_driver_that_is_killed_faults_the_arm(
    cell: Cell, client: Client
) -> None:
    """The last one of the file: the workcell ends with its driver."""
    workcell, driver = cell
    start = [client.value(f"arm.position[{j}]") for j in range(7)]
    with client.session("arm") as session:
        move = Action(
            "move",
            "move_joint",
            position=[start[0] + 0.5, *start[1:]],
            velocity_scale=0.2,
            reactions=[Reaction(f"arm.position[0] > {start[0] + 0.1}", start="halt", event="there")],
        )
        session.add(move, Action("halt", "stop"))
        session.start("move")
        session.wait_for("there", timeout_s=120.0)
        session.wait_until("halt.is_settled", timeout_s=120.0)
        assert 0.1 < client.value("arm.position[0]") - start[0] < 0.4

        driver.fault(Fault.DEACTIVATES)
        until(lambda: client.parts()[0].operational_state == "faulted", "the fault")
        assert "the pendant says no" in "\n".join(workcell.last_lines(50))
    driver.fault(Fault.NONE)
    client.clear_faults("arm")
    client.enable("arm")
    children = Path(f"/proc/{workcell.pid}/task/{workcell.pid}/children").read_text().split()
    (pid,) = [int(pid) for pid in children if "rehearsal" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(pid, signal.SIGKILL)
    ended = re.compile(r"hardware_driver_drive .* was ended by SIGKILL .* the parts of device 'drive' are faulted")
    until(lambda: any(ended.search(line) for line in workcell.last_lines(400)), "the driver's end")
