"""The URDF text of a whole workcell, for robot_state_publisher and RViz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Array, Urdf
from robot_rt_control.model.robot.urdf_file import absolute_meshes
from robot_rt_control.model.robot.urdf_prefix import CONTROL_TAG, add_prefix
from robot_rt_control.model.robot.urdf_reader import rpy_of_rotation
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

WORLD = "world"
"""Root link: the frame that tool poses and base poses refer to."""


def bodies(parts: Sequence[PartDescription]) -> list[PartDescription]:
    """The parts with their own URDF; mounted parts are contained in these."""
    return [part for part in parts if part.urdf is not None and part.mounted_on is None]


def body_of(part: PartDescription, parts: Sequence[PartDescription]) -> PartDescription:
    """The part with the URDF that a part belongs to: itself, or the one it is mounted on."""
    by_name = {p.name: p for p in parts}
    while part.mounted_on is not None:
        part = by_name[part.mounted_on]
    return part


def _prefixes(urdfs: dict[str, Urdf]) -> dict[str, str]:
    """Body → prefix of its links and joints; empty unless two bodies share a name."""
    seen: set[str] = {WORLD} if len(urdfs) > 1 else set()
    for urdf in urdfs.values():
        names = set(urdf.links) | set(urdf.joints)
        if names & seen:
            return {name: f"{name}_" for name in urdfs}
        seen |= names
    return {name: "" for name in urdfs}


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """An additional link for a sensor or a tool."""

    part: str
    name: str
    parent: str
    X: Array
    """(4, 4) in the parent link."""


def _frames(parts: Sequence[PartDescription], urdfs: dict[str, Urdf]) -> list[_Frame]:
    """`<part>_frame` of each sensor whose mount is known, `<part>_tool` of each arm."""
    prefixes, by_name = _prefixes(urdfs), {part.name: part for part in parts}
    taken = {prefixes[name] + link for name, urdf in urdfs.items() for link in urdf.links} | {WORLD}
    found = []
    for part in parts:
        kind, parent = PART_KINDS[part.kind], WORLD
        if part.mount is not None:
            name, X = f"{part.name}_frame", part.mount.pose.matrix @ Pose(orientation=kind.message_orientation).matrix
            if part.mount.part is not None:
                parent = prefixes[body_of(by_name[part.mount.part], parts).name] + str(part.mount.link)
        elif kind.has_tool and part.tip_link is not None:
            name, X = f"{part.name}_tool", part.tool.matrix
            parent = prefixes[body_of(part, parts).name] + part.tip_link
        else:
            continue
        while name in taken:
            name += "_frame"
        taken.add(name)
        found.append(_Frame(part=part.name, name=name, parent=parent, X=X))
    return found


def frame_names(parts: Sequence[PartDescription]) -> dict[str, str]:
    """Sensor → the frame of its messages in robot_description; arm → the frame of its tool. A sensor without
    a known mount has no frame."""
    return {frame.part: frame.name for frame in _frames(parts, _urdfs(parts))}


def joint_state_names(parts: Sequence[PartDescription]) -> dict[str, tuple[str, ...]]:
    """Part → its joints' names in robot_description and /joint_states."""
    prefixes = _prefixes(_urdfs(parts))
    found = {}
    for part in parts:
        if part.dof:
            prefix = prefixes.get(body_of(part, parts).name, "")
            found[part.name] = tuple(prefix + joint for joint in part.joint_names)
    return found


def joint_frames(parts: Sequence[PartDescription]) -> dict[str, tuple[str, ...]]:
    """Part → the frame of each of its joints in robot_description: the link that the joint moves, whose origin is on
    the joint's axis. Empty: the joint is in no URDF."""
    prefixes = _prefixes(_urdfs(parts))
    found = {}
    for part in parts:
        if part.dof:
            prefix = prefixes.get(body_of(part, parts).name, "")
            joints = {} if part.urdf is None else part.urdf.joints
            found[part.name] = tuple(prefix + joints[j].child if j in joints else "" for j in part.joint_names)
    return found


def _urdfs(parts: Sequence[PartDescription]) -> dict[str, Urdf]:
    """Body → its URDF."""
    return {body.name: body.urdf for body in bodies(parts) if body.urdf is not None}


def _fixed_joint(parent: str, child: str, X: Array) -> ElementTree.Element:
    joint = ElementTree.Element("joint", name=f"{parent}_to_{child}", type="fixed")
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    xyz = " ".join(repr(float(v)) for v in X[:3, 3])
    rpy = " ".join(repr(v) for v in rpy_of_rotation(X[:3, :3]))
    ElementTree.SubElement(joint, "origin", xyz=xyz, rpy=rpy)
    return joint


def robot_description(name: str, parts: Sequence[PartDescription]) -> str:
    """One URDF with all bodies of the workcell, placed in a link `world`, meshes as file:// URIs.

    Each sensor with a known mount and each arm's tool has its own link: `frame_names`.

    If names of several bodies collide, links and joints get their part's name as a prefix, as in
    `joint_state_names`. Elements that do not describe shape or motion (transmission, gazebo, ros2_control)
    are then removed, because they refer to joints by name.
    """
    urdfs = _urdfs(parts)
    prefixes = _prefixes(urdfs)
    several = len(urdfs) > 1
    whole = ElementTree.Element("robot", name=name)
    if not any(urdf.root == WORLD for urdf in urdfs.values()):
        ElementTree.SubElement(whole, "link", name=WORLD)
    for body in bodies(parts):
        urdf = urdfs[body.name]
        robot = ElementTree.fromstring(urdf.content)
        absolute_meshes(robot, urdf.path.parent)
        if several:
            for tag in ("transmission", "gazebo", CONTROL_TAG):
                for element in robot.findall(tag):
                    robot.remove(element)
        if prefixes[body.name]:
            add_prefix(robot, prefixes[body.name])
        whole.extend(list(robot))
        root = prefixes[body.name] + urdf.root
        if root != WORLD:
            whole.append(_fixed_joint(WORLD, root, body.root.matrix))
    for frame in _frames(parts, urdfs):
        ElementTree.SubElement(whole, "link", name=frame.name)
        whole.append(_fixed_joint(frame.parent, frame.name, frame.X))
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True)
