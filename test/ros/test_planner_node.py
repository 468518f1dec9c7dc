"""The planner node over DDS, beside a workcell on mock hardware: each is a process of its own (rule V21)."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import MarkerArray

from robot_rt_control import action, msg
from robot_rt_control.client import Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.ros.goal_client import GoalClient

from .policy import check_policy

CONFIG = Path(__file__).resolve().parents[2] / "config"
PATIENCE_S = 300.0
IN_TIME_S = 0.5
"""[s] A cancel returns within it,"""
BUSY_S = 20.0
"""and this is what a busy machine may add: planning itself would go on for minutes."""



@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pusher, whose camera sees the slider 10 mm further than where it begins; on the mock nothing moves it."""
    text = (CONFIG / "pusher.yaml").read_text()
    assert "{camera: {x: 0.13, " in text
    text = text.replace("{camera: {x: 0.13, ", "{camera: {x: 0.14, ")
    file = tmp_path_factory.mktemp("planner") / "pusher.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def cell(own_domain: None, file: Path) -> Iterator[DemoWorkcell]:
    arguments = ["--workcell", str(file), "--hardware", "mock", "--controllers", "false", "--no-frames", "--planner"]
    environment = {"XDG_DATA_HOME": str(file.parent)}
    log = file.parent / "workcell.log"
    with DemoWorkcell([*arguments, "--restart", "on-failure"], log, environment=environment) as made:
        with Client("starting", timeout_s=60.0) as starting:
            made.wait_until_ready(starting, lambda _: None)
        yield made


@pytest.fixture
def client(cell: DemoWorkcell) -> Iterator[Client]:
    with Client("test", timeout_s=60.0) as made:
        yield made


def wait_for(happens: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := happens()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


class Planner:
    """Sends goals to the planner."""

    def __init__(self, client: Client, file: Path) -> None:
        self.client, self.file = client, file
        self.goals: Any = GoalClient(client.node, action.PlanContact, "planner/plan_contact")
        assert self.goals.wait_for_server(PATIENCE_S)
        self.feedback: list[Any] = []

    def task(self, *, steps: int = 20, start: str = "", distance: str = "$distance") -> str:
        return f"""
name: slide
workcell: {self.file}
body: slider
target: {{by: [{distance}, 0, 0]}}
parts: {{pusher: {{control: velocity}}}}
pairs:
  - {{robot: pusher.tip, faces: [back]}}
horizon: {{time: 2.0, steps: {steps}}}
parameters:
  distance: {{unit: m, default: 0.1}}
{start}
"""

    @property
    def endless(self) -> str:
        """Out of reach without a blow: tried for a long time. Farther would be refused at once."""
        return self.task(distance="0.9")

    def send(self, task: str, **fields: Any) -> Any:
        """The handle of an accepted goal; of a rejected one as well."""
        self.feedback = []
        goal = action.PlanContact.Goal(task=task, **fields)
        sent = self.goals.send_goal_async(goal, feedback_callback=lambda m: self.feedback.append(m.feedback))
        wait_for(sent.done)
        return sent.result()

    def result(self, handle: Any) -> tuple[int, Any]:
        """Status and result."""
        asked = handle.get_result_async()
        wait_for(asked.done)
        return asked.result().status, asked.result().result

    def plan(self, task: str, **fields: Any) -> tuple[int, Any]:
        return self.result(self.send(task, **fields))

    def seen(self, phase: str) -> Any:
        """The first feedback of a phase."""
        return wait_for(lambda: next((f for f in self.feedback if f.phase == phase), None))

    def cancel(self, handle: Any) -> tuple[int, Any, float]:
        """Status, result, and how long it took [s]."""
        begin = time.monotonic()
        handle.cancel_goal_async()
        status, result = self.result(handle)
        return status, result, time.monotonic() - begin


@pytest.fixture
def planner(client: Client, file: Path) -> Planner:
    return Planner(client, file)


def planner_processes(kind: str) -> list[int]:
    """Of the node, or of its children: command lines of this machine's processes in our domain."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            domain = f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}".encode()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if kind.encode() in words and domain in (folder / "environ").read_bytes().split(b"\0") and state != "Z":
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


NODE, CHILD = "robot_rt_control.planner.node", "robot_rt_control.planner.child"


def test_it_may_do_what_it_does_and_no_more(client: Client) -> None:
    check_policy(client.node, "planner")


def test_a_plan_with_feedback_markers_and_a_trajectory(planner: Planner, client: Client) -> None:
    shown: list[set[str]] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listening = client.node.create_subscription(
        MarkerArray, "planner/markers", lambda m: shown.append({marker.ns for marker in m.markers[1:]}), latched
    )
    parameters = [msg.ParameterValue(name="distance", values=[0.12], unit="m")]
    status, result = planner.plan(planner.task(), parameters=parameters)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.success and result.message == ""
    assert result.normalized_error <= 0.02
    assert result.position_error == pytest.approx(0.12 * result.normalized_error, rel=1e-2)
    plan = Plan.load(result.plan_file)
    assert plan.header["target"][0][0] == pytest.approx(0.25) and Path(result.plan_file).is_absolute()
    assert result.parts == ["pusher"]
    (trajectory,) = result.trajectories
    assert list(trajectory.joint_names) == list(client.parts()[0].joint_names)
    assert len(trajectory.points) == 22  # 20 control steps and one to come to rest
    last = trajectory.points[-1]
    assert last.time_from_start.sec == 2 and last.time_from_start.nanosec == 100_000_000
    assert last.positions[0] == pytest.approx(plan.position[-1, 0], abs=0.05) and list(last.velocities) == [0.0]
    phases = [feedback.phase for feedback in planner.feedback]
    assert phases[0] == "reading"
    assert phases[-1] == "verifying" and planner.feedback[-1].best_position_error == result.position_error
    told = [feedback for feedback in planner.feedback if feedback.iteration]  # a straight push needs none
    assert all(math.isfinite(f.cost) and f.elapsed > 0.0 and f.start for f in told)
    assert any(f.start.startswith("line ") for f in planner.feedback)
    assert result.contact_peak > 0.0 and result.contact_impulse > 0.0
    wait_for(lambda: shown and "contact_path" in shown[-1])
    assert {"contact_target", "contact_faces"} <= shown[-1]
    client.node.destroy_subscription(listening)


def test_V21_all_mistakes_of_a_task_stand_in_the_result(planner: Planner) -> None:
    wrong = planner.task().replace("body: slider", "body: slidr").replace("pusher.tip", "pusher.tipp")
    status, result = planner.plan(wrong)
    assert status == GoalStatus.STATUS_ABORTED and not result.success and result.plan_file == ""
    assert [refusal.line for refusal in result.refusals] == [4, 8]
    assert "did you mean 'slider'" in result.message and "did you mean 'pusher.tip'" in result.message
    assert math.isnan(result.position_error)


@pytest.mark.parametrize("fields", [{"timeout": -1.0}, {"parameters": [msg.ParameterValue(name="x", text="far")]}])
def test_a_goal_that_is_none_is_rejected_with_the_reason(planner: Planner, fields: dict[str, Any]) -> None:
    handle = planner.send(planner.task(), **fields)
    assert not handle.accepted
    _, result = planner.result(handle)
    assert result.message.startswith(("timeout; expected a time", "parameter 'x'; expected numbers"))


@pytest.mark.parametrize("moment", ["at once", "while reading", "while planning"])
def test_V21_a_cancel_returns_in_time(planner: Planner, moment: str) -> None:
    handle = planner.send(planner.endless)
    if moment == "while reading":
        planner.seen("reading")
    elif moment == "while planning":
        wait_for(lambda: planner.feedback and planner.feedback[-1].iteration)
        other = planner.send(planner.task())  # one at a time
        assert not other.accepted
        assert planner.result(other)[1].message.startswith("the planner is busy with another goal")
    status, result, took = planner.cancel(handle)
    assert status == GoalStatus.STATUS_CANCELED and not result.success
    assert result.message.startswith("cancelled: ")
    assert took < IN_TIME_S + BUSY_S
    assert planner_processes(CHILD) == []


def test_V21_planning_that_is_killed_is_reported(planner: Planner) -> None:
    handle = planner.send(planner.endless)
    planner.seen("reading")
    (child,) = wait_for(lambda: planner_processes(CHILD))
    os.kill(child, signal.SIGKILL)
    status, result = planner.result(handle)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.message.startswith("the process that plans was ended by SIGKILL")
    assert planner_processes(CHILD) == []


def position(client: Client) -> float:
    return client.value("pusher.position[0]")


def test_a_plan_is_run_and_a_cancel_stops_it(planner: Planner, client: Client) -> None:
    """From where the camera sees the slider, and the joint is measured."""
    status, result = planner.plan(planner.task(start="start: {pose: camera}"), execute=True, from_measured=True)
    assert status == GoalStatus.STATUS_ABORTED and not result.success, "nothing moves the slider of the mock"
    assert "'slider' after the plan; expected within 3.0 mm and 0.050 rad; got 100.0 mm" in result.message
    plan = Plan.load(result.plan_file)
    assert plan.header["target"][0][0] == pytest.approx(0.24)
    phases = list(dict.fromkeys(feedback.phase for feedback in planner.feedback))
    assert phases[-2:] == ["approach", "motion"]
    end = result.trajectories[0].points[-1].positions[0]
    assert plan.feedback is not None
    assert position(client) == pytest.approx(end, abs=plan.feedback.bounds[0] + 1e-3), "it went after the slider"
    handle = planner.send(planner.task(), execute=True)  # it goes back first
    planner.seen("approach")
    status, result, took = planner.cancel(handle)
    assert status == GoalStatus.STATUS_CANCELED and result.message == "cancelled: the motion was stopped"
    assert took < IN_TIME_S + BUSY_S
    assert result.plan_file and client.sessions() == []
    wait_for(lambda: abs(client.value("pusher.velocity[0]")) < 1e-6)
    check_policy(client.node, "planner_client", profile="planner_client")


def test_V21_a_killed_node_takes_its_planning_with_it_and_the_workcell_goes_on(
    planner: Planner, client: Client
) -> None:
    planner.send(planner.endless)
    planner.seen("reading")
    (child,) = wait_for(lambda: planner_processes(CHILD))
    (node,) = planner_processes(NODE)
    tick = client.executor_status().tick
    os.kill(node, signal.SIGKILL)
    wait_for(lambda: child not in planner_processes(CHILD))
    status = client.executor_status()
    assert status.tick > tick and [part.operational_state for part in status.parts][0] == "enabled"
    # The supervisor starts it again, and it answers. A goal that is sent to the dead one, which may still seem to be
    # there, is lost.
    wait_for(lambda: [pid for pid in planner_processes(NODE) if pid != node])
    wait_for(lambda: answered(Planner(client, planner.file)))


def answered(planner: Planner) -> bool:
    """Whether a goal is answered soon."""
    sent = planner.goals.send_goal_async(action.PlanContact.Goal(timeout=-1.0))
    deadline = time.monotonic() + 5.0
    while not sent.done() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(sent.done()) and not sent.result().accepted
