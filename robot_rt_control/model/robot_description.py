"""The URDF text of a whole workcell, for robot_state_publisher and RViz."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.model.paths import mesh_uri
from robot_rt_control.model.urdf import Array, Urdf
from robot_rt_control.model.urdf_reader import read_urdf

WORLD = "world"
"""Root link: the frame that tool poses and base poses refer to."""


def bodies(parts: Sequence[PartDescription]) -> list[PartDescription]:
    """The parts that bring a URDF of their own; the mounted ones are in these."""
    return [part for part in parts if part.urdf_path is not None and part.mounted_on is None]


def _body_of(part: PartDescription, parts: Sequence[PartDescription]) -> PartDescription:
    by_name = {p.name: p for p in parts}
    while part.mounted_on is not None:
        part = by_name[part.mounted_on]
    return part


def _prefixes(urdfs: dict[str, Urdf]) -> dict[str, str]:
    """Body → prefix of its links and joints: none, unless two bodies share a name."""
    seen: set[str] = {WORLD} if len(urdfs) > 1 else set()
    for urdf in urdfs.values():
        names = set(urdf.links) | set(urdf.joints)
        if names & seen:
            return {name: f"{name}_" for name in urdfs}
        seen |= names
    return {name: "" for name in urdfs}


def joint_state_names(parts: Sequence[PartDescription]) -> dict[str, tuple[str, ...]]:
    """Part → its joints' names in robot_description and /joint_states."""
    prefixes = _prefixes({body.name: _read(body) for body in bodies(parts)})
    found = {}
    for part in parts:
        if part.dof:
            prefix = prefixes.get(_body_of(part, parts).name, "")
            found[part.name] = tuple(prefix + joint for joint in part.joint_names)
    return found


def _read(body: PartDescription) -> Urdf:
    assert body.urdf_path is not None
    return read_urdf(body.urdf_path)


def _rpy(R: Array) -> tuple[float, float, float]:
    """Fixed-axis angles x, y, z of a rotation matrix; at the poles with yaw 0."""
    pitch = float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))


def _absolute_meshes(robot: ElementTree.Element, urdf: Urdf) -> None:
    for tag in ("mesh", "texture"):
        for element in robot.iter(tag):
            filename = element.get("filename")
            if filename:
                element.set("filename", mesh_uri(filename, urdf.path.parent))


def _add_prefix(robot: ElementTree.Element, prefix: str) -> None:
    for tag in ("link", "joint", "material"):
        for element in robot.iter(tag):
            if element.get("name"):
                element.set("name", prefix + element.attrib["name"])
    for tag, attribute in (("parent", "link"), ("child", "link"), ("mimic", "joint")):
        for element in robot.iter(tag):
            element.set(attribute, prefix + element.attrib[attribute])


def _world_joint(body: PartDescription, root: str) -> ElementTree.Element:
    joint = ElementTree.Element("joint", name=f"{WORLD}_to_{root}", type="fixed")
    ElementTree.SubElement(joint, "parent", link=WORLD)
    ElementTree.SubElement(joint, "child", link=root)
    xyz = " ".join(repr(float(v)) for v in body.root.position)
    rpy = " ".join(repr(v) for v in _rpy(body.root.matrix[:3, :3]))
    ElementTree.SubElement(joint, "origin", xyz=xyz, rpy=rpy)
    return joint


def robot_description(name: str, parts: Sequence[PartDescription]) -> str:
    """One URDF with all bodies of the workcell, placed in a link `world`, meshes as file:// URIs.

    With several bodies whose names collide, links and joints carry their part's name as a prefix, as in
    `joint_state_names`; elements that say nothing about shape or motion (transmission, gazebo, ros2_control)
    are dropped then, because they refer to joints by name.
    """
    urdfs = {body.name: _read(body) for body in bodies(parts)}
    prefixes = _prefixes(urdfs)
    several = len(urdfs) > 1
    whole = ElementTree.Element("robot", name=name)
    if not any(urdf.root == WORLD for urdf in urdfs.values()):
        ElementTree.SubElement(whole, "link", name=WORLD)
    for body in bodies(parts):
        urdf = urdfs[body.name]
        robot = ElementTree.fromstring(urdf.content)
        _absolute_meshes(robot, urdf)
        if several:
            for tag in ("transmission", "gazebo", "ros2_control"):
                for element in robot.findall(tag):
                    robot.remove(element)
        if prefixes[body.name]:
            _add_prefix(robot, prefixes[body.name])
        whole.extend(list(robot))
        root = prefixes[body.name] + urdf.root
        if root != WORLD:
            whole.append(_world_joint(body, root))
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True)
