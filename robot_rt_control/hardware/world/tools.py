"""Tools mounted on simulated robots: links that are added to the robot's URDF before it is loaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from robot_rt_control.hardware.world.parameters import ToolParameters
from robot_rt_control.vocabulary.errors import HardwareError, unknown


def write_with_tools(urdf: Path, tools: Sequence[ToolParameters], file: Path, item: str) -> None:
    """Write a robot's URDF with tools on its links, each a link of its own after a joint `<name>_joint`.

    The joint is fixed, or that of the tool's spring.

    Args:
        urdf: of the robot; files that it names relative to itself are named by their full path in the new one.
        tools: in any order; one may be mounted on another that comes before it.
        file: to write.
        item: what they belong to, for errors.

    Raises:
        HardwareError: a link is missing, or a name is taken.
    """
    tree = ElementTree.parse(urdf)
    robot = tree.getroot()
    for element in robot.iter():
        name = element.get("filename")
        if name is not None and "://" not in name and not Path(name).is_absolute():
            element.set("filename", str((urdf.parent / name).resolve()))
    links = {str(link.get("name")) for link in robot.findall("link")}
    for tool in tools:
        what = f"{item}, tool {tool.name!r}"
        if tool.link not in links:
            raise HardwareError(f"{what}: link {tool.link!r}", expected=unknown("link", tool.link, links))
        if tool.name in links:
            raise HardwareError(f"{what}: its name", expected="none of the robot's links", got=tool.name)
        robot.append(_link(tool))
        robot.append(_joint(tool))
        links.add(tool.name)
    tree.write(file)


def _link(tool: ToolParameters) -> ElementTree.Element:
    """The link; its frame is the shape's."""
    link = ElementTree.Element("link", name=tool.name)
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "mass", value=repr(tool.mass))
    ixx, iyy, izz = (tool.mass * value for value in _inertia_per_mass(tool))
    tensor = {"ixx": ixx, "iyy": iyy, "izz": izz, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
    ElementTree.SubElement(inertial, "inertia", {name: repr(value) for name, value in tensor.items()})
    for kind in ("visual", "collision"):
        element = ElementTree.SubElement(link, kind)
        geometry = ElementTree.SubElement(element, "geometry")
        if tool.box is not None:
            ElementTree.SubElement(geometry, "box", size=_text(tool.box.size))
        elif tool.sphere is not None:
            ElementTree.SubElement(geometry, "sphere", radius=repr(tool.sphere.radius))
        elif tool.cylinder is not None:
            size = {"radius": repr(tool.cylinder.radius), "length": repr(tool.cylinder.height)}
            ElementTree.SubElement(geometry, "cylinder", size)
        if kind == "visual":
            material = ElementTree.SubElement(element, "material", name=f"{tool.name}_color")
            ElementTree.SubElement(material, "color", rgba=_text((*tool.color, 1.0)))
    return link


def _joint(tool: ToolParameters) -> ElementTree.Element:
    spring = tool.spring
    joint = ElementTree.Element("joint", name=f"{tool.name}_joint", type="prismatic" if spring else "fixed")
    ElementTree.SubElement(joint, "parent", link=tool.link)
    ElementTree.SubElement(joint, "child", link=tool.name)
    rpy = _roll_pitch_yaw(tool.pose.orientation)
    ElementTree.SubElement(joint, "origin", xyz=_text(tool.pose.position), rpy=_text(rpy))
    if spring is not None:
        way = math.hypot(*spring.way)
        ElementTree.SubElement(joint, "axis", xyz=_text([x / way for x in spring.way]))
        # As far again into the stop. URDF requires effort and velocity.
        limits = {"lower": "0", "upper": repr(2.0 * way), "effort": "1000", "velocity": "10"}
        ElementTree.SubElement(joint, "limit", limits)
    return joint


def _inertia_per_mass(tool: ToolParameters) -> tuple[float, float, float]:
    """[m^2] principal moments of the solid shape about its center, of 1 kg."""
    if tool.box is not None:
        x, y, z = (edge * edge / 12.0 for edge in tool.box.size)
        return y + z, x + z, x + y
    if tool.sphere is not None:
        moment = 0.4 * tool.sphere.radius**2
        return moment, moment, moment
    assert tool.cylinder is not None
    r2, h2 = tool.cylinder.radius**2, tool.cylinder.height**2
    return (3.0 * r2 + h2) / 12.0, (3.0 * r2 + h2) / 12.0, r2 / 2.0


def _roll_pitch_yaw(q: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a unit quaternion x y z w, as URDF defines them: about fixed x, then y, then z [rad]."""
    x, y, z, w = q
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, pitch, yaw


def _text(values: Sequence[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
