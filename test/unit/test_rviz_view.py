"""config/workcell.rviz against the topics of the iiwa cell. Over DDS: test/ros/test_markers.py."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy
from sensor_msgs.msg import JointState, Range
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from robot_rt_control.model.workcell.robot_description import WORLD
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.sensor_topics import SensorTopics
from robot_rt_control.ros.object_markers import ObjectMarkers
from robot_rt_control.server.node.scene_markers import SceneMarkers
from robot_rt_control.server.node.state_markers import StateMarkers

CONFIG = Path(__file__).parents[2] / "config"
LATCHED = "Transient Local"
SHOWN = {
    "RobotModel": String,
    "MarkerArray": MarkerArray,
    "Range": Range,
    "Wrench": WrenchStamped,
    "Effort": JointState,
}
"""Display of RViz → type of the messages that it shows."""

PLANNER = {"planner/markers": (MarkerArray, True)}
"""test/ros/test_planner_node.py sees them."""


class Recorder:
    """In place of a node: which publishers are made."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.topics: dict[str, tuple[Any, bool]] = {}

    def create_publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        latched = getattr(qos, "durability", None) == DurabilityPolicy.TRANSIENT_LOCAL
        self.topics[topic.replace("~", self.name)] = kind, latched
        return SimpleNamespace()


def test_every_topic_that_rviz_shows_exists_with_its_type_and_latched_where_it_asks_for_that() -> None:
    view = yaml.safe_load((CONFIG / "workcell.rviz").read_text())["Visualization Manager"]
    assert view["Global Options"]["Fixed Frame"] == WORLD
    workcell = load_workcell(CONFIG / "iiwa.yaml", "mock")
    executor: Any = Recorder("realtime_executor")
    server: Any = Recorder("control_server")
    SensorTopics(executor, workcell)
    ObjectMarkers(executor, list, None)
    StateMarkers(server, workcell.frame_names(), lambda _: ())
    SceneMarkers(server, SimpleNamespace(), None)  # type: ignore[arg-type]
    offered = executor.topics | server.topics | PLANNER
    offered |= {"joint_states": (JointState, False), "robot_description": (String, True)}  # of the node itself
    classes = []
    for display in view["Displays"]:
        classes.append(display["Class"].removeprefix("rviz_default_plugins/"))
        topic = display.get("Topic") or display.get("Description Topic")
        if topic is not None:
            kind, latched = offered[topic["Value"]]  # relative names, so that they follow the namespace
            assert kind is SHOWN[classes[-1]], topic["Value"]
            assert latched or topic["Durability Policy"] != LATCHED, "RViz would hear nothing"
    assert set(SHOWN) | {"TF", "Grid"} == set(classes)
    markers = {d["Topic"]["Value"] for d in view["Displays"] if d["Class"].endswith("/MarkerArray")}
    assert markers == {*server.topics, *PLANNER, "objects"}
