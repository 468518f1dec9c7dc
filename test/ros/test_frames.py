"""TF over DDS: the node `frame_publisher`, beside what publishes robot_description and joint_states."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from robot_rt_control.client import Action, Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.frames.node import FramePublisherNode
from robot_rt_control.ros.spinning import Spinner
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError

CONFIG = Path(__file__).parents[2] / "config"
PATIENCE_S = 60.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ROBOT = """<robot name="r"><link name="world"/><link name="base"/><link name="a"/><link name="b"/>
<joint name="stand" type="fixed"><parent link="world"/><child link="base"/><origin xyz="1 2 3"/></joint>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="k" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{}</joint></robot>"""
MIMIC = '<mimic joint="j" multiplier="2"/>'


class Cell:
    """A frame publisher in the namespace `cell`, with shared topics of its own, and a node that plays the workcell."""

    def __init__(self, context: Context) -> None:
        self.errors: list[str] = []
        words = ["-r", "__ns:=/cell", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static", "-p", "rate:=200.0"]
        self.publisher = FramePublisherNode(
            context=context, cli_args=["--ros-args", *words], use_global_arguments=False
        )
        self.node = rclpy.create_node("cell", namespace="cell", context=context)
        self.description = self.node.create_publisher(String, "robot_description", LATCHED)
        self.joints = self.node.create_publisher(JointState, "joint_states", 10)
        self.moving: list[TFMessage] = []
        self.static: list[TFMessage] = []
        self.subscribe()
        executor = MultiThreadedExecutor(num_threads=3, context=context)
        executor.add_node(self.publisher)
        executor.add_node(self.node)
        self.spinner = Spinner(executor, self.errors.append)
        self.spinner.start()

    def subscribe(self) -> None:
        self.frames = self.node.create_subscription(TFMessage, "tf", self.moving.append, 100)

    def listen(self) -> None:
        self.node.create_subscription(TFMessage, "tf_static", self.static.append, LATCHED)

    def joint_states(self, second: int, **positions: float) -> bool:
        message = JointState(name=list(positions), position=list(positions.values()))
        message.header.stamp.sec = second
        self.joints.publish(message)
        return False

    def connect(self) -> None:
        """Wait until joint_states arrive, and TF comes back."""
        seconds = itertools.count(1)
        wait_for(lambda: self.moving or self.joint_states(next(seconds), j=0.0))

    def at(self, second: int) -> list[tuple[str, str, int, float]]:
        """The frames with this stamp; waits for them."""
        wait_for(lambda: any(m.transforms[0].header.stamp.sec == second for m in self.moving))
        (found,) = (shown(m) for m in self.moving if m.transforms[0].header.stamp.sec == second)
        return found


def wait_for(happens: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def shown(message: TFMessage) -> list[tuple[str, str, int, float]]:
    """(parent, child, second of the stamp, angle about z)"""
    return [
        (
            t.header.frame_id,
            t.child_frame_id,
            t.header.stamp.sec,
            round(2.0 * math.atan2(t.transform.rotation.z, t.transform.rotation.w), 6),
        )
        for t in message.transforms
    ]


@pytest.fixture
def cell() -> Iterator[Cell]:
    context = Context()
    context.init(args=[], domain_id=claim_domain("frames"))
    made = Cell(context)
    assert made.publisher.start()
    yield made
    made.publisher.close()
    assert made.spinner.stop(PATIENCE_S)
    assert made.errors == []
    made.publisher.destroy_node()
    made.node.destroy_node()
    context.try_shutdown()


def test_frames_follow_description_and_joint_states(cell: Cell) -> None:
    cell.description.publish(String(data=ROBOT.format(MIMIC)))
    wait_for(lambda: cell.publisher.count_publishers("/cell/tf_static"))
    cell.listen()  # later: static frames are latched
    wait_for(lambda: cell.static)
    (static,) = cell.static[0].transforms
    assert (static.header.frame_id, static.child_frame_id) == ("world", "base")
    assert [getattr(static.transform.translation, axis) for axis in "xyz"] == [1.0, 2.0, 3.0]

    cell.connect()
    cell.joint_states(100_007, j=0.5, other=1.0)
    assert cell.at(100_007) == [("base", "a", 100_007, 0.5), ("a", "b", 100_007, 1.0)]

    # A time that stands still has been said; an unknown position has no frame.
    cell.joint_states(100_007, j=0.6, other=1.0)
    cell.joint_states(100_008, j=math.nan, other=1.0)
    cell.joint_states(100_009, k=0.25)
    assert cell.at(100_009) == [("a", "b", 100_009, 0.25)]
    assert cell.at(100_007)[0][3] == 0.5
    assert not any(m.transforms[0].header.stamp.sec == 100_008 for m in cell.moving)

    # The new one replaces the old one; the rate may change while it runs.
    (result,) = cell.publisher.set_parameters([Parameter("rate", value=100.0)])
    assert result.successful
    cell.static.clear()
    cell.description.publish(String(data=ROBOT.format("")))
    wait_for(lambda: cell.static)
    cell.joint_states(100_010, j=0.5)
    assert cell.at(100_010) == [("base", "a", 100_010, 0.5)]


def test_frames_that_nobody_listens_to_are_not_computed(cell: Cell) -> None:
    cell.description.publish(String(data=ROBOT.format("")))
    cell.connect()
    cell.node.destroy_subscription(cell.frames)
    wait_for(lambda: not cell.publisher._moving.get_subscription_count())
    for second in range(100_000, 100_020):
        cell.joint_states(second, j=0.5)
        time.sleep(0.01)
    assert all(stamp.sec < 100_000 for stamp in cell.publisher._stamps.values())
    cell.subscribe()
    seconds = itertools.count(200_000)
    wait_for(lambda: cell.moving[-1].transforms[0].header.stamp.sec > 199_999 or cell.joint_states(next(seconds), j=0))


def test_a_wrong_description_is_reported_and_the_last_one_holds(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []  # pytest loses what another thread prints while it reads what was printed
    logger = SimpleNamespace(info=said.append, warning=said.append, error=said.append)
    monkeypatch.setattr(cell.publisher, "get_logger", lambda: logger)
    cell.description.publish(String(data=ROBOT.format("")))
    cell.listen()
    wait_for(lambda: cell.static)
    cell.description.publish(String(data="<robot>"))
    wait_for(lambda: any("no frames: robot_description:1: URDF; expected well-formed XML" in line for line in said))
    cell.connect()
    cell.joint_states(100_001, j=0.5)
    assert cell.at(100_001) == [("base", "a", 100_001, 0.5)]


def test_a_workcell_brings_its_frames(client: Client) -> None:
    """From world over the robot to its tool and the rangefinder on it, in simulated time."""
    found: dict[str, Any] = {}

    def take(message: TFMessage) -> None:
        found.update({t.child_frame_id: t for t in message.transforms})

    client.node.create_subscription(TFMessage, "/tf", take, 100)
    client.node.create_subscription(TFMessage, "/tf_static", take, LATCHED)
    wait_for(lambda: {"arm_tool", "rangefinder_frame", "lbr_iiwa_link_7"} <= set(found))
    for frame in ("arm_tool", "rangefinder_frame"):
        above = frame
        while above in found:
            above = found[above].header.frame_id
        assert above == "world"
    moving = found["lbr_iiwa_link_7"].header.stamp
    assert 0 <= moving.sec < 1e6, "simulated time"


TWO_TOOLS = f"""
name: two_tools
period: 0.01
parts:
  arm:
    kind: arm
    device: sim
    urdf: {CONFIG / "robots" / "arm7.urdf"}
    base_link: base
    tip_link: flange
    tools: {{none: {{}}, pen: {{pose: {{position: [0.0, 0.0, 0.2]}}, mass: 0.3}}}}
devices: {{sim: {{mock: {{}}}}}}
"""


@pytest.mark.timeout(900)
def test_the_frame_of_the_tool_follows_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real workcell, with its own frame publisher: the service, what people see, and TF."""
    domain = claim_domain("tools")
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    (tmp_path / "cell.yaml").write_text(TWO_TOOLS)
    heights: list[float] = []

    def look(message: TFMessage) -> None:
        heights.extend(t.transform.translation.z for t in message.transforms if t.child_frame_id == "arm_tool")

    context = Context()
    context.init(args=[], domain_id=domain)
    node = rclpy.create_node("viewer", context=context)
    node.create_subscription(TFMessage, "/tf_static", look, LATCHED)
    executor = MultiThreadedExecutor(num_threads=2, context=context)
    executor.add_node(node)
    spinner = Spinner(executor, lambda _: None)
    spinner.start()
    arguments = ["--workcell", str(tmp_path / "cell.yaml"), "--controllers", "false"]
    try:
        with DemoWorkcell(arguments, tmp_path / "workcell.log") as workcell, Client("test") as client:
            workcell.wait_until_ready(client, lambda _: None)
            (arm,) = client.parts()
            assert (list(arm.tools), arm.tool) == (["none", "pen"], "none")
            wait_for(lambda: heights)
            assert heights[-1] == 0.0
            with client.session("arm") as session:
                session.add(Action("up", "velocity_move", linear=(0.0, 0.0, 0.05)))
                session.start("up")
                with pytest.raises(CommandRefused, match="an action commands the part"):
                    session.change_tool("arm", "pen")
                with pytest.raises(DefinitionError, match="unknown|pen"):
                    session.change_tool("arm", "pencil")
                session.stop()
                session.wait_until("arm.at_rest", timeout_s=PATIENCE_S)
                tick = session.change_tool("arm", "pen")
                changed = session.wait_for("tool_changed", timeout_s=PATIENCE_S)
                assert (changed.tick, changed.part, changed.reason) == (tick, "arm", "pen")
            wait_for(lambda: heights[-1] == pytest.approx(0.2))
            wait_for(lambda: client.executor_status().parts[0].tool == "pen")
            assert client.parts()[0].tool == "pen"
    finally:
        spinner.stop(PATIENCE_S)
        node.destroy_node()
        context.try_shutdown()
