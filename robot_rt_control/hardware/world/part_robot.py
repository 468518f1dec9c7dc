"""The robot of a part that has no URDF of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.vocabulary.errors import HardwareError


class _WithJoints(Protocol):
    @property
    def joints(self) -> Collection[str]:
        """Their names."""


_Robot = TypeVar("_Robot", bound=_WithJoints)


def robot_with_joints(part: HardwarePart, robots: Iterable[_Robot], item: str) -> _Robot:
    """The one robot that has the joints of a part. Raises: HardwareError, none or several have."""
    having = [robot for robot in robots if all(joint in robot.joints for joint in part.joint_names)]
    if len(having) != 1:
        raise HardwareError(
            f"{item} has no URDF of its own",
            expected="one robot that has its joints " + ", ".join(part.joint_names),
            got=f"{len(having)}",
            hint="Give the part a URDF, or say in the workcell which part it is mounted_on",
        )
    return having[0]
