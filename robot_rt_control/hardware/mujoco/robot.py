"""Robots and jointed objects of the simulated world, by the names of their links and joints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from robot_rt_control.hardware.mujoco.robot_bodies import RobotBodies
from robot_rt_control.model.robot.urdf import MOVABLE, Urdf
from robot_rt_control.vocabulary.errors import HardwareError, unknown

UNNAMED = "unnamed "
"""Before the names that bodies and geometries of an MJCF get if they have none."""


@dataclass(frozen=True, kw_only=True)
class Robot:
    """A part's robot, or an object with links: from a URDF or an MJCF."""

    name: str
    prefix: str = ""
    """Before its names in MuJoCo."""
    root: str
    """Root link."""
    links: Collection[str]
    joints: Mapping[str, str]
    """Joint → the link that it moves; fixed joints of a URDF as well."""
    movable: Collection[str]
    """Joints with one degree of freedom."""

    def joint(self, name: str, item: str) -> str:
        """Its name in MuJoCo. Raises: HardwareError, there is none."""
        if name not in self.joints:
            raise HardwareError(f"{item}: joint {name!r}", expected=unknown("joint", name, self.joints))
        return self.prefix + name

    def link(self, name: str | None, item: str) -> str:
        """Likewise; None: the root link."""
        if name is not None and name not in self.links:
            raise HardwareError(f"{item}: link {name!r}", expected=unknown("link", name, named(self.links)))
        return self.prefix + (name or self.root)


@dataclass(frozen=True, kw_only=True)
class UrdfRobot(Robot):
    """One from a URDF: `of`."""

    urdf: Urdf
    bodies: RobotBodies

    @classmethod
    def of(cls, name: str, urdf: Urdf, bodies: RobotBodies) -> UrdfRobot:
        """One whose names in MuJoCo begin with its own."""
        return cls(
            name=name,
            prefix=f"{name}.",
            root=urdf.root,
            links=urdf.links,
            joints={joint.name: joint.child for joint in urdf.joints.values()},
            movable=[joint.name for joint in urdf.joints.values() if joint.type in MOVABLE],
            urdf=urdf,
            bodies=bodies,
        )


def named(names: Collection[str]) -> list[str]:
    """Those that somebody gave."""
    return [name for name in names if name and not name.startswith(UNNAMED)]
