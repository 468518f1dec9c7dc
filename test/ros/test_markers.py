"""The markers of a running workcell over DDS, and the topics of config/workcell.rviz."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control.client import Action, Client

from .policy import allowed, matched

PATIENCE_S = 120.0
VIEW = Path(__file__).resolve().parents[2] / "config" / "workcell.rviz"


def wait_for(happens: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def scene(client: Client) -> Iterator[dict[str, list[Any]]]:
    """Namespace → its markers in the last message."""
    found: dict[str, list[Any]] = {}

    def take(message: MarkerArray) -> None:
        first, *markers = message.markers
        assert first.action == Marker.DELETEALL
        names = {marker.ns for marker in markers}
        found.clear()
        found.update({name: [m for m in markers if m.ns == name] for name in names})

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listening = client.node.create_subscription(MarkerArray, "control_server/markers", take, latched)
    yield found
    client.node.destroy_subscription(listening)


def test_rviz_sees_ray_goal_and_way_of_a_moving_arm(client: Client, scene: dict[str, list[Any]]) -> None:
    with client.session("arm") as session:
        session.add(Action("lift", "move_linear", offset=[0.0, 0.0, 0.05], speed=0.1))
        session.start("lift")
        wait_for(lambda: scene.get("goal") and scene.get("path") and scene.get("rays"))
        ball = scene["goal"][0]
        assert (ball.type, ball.header.frame_id) == (Marker.SPHERE, "world")
        wait_for(lambda: session.value("lift.is_settled") == 1.0)
        assert [ball.pose.position.x, ball.pose.position.z] == pytest.approx(
            [session.value("arm.tool.x"), session.value("arm.tool.z")], abs=2e-3
        )
        ray = scene["rays"][0]
        assert (ray.type, ray.header.frame_id) == (Marker.LINE_LIST, "rangefinder_frame")
    wait_for(lambda: "goal" not in scene and "rays" in scene)


def test_rviz_sees_the_objects_of_the_simulator_where_it_has_them(client: Client) -> None:
    found: dict[str, Any] = {}

    def take(message: MarkerArray) -> None:
        found.update({marker.text: marker for marker in message.markers})

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listening = client.node.create_subscription(MarkerArray, "objects", take, latched)
    wait_for(lambda: {"box", "ball"} <= set(found))
    box, ball = found["box"], found["ball"]
    assert (box.type, ball.type, box.header.frame_id) == (Marker.CUBE, Marker.SPHERE, "world")
    at = box.pose.position
    assert [at.x, at.y, at.z] == pytest.approx([0.5, 0.35, 0.1], abs=0.01)
    assert [box.scale.x, ball.scale.x] == [0.2, pytest.approx(0.1)]
    client.node.destroy_subscription(listening)


def test_the_topics_of_the_view_are_published_and_a_watcher_may_see_them(client: Client) -> None:
    for display in yaml.safe_load(VIEW.read_text())["Visualization Manager"]["Displays"]:
        topic = display.get("Topic") or display.get("Description Topic")
        if topic is None or topic["Value"].startswith("planner/"):  # test_planner_node.py: it does not run here
            continue
        name = f"/{topic['Value']}"
        wait_for(lambda name=name: client.node.get_publishers_info_by_topic(name))  # type: ignore[misc]
        (publisher,) = client.node.get_publishers_info_by_topic(name)
        shown = display["Class"].removeprefix("rviz_default_plugins/")
        kind = publisher.topic_type.rpartition("/")[2]
        assert kind == {"RobotModel": "String", "Wrench": "WrenchStamped", "Effort": "JointState"}.get(shown, shown)
        is_latched = publisher.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        assert is_latched or topic["Durability Policy"] == "Volatile"
        assert matched(name, allowed("watcher", "topic", "subscribe")), name
