"""Tools mounted on simulated robots: links that are added to the robot's URDF before it is loaded.

Those of `world.tools` are always there. Those that an arm lists and changes are links without shape, one for each,
whose mass is 0 while the tool is not on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.parameters import Vector
from robot_rt_control.hardware.world.parameters import ToolParameters
from robot_rt_control.model.robot.urdf import Inertial
from robot_rt_control.model.robot.urdf_reader import rpy_of_rotation
from robot_rt_control.vocabulary.errors import HardwareError, unknown

_NOTHING: tuple[float, Vector] = (0.0, (0.0, 0.0, 0.0))


class ToolsOn:
    """Gives the tools that are on their masses, and the others none.

    Args:
        parts: of the device.
        numbers: of the tools that are on, commands of the parts that list tools. They begin with those of the start.
        set_body: takes a part, a link of its robot, its mass [kg] and its principal moments [kg m^2].
    """

    def __init__(
        self, parts: Sequence[HardwarePart], numbers: np.ndarray, set_body: Callable[[str, str, float, Vector], None]
    ) -> None:
        self._parts = [part for part in parts if part.tools]
        self._numbers, self._set_body = numbers, set_body
        numbers[:] = [part.start_tool for part in self._parts]
        self._on = [-1] * len(self._parts)
        self.follow()

    def follow(self) -> None:
        """Before each step: see whether others are on."""
        for i, part in enumerate(self._parts):
            number = int(self._numbers[i])
            if number != self._on[i]:
                for tool, body in enumerate(part.tools):
                    if tool in (number, self._on[i]):
                        mass, (_, moments) = body.mass, _principal(body)
                        self._set_body(part.name, _name(part, tool), *(mass, moments) if tool == number else _NOTHING)
                self._on[i] = number


def listed_tools(part: HardwarePart, parts: Sequence[HardwarePart]) -> list[HardwarePart]:
    """The parts that list tools whose joints are in the robot of a part with a URDF."""
    robot = {p.name for p in parts if (p.urdf, p.base, p.base_link) == (part.urdf, part.base, part.base_link)}
    return [p for p in parts if p.tools and (p.name in robot or p.mounted_on in robot)]


def write_with_tools(
    urdf: Path, tools: Sequence[ToolParameters], file: Path, item: str, changing: Sequence[HardwarePart] = ()
) -> None:
    """Write a robot's URDF with tools on its links, each a link of its own after a joint `<name>_joint`.

    The joint is fixed, or that of the tool's spring.

    Args:
        urdf: of the robot; files that it names relative to itself are named by their full path in the new one.
        tools: in any order; one may be mounted on another that comes before it.
        file: to write.
        item: what they belong to, for errors.
        changing: parts that list tools, with their tip links in this robot.

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
    for part in changing:
        for number, body in enumerate(part.tools):
            link = ElementTree.SubElement(robot, "link", name=_name(part, number))
            inertial = ElementTree.SubElement(link, "inertial")  # without it PyBullet would take 1 kg
            ElementTree.SubElement(inertial, "mass", value="0")
            ElementTree.SubElement(inertial, "inertia", dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), "0"))
            robot.append(_joint_between(str(part.tip_link), _name(part, number), _principal(body)[0], "fixed"))
    tree.write(file)


def _name(part: HardwarePart, number: int) -> str:
    """The link of a tool that a part lists."""
    return f"{part.name}/tool{number}"


def _principal(body: Inertial) -> tuple[np.ndarray, Vector]:
    """The frame (4, 4) of the principal axes at the center of mass, and the moments [kg m^2] about them."""
    moments, axes = np.linalg.eigh(body.inertia)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = axes * np.array([np.linalg.det(axes), 1.0, 1.0]), body.center_of_mass
    x, y, z = np.maximum(moments, 0.0).tolist()
    return X, (x, y, z)


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
    joint = _joint_between(tool.link, tool.name, tool.pose.matrix, "prismatic" if spring else "fixed")
    if spring is not None:
        way = math.hypot(*spring.way)
        ElementTree.SubElement(joint, "axis", xyz=_text([x / way for x in spring.way]))
        # As far again into the stop. URDF requires effort and velocity.
        limits = {"lower": "0", "upper": repr(2.0 * way), "effort": "1000", "velocity": "10"}
        ElementTree.SubElement(joint, "limit", limits)
    return joint


def _joint_between(parent: str, child: str, X: np.ndarray, kind: str) -> ElementTree.Element:
    joint = ElementTree.Element("joint", name=f"{child}_joint", type=kind)
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    ElementTree.SubElement(joint, "origin", xyz=_text(X[:3, 3].tolist()), rpy=_text(rpy_of_rotation(X[:3, :3])))
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


def _text(values: Sequence[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
