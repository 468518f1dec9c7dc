"""Prefixes the names in a URDF, so that two robots of one kind have distinct links and joints."""

from __future__ import annotations

from xml.etree import ElementTree

CONTROL_TAG = "ros2_control"
_NAMES = (
    *((tag, "name") for tag in ("link", "joint", "material", CONTROL_TAG)),
    *(("parent", "link"), ("child", "link"), ("mimic", "joint"), ("gazebo", "reference")),
)


def add_prefix(robot: ElementTree.Element, prefix: str) -> None:
    """Put a prefix before the names of links, joints and materials, and wherever these names are referred to.

    Also before the names of <ros2_control> tags, and of sensors and gpios in them, which are parts of the workcell.
    """
    for tag, attribute in _NAMES:
        for element in robot.iter(tag):
            if element.get(attribute):
                element.set(attribute, prefix + element.attrib[attribute])
    for control in robot.iter(CONTROL_TAG):
        for element in control.iter():
            if element.tag in ("sensor", "gpio") and element.get("name"):
                element.set("name", prefix + element.attrib["name"])
        for element in control.iter("param"):
            if element.get("name") == "mimic":
                element.text = prefix + (element.text or "").strip()
