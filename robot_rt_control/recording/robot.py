"""What shows the robot in a file of ticks: its description, and the frames of its links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robot_rt_control.recording.cdr import Cdr

DESCRIPTION, TF, TF_STATIC = "/robot_description", "/tf", "/tf_static"
TF_NS = 20_000_000
"""[ns] between two messages on /tf: frames of each tick would make the file three times as large."""
_LINE = "=" * 80 + "\n"
TF_MESSAGE = f"""\
geometry_msgs/TransformStamped[] transforms
{_LINE}MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
geometry_msgs/Transform transform
{_LINE}MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{_LINE}MSG: geometry_msgs/Transform
geometry_msgs/Vector3 translation
geometry_msgs/Quaternion rotation
{_LINE}MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
{_LINE}MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
"""


class Transforms(Protocol):
    """Transforms of child links in their parent links."""

    @property
    def links(self) -> Sequence[tuple[str, str]]:
        """(parent, child), n of them."""

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m]"""

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4), x y z w"""


class Frames(Protocol):
    """The frames of all links."""

    @property
    def fixed(self) -> Transforms:
        """Transforms of the links that never move."""

    def at(self, names: Sequence[str], positions: Sequence[float]) -> Transforms:
        """Transforms of the links that move, at positions [rad or m] of the joints with these names."""


@dataclass(frozen=True)
class Robot:
    """A robot in a file.

    Args:
        description: the text of robot_description.
        frames: of its links.
    """

    description: str
    frames: Frames


RobotWithTools = Callable[[tuple[float, ...]], Robot]
"""The robot while these tools are on: numbers of those of each part that lists tools, in the order of the parts."""


def tf_message(found: Transforms, time_ns: int) -> bytes:
    """A tf2_msgs/TFMessage."""
    message = Cdr().number("I", len(found.links))
    rows = np.hstack((found.positions, found.orientations)).tolist()
    for (parent, child), row in zip(found.links, rows, strict=True):
        message.stamp(time_ns).text(parent).text(child)
        for value in row:
            message.number("d", value)
    return message.finish()


def offered(depth: int = 10, latched: bool = False) -> dict[str, str]:
    """Metadata of a channel: the QoS of its reliable publisher as rosbag2 writes it; all its versions read numbers."""
    times = "".join(f"  {what}:\n    sec: 9223372036\n    nsec: 854775807\n" for what in ("deadline", "lifespan"))
    durability = 1 if latched else 2
    return {
        "offered_qos_profiles": f"- history: 1\n  depth: {depth}\n  reliability: 1\n  durability: {durability}\n"
        f"{times}  liveliness: 1\n  liveliness_lease_duration:\n    sec: 9223372036\n    nsec: 854775807\n"
        "  avoid_ros_namespace_conventions: false\n"
    }
