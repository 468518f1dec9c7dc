"""Reading a URDF: links, joints, inertias, limits. Meshes and everything else about looks is left alone.

A reader of its own, because the loop needs few elements, exact errors, and a start without scene graph libraries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.program.errors import DefinitionError, unknown

Array = NDArray[np.float64]

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOVABLE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, kw_only=True)
class Inertial:
    """Mass properties of a body."""

    mass: float  # [kg]
    center_of_mass: Array  # (3,) [m], body frame
    inertia: Array  # (3, 3) [kg m^2] about the center of mass, body frame axes


@dataclass(frozen=True, kw_only=True)
class Mimic:
    """The joint follows another one: q = multiplier * q_other + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, kw_only=True)
class UrdfJoint:
    name: str
    type: str
    parent: str
    child: str
    X_PJ: Array  # (4, 4), joint frame in the parent link's frame at q = 0
    axis: Array  # (3,) unit vector in the joint frame; (1, 0, 0) if not given
    lower: float  # [rad or m], -inf where there is none
    upper: float
    velocity: float | None  # [rad/s or m/s]; None: not given or 0
    effort: float | None  # [Nm or N]; None: not given or 0
    mimic: Mimic | None


@dataclass(frozen=True, kw_only=True)
class Urdf:
    """A robot as its URDF describes it: a tree of links."""

    path: Path
    name: str
    content: bytes
    links: dict[str, Inertial | None]
    joints: dict[str, UrdfJoint]

    @cached_property
    def parent_joint(self) -> dict[str, UrdfJoint]:
        """Link → the joint that it hangs on; the root has none."""
        return {joint.child: joint for joint in self.joints.values()}

    @cached_property
    def child_joints(self) -> dict[str, list[UrdfJoint]]:
        children: dict[str, list[UrdfJoint]] = {name: [] for name in self.links}
        for joint in self.joints.values():
            children[joint.parent].append(joint)
        return children

    @cached_property
    def root(self) -> str:
        return next(name for name in self.links if name not in self.parent_joint)

    def joint(self, name: str) -> UrdfJoint:
        """Raises DefinitionError: there is no such joint."""
        if name not in self.joints:
            raise DefinitionError(f"{self.path}: joint {name!r}", expected=unknown("joint", name, self.joints))
        return self.joints[name]

    def path_to(self, base_link: str, tip_link: str) -> list[UrdfJoint]:
        """The joints between two links, from base to tip, fixed ones included.

        Raises:
            DefinitionError: a link does not exist, or the tip is not behind the base.
        """
        for role, link in (("base_link", base_link), ("tip_link", tip_link)):
            if link not in self.links:
                raise DefinitionError(f"{self.path}: {role} {link!r}", expected=unknown("link", link, self.links))
        joints: list[UrdfJoint] = []
        link = tip_link
        while link != base_link:
            above = self.parent_joint.get(link)
            if above is None:
                raise DefinitionError(
                    f"{self.path}: chain from {base_link!r} to {tip_link!r}",
                    expected="a tip_link behind the base_link in the tree of links",
                    got=f"{tip_link!r} hangs on " + " ← ".join([j.parent for j in joints] or ["nothing"]),
                )
            joints.append(above)
            link = above.parent
        joints.reverse()
        return joints


def rotation_of_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """(3, 3) rotation of URDF's fixed-axis angles [rad]: first about x, then y, then z."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


class _Reader:
    """Takes elements apart; every error names the file and the link or joint."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fail(self, item: str, expected: str, got: str, hint: str = "") -> DefinitionError:
        return DefinitionError(f"{self.path}: {item}", expected=expected, got=got, hint=hint)

    def number(self, element: ElementTree.Element, attribute: str, item: str) -> float | None:
        text = element.get(attribute)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.fail(f"{item}, <{element.tag} {attribute}>", "a finite number", repr(text))
        return value

    def required(self, element: ElementTree.Element, attribute: str, item: str) -> str:
        text = element.get(attribute)
        if not text:
            raise self.fail(item, f"an attribute {attribute!r} in <{element.tag}>", "none")
        return text

    def child(self, element: ElementTree.Element, tag: str, item: str) -> ElementTree.Element:
        found = element.find(tag)
        if found is None:
            raise self.fail(item, f"an element <{tag}>", "none")
        return found

    def triple(self, element: ElementTree.Element, attribute: str, item: str) -> Array:
        text = element.get(attribute, "0 0 0")
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([])
        if values.shape != (3,) or not np.all(np.isfinite(values)):
            raise self.fail(f"{item}, <{element.tag} {attribute}>", "three finite numbers", repr(text))
        return values

    def origin(self, element: ElementTree.Element, item: str) -> Array:
        X = np.eye(4)
        found = element.find("origin")
        if found is not None:
            X[:3, :3] = rotation_of_rpy(*self.triple(found, "rpy", item))
            X[:3, 3] = self.triple(found, "xyz", item)
        return X

    def inertial(self, link: ElementTree.Element, item: str) -> Inertial | None:
        found = link.find("inertial")
        if found is None:
            return None
        X = self.origin(found, item)
        mass = self.number(self.child(found, "mass", item), "value", item)
        if mass is None or mass < 0.0:
            raise self.fail(f"{item}, <mass value>", "a mass [kg] of at least 0", str(mass))
        tensor = np.zeros((3, 3))
        element = self.child(found, "inertia", item)
        for row, column, attribute in (
            (0, 0, "ixx"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 1, "iyy"), (1, 2, "iyz"), (2, 2, "izz"),
        ):  # fmt: skip
            tensor[row, column] = tensor[column, row] = self.number(element, attribute, item) or 0.0
        R = X[:3, :3]
        return Inertial(mass=mass, center_of_mass=X[:3, 3].copy(), inertia=R @ tensor @ R.T)

    def joint(self, element: ElementTree.Element, name: str) -> UrdfJoint:
        item = f"joint {name!r}"
        kind = self.required(element, "type", item)
        if kind not in JOINT_TYPES:
            raise self.fail(f"{item}, type", "one of " + ", ".join(JOINT_TYPES), repr(kind))
        axis = np.array([1.0, 0.0, 0.0])
        axis_element = element.find("axis")
        if axis_element is not None:
            axis = self.triple(axis_element, "xyz", item)
        length = float(np.linalg.norm(axis))
        if kind in MOVABLE:
            if length < 1e-9:
                raise self.fail(f"{item}, <axis xyz>", "a direction", str(axis.tolist()))
            axis = axis / length
        lower, upper = -math.inf, math.inf
        limit = element.find("limit")
        velocity = effort = None
        if limit is not None:
            velocity = self.number(limit, "velocity", item) or None
            effort = self.number(limit, "effort", item) or None
            for what, value in (("velocity", velocity), ("effort", effort)):
                if value is not None and value < 0.0:
                    raise self.fail(f"{item}, <limit {what}>", "at least 0", f"{value:g}")
        if kind in ("revolute", "prismatic"):
            if limit is None:
                raise self.fail(item, f"an element <limit>, as the joint is {kind}", "none")
            lower = self.number(limit, "lower", item) or 0.0
            upper = self.number(limit, "upper", item) or 0.0
            if not lower < upper:
                raise self.fail(f"{item}, <limit>", "lower < upper", f"lower {lower:g}, upper {upper:g}")
        mimic = None
        follows = element.find("mimic")
        if follows is not None:
            multiplier = self.number(follows, "multiplier", item)
            mimic = Mimic(
                joint=self.required(follows, "joint", item),
                multiplier=1.0 if multiplier is None else multiplier,
                offset=self.number(follows, "offset", item) or 0.0,
            )
        return UrdfJoint(
            name=name,
            type=kind,
            parent=self.required(self.child(element, "parent", item), "link", item),
            child=self.required(self.child(element, "child", item), "link", item),
            X_PJ=self.origin(element, item),
            axis=axis,
            lower=lower,
            upper=upper,
            velocity=velocity,
            effort=effort,
            mimic=mimic,
        )

    def check_tree(self, links: dict[str, Inertial | None], joints: dict[str, UrdfJoint]) -> None:
        children: dict[str, str] = {}
        for joint in joints.values():
            for role, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in links:
                    raise self.fail(f"joint {joint.name!r}, {role} {link!r}", unknown("link", link, links), "")
            if joint.child in children:
                raise self.fail(
                    f"link {joint.child!r}",
                    "one joint above it",
                    f"the joints {children[joint.child]!r} and {joint.name!r}",
                )
            children[joint.child] = joint.name
        roots = [name for name in links if name not in children]
        if len(roots) != 1:
            raise self.fail("tree of links", "exactly one root link", ", ".join(roots) or "none")
        reached, above = {roots[0]}, [roots[0]]
        while above:
            link = above.pop()
            below = [j.child for j in joints.values() if j.parent == link]
            reached.update(below)
            above.extend(below)
        lost = sorted(set(links) - reached)
        if lost:
            raise self.fail("tree of links", f"every link behind {roots[0]!r}", "a loop through " + ", ".join(lost))


def read_urdf(path: Path) -> Urdf:
    """Read and check a URDF file.

    Raises:
        DefinitionError: the file is missing, is not XML, or does not describe a tree of links.
    """
    if not path.is_file():
        raise DefinitionError(f"URDF {path}", expected="a file", got="nothing there")
    content = path.read_bytes()
    reader = _Reader(path)
    try:
        robot = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise reader.fail("URDF", "well-formed XML", str(error)) from error
    if robot.tag != "robot":
        raise reader.fail("URDF", "the root element <robot>", f"<{robot.tag}>", "Expand xacro files to URDF first")
    links: dict[str, Inertial | None] = {}
    joints: dict[str, UrdfJoint] = {}
    for element in robot.findall("link"):
        name = reader.required(element, "name", "a link")
        if name in links:
            raise reader.fail(f"link {name!r}", "names that occur once", "a second link of that name")
        links[name] = reader.inertial(element, f"link {name!r}")
    for element in robot.findall("joint"):
        name = reader.required(element, "name", "a joint")
        if name in joints:
            raise reader.fail(f"joint {name!r}", "names that occur once", "a second joint of that name")
        joints[name] = reader.joint(element, name)
    reader.check_tree(links, joints)
    return Urdf(path=path, name=robot.get("name", ""), content=content, links=links, joints=joints)
