"""A robot as described by its URDF: links, joints, inertias, limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Array = NDArray[np.float64]

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOVABLE = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, kw_only=True)
class Inertial:
    """Mass properties of a body."""

    mass: float  # [kg]
    center_of_mass: Array  # (3,) [m], body frame
    inertia: Array  # (3, 3) [kg m^2] about the center of mass, body frame axes

    def moved(self, X_AB: Array) -> Inertial:
        """The same body, given in frame B, expressed in frame A; X_AB (4, 4)."""
        R = X_AB[:3, :3]
        center = X_AB[:3, 3] + R @ self.center_of_mass
        return Inertial(mass=self.mass, center_of_mass=center, inertia=R @ self.inertia @ R.T)


@dataclass(frozen=True, kw_only=True)
class Mimic:
    """A joint that follows another joint: q = multiplier * q_joint + offset. Simulators must move it as well."""

    name: str
    """The joint that follows."""
    joint: str
    """The joint that it follows."""
    multiplier: float
    offset: float


@dataclass(frozen=True, kw_only=True)
class UrdfJoint:
    name: str
    line: int  # in the file
    type: str
    parent: str
    child: str
    X_PJ: Array  # (4, 4), joint frame in the parent link's frame at q = 0
    axis: Array  # (3,) unit vector in the joint frame; (1, 0, 0) if not given
    lower: float  # [rad or m], -inf if there is none
    upper: float
    velocity: float | None  # [rad/s or m/s]; None: not given or 0
    effort: float | None  # [Nm or N]; None: not given or 0
    mimic: Mimic | None


@dataclass(frozen=True, kw_only=True)
class Xml:
    """An element of a file, with its line."""

    tag: str
    line: int
    attributes: dict[str, str]
    text: str  # without white space around it
    children: tuple[Xml, ...]


@dataclass(frozen=True, kw_only=True)
class Urdf:
    """A robot as described by its URDF: a tree of links."""

    path: Path
    source: str  # the path as errors name it, before a line
    name: str
    content: bytes  # expanded, with prefixes
    links: dict[str, Inertial | None]
    joints: dict[str, UrdfJoint]
    controls: tuple[Xml, ...]  # <ros2_control>

    @cached_property
    def parent_joint(self) -> dict[str, UrdfJoint]:
        """Link → its parent joint; the root has none."""
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

    def prefixed(self, prefix: str) -> Urdf:
        """The same with a prefix before the names of links and joints; `content` stays as it is."""
        if not prefix:
            return self

        def named(j: UrdfJoint) -> UrdfJoint:
            mimic = j.mimic and replace(j.mimic, name=prefix + j.mimic.name, joint=prefix + j.mimic.joint)
            return replace(j, name=prefix + j.name, parent=prefix + j.parent, child=prefix + j.child, mimic=mimic)

        links = {prefix + name: inertial for name, inertial in self.links.items()}
        return replace(self, links=links, joints={prefix + name: named(j) for name, j in self.joints.items()})

    def joint(self, name: str) -> UrdfJoint:
        """The joint with this name. Raises DefinitionError: there is no such joint."""
        if name not in self.joints:
            raise DefinitionError(f"{self.source}: joint {name!r}", expected=unknown("joint", name, self.joints))
        return self.joints[name]

    def path_to(self, base_link: str, tip_link: str) -> list[UrdfJoint]:
        """The joints between two links, from base to tip, fixed ones included.

        Raises:
            DefinitionError: a link does not exist, or the tip is not a descendant of the base.
        """
        for role, link in (("base_link", base_link), ("tip_link", tip_link)):
            if link not in self.links:
                raise DefinitionError(f"{self.source}: {role} {link!r}", expected=unknown("link", link, self.links))
        joints: list[UrdfJoint] = []
        link = tip_link
        while link != base_link:
            above = self.parent_joint.get(link)
            if above is None:
                raise DefinitionError(
                    f"{self.source}: chain from {base_link!r} to {tip_link!r}",
                    expected="a tip_link below the base_link in the tree of links",
                    got=f"{tip_link!r} hangs on " + " ← ".join([j.parent for j in joints] or ["nothing"]),
                )
            joints.append(above)
            link = above.parent
        joints.reverse()
        return joints
