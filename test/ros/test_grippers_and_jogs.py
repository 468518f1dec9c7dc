"""Gripper actions, jogs and velocities of a base as other packages use them: these tests speak ROS alone.

Only the fixtures know this package: they start the nodes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand, ParallelGripperCommand
from control_msgs.msg import GripperCommand as GripperCommandMessage
from control_msgs.msg import JointJog
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from rcl_interfaces.msg import Log
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_rt_control.client import Client
from robot_rt_control.controllers.catalogue import make_controller
from robot_rt_control.controllers.controller import Controller
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.workcell.controllers import (
    FORWARD,
    GRIPPER,
    JOG,
    PARALLEL_GRIPPER,
    PLANAR_BASE,
    WRENCH_BROADCASTER,
    ControllerDescription,
)
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.spinning import spin

from .conftest import REPOSITORY
from .policy import check_policy
from .test_follow_joint_trajectory import wait

pytestmark = pytest.mark.timeout(900)

NAMESPACE = "/hand"
BASE = f"""parts:
  base:
    {{kind: base, device: sim, urdf: {REPOSITORY}/config/robots/mobile_base.urdf, joints: [base_x, base_y, base_yaw]}}
"""
DESCRIBED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "jog": (JOG, "arm", {"idle_time": 0.5}),
    "one": (GRIPPER, "gripper", {}),
    "both": (PARALLEL_GRIPPER, "gripper", {"joint": "finger_2"}),
    "drive": (PLANAR_BASE, "base", {"idle_time": 0.5}),
    "forward": (FORWARD, "arm", {"interface_name": "position", "idle_time": 0.5}),
    "force": (WRENCH_BROADCASTER, "wrist", {"frame_id": "there"}),
    "drive_unstamped": (PLANAR_BASE, "base", {"idle_time": 0.5, "use_stamped_vel": False}),
}
"""Name → type, part and options of a controller; these are active at once, as no controller manager is asked."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """arm7 with a mobile base."""
    made: Path = tmp_path_factory.mktemp("hand") / "cell.yaml"
    text = (REPOSITORY / "config" / "arm7.yaml").read_text().replace("robots/", f"{REPOSITORY}/config/robots/")
    made.write_text(text.replace("parts:\n", BASE))
    return made


@pytest.fixture(scope="module")
def client(file: Path) -> Iterator[Client]:
    arguments = ["--workcell", str(file), "--clock", "lockstep", "--namespace", NAMESPACE]
    with (
        DemoWorkcell([*arguments, "--own-topics", "--controllers", "false"], file.with_name("cell.log")) as workcell,
        Client("watcher", namespace=NAMESPACE, timeout_s=60.0, arguments=[]) as made,
    ):
        workcell.wait_until_ready(made, lambda _: None, 400.0)
        yield made


@pytest.fixture(scope="module")
def controllers(client: Client, file: Path) -> Iterator[dict[str, Controller]]:
    workcell, made = load_workcell(file), {}
    with Client("controllers", namespace=NAMESPACE, timeout_s=60.0, arguments=[]) as own:
        for name, (kind, part, options) in DESCRIBED.items():
            described = ControllerDescription(name=name, type=kind, part=part, options=options, place="test")
            made[name] = make_controller(described, workcell, own)
            made[name].configure()
            made[name].activate()
        yield made
        for controller in made.values():
            controller.deactivate()
            controller.cleanup()


class Operator:
    """What a planner and a teleoperation node do."""

    def __init__(self) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node("operator", context=self._context, namespace=NAMESPACE)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=spin, args=(self._executor, print), daemon=True)
        self._thread.start()
        self.lines: list[str] = []
        self.node.create_subscription(Log, "/rosout", lambda message: self.lines.append(message.msg), 100)
        self.twists = self.node.create_publisher(TwistStamped, "jog/delta_twist_cmds", 1)
        self.joints = self.node.create_publisher(JointJog, "jog/delta_joint_cmds", 1)
        self.drive = self.node.create_publisher(TwistStamped, "drive/cmd_vel", 1)
        self.drive_unstamped = self.node.create_publisher(Twist, "drive_unstamped/cmd_vel", 1)
        self.one = GoalClient(self.node, GripperCommand, "one/gripper_cmd")
        self.both = GoalClient(self.node, ParallelGripperCommand, "both/gripper_cmd")
        assert self.one.wait_for_server(60.0) and self.both.wait_for_server(60.0)
        topics = (self.twists, self.joints, self.drive, self.drive_unstamped)
        wait(lambda: all(publisher.get_subscription_count() for publisher in topics))

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        self._context.try_shutdown()

    def jog(self, publisher: Any, message: Any, until: Callable[[], Any]) -> None:
        """Publish a jog, again and again, until something has happened."""
        deadline = time.monotonic() + 60.0
        while not until():
            assert time.monotonic() < deadline
            publisher.publish(message)
            time.sleep(0.01)

    def has_read(self, text: str) -> bool:
        return any(text in line for line in list(self.lines))


@pytest.fixture(scope="module")
def operator(controllers: dict[str, Controller]) -> Iterator[Operator]:
    made = Operator()
    yield made
    made.close()


def ended(client: GoalClient, goal: Any) -> tuple[int, Any]:
    """Status and result."""
    sent = client.send_goal_async(goal)
    wait(sent.done)
    asked = sent.result().get_result_async()
    wait(asked.done)
    return asked.result().status, asked.result().result


def test_gripper_command(operator: Operator) -> None:
    goal = GripperCommand.Goal(command=GripperCommandMessage(position=0.02))
    status, result = ended(operator.one, goal)
    assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal and not result.stalled
    assert abs(result.position - 0.02) < 0.003
    goal.command.position = 0.5
    sent = operator.one.send_goal_async(goal)
    wait(sent.done)
    assert not sent.result().accepted
    wait(lambda: operator.has_read("position of joint 'finger_1'; expected 0 to 0.04; got 0.5"))


def test_parallel_gripper_command(operator: Operator) -> None:
    command = JointState(name=["finger_2"], position=[0.03], velocity=[0.1], effort=[10.0])
    status, result = ended(operator.both, ParallelGripperCommand.Goal(command=command))
    assert status == GoalStatus.STATUS_SUCCEEDED and result.reached_goal and not result.stalled
    assert list(result.state.name) == ["finger_2"] and abs(result.state.position[0] - 0.03) < 0.003


def test_a_gripper_goal_is_cancelled(operator: Operator) -> None:
    feedback: list[Any] = []
    goal = ParallelGripperCommand.Goal(command=JointState(position=[0.0], velocity=[0.002]))
    sent = operator.both.send_goal_async(goal, feedback_callback=feedback.append)
    wait(sent.done)
    wait(lambda: feedback)
    sent.result().cancel_goal_async()
    asked = sent.result().get_result_async()
    wait(asked.done)
    assert asked.result().status == GoalStatus.STATUS_CANCELED
    assert feedback[0].feedback.state.position[0] > 0.0


def test_twists_move_the_tool_while_they_come(operator: Operator, client: Client) -> None:
    twist, before = TwistStamped(), client.value("arm.tool.z")
    twist.twist.linear.z = -0.05
    operator.jog(operator.twists, twist, lambda: client.value("arm.tool.z") < before - 0.01)
    wait(lambda: client.value("arm.at_rest") == 1.0)
    wait(lambda: not client.sessions())
    rest = client.value("arm.tool.z")
    twist.header.frame_id = "camera"
    refused = "a command was ignored: frame_id; expected empty, or one of: arm_tool, base, flange, world; got 'camera'"
    operator.jog(operator.twists, twist, lambda: operator.has_read(refused))
    twist.header.frame_id, twist.header.stamp.sec = "", 1
    time.sleep(1.0)  # warnings are throttled
    operator.jog(operator.twists, twist, lambda: operator.has_read("a command was ignored: the command is too old"))
    assert abs(client.value("arm.tool.z") - rest) < 1e-9 and not client.sessions()


def test_joint_velocities_move_joints(operator: Operator, client: Client, controllers: dict[str, Controller]) -> None:
    jog, before = JointJog(joint_names=["joint_7"], velocities=[0.3]), client.value("arm.position[6]")
    operator.jog(operator.joints, jog, lambda: client.value("arm.position[6]") > before + 0.05)
    controllers["jog"].deactivate()
    assert not client.sessions()
    wait(lambda: client.value("arm.at_rest") == 1.0)
    refused = "a command was ignored: the controller is inactive; expected active"
    operator.jog(operator.joints, jog, lambda: operator.has_read(refused))
    controllers["jog"].activate()


def test_a_base_takes_stamped_and_unstamped_twists(operator: Operator, client: Client) -> None:
    stamped = TwistStamped()
    stamped.header.frame_id, stamped.twist.linear.y = "base_link", 0.3
    operator.jog(operator.drive, stamped, lambda: client.value("base.position[1]") > 0.05)
    # A last jog of the arm, taken when its controller became active, may have a session beside it.
    assert "drive" in [session.name for session in client.sessions()]
    wait(lambda: not client.sessions())
    assert abs(client.value("base.position[0]")) < 1e-6
    twist, y = Twist(), client.value("base.position[1]")
    twist.linear.x, twist.angular.z = 0.3, 0.5
    operator.jog(operator.drive_unstamped, twist, lambda: client.value("base.position[2]") > 0.3)
    assert client.value("base.position[0]") > 0.05 and client.value("base.position[1]") > y
    wait(lambda: not client.sessions())


def test_their_node_may_do_what_they_need(operator: Operator) -> None:
    check_policy(operator.node, "controllers", NAMESPACE, "controller_manager_client")


def test_Q18_one_message_of_positions_moves_the_arm(operator: Operator, client: Client) -> None:
    publisher = operator.node.create_publisher(Float64MultiArray, "forward/commands", 1)
    wait(lambda: publisher.get_subscription_count())
    q = [client.value(f"arm.commanded_position[{j}]") for j in range(7)]
    publisher.publish(Float64MultiArray(data=[*q[:6], q[6] + 0.2]))
    wait(lambda: abs(client.value("arm.commanded_position[6]") - q[6] - 0.2) < 1e-3)
    publisher.publish(Float64MultiArray(data=q[:6]))
    wait(lambda: operator.has_read("commands: position values; expected 7, one for each joint; got 6"))
    wait(lambda: not client.sessions())


def test_Q19_a_wrench_is_published_while_its_broadcaster_is_active(
    operator: Operator, controllers: dict[str, Controller]
) -> None:
    heard: list[Any] = []
    operator.node.create_subscription(WrenchStamped, "force/wrench", heard.append, 10)
    wait(lambda: heard)
    assert heard[-1].header.frame_id == "there" and heard[-1].header.stamp.sec >= 0
    controllers["force"].deactivate()
    wait(lambda: not operator.node.count_publishers("force/wrench"))
    controllers["force"].activate()
    heard.clear()
    wait(lambda: heard)
