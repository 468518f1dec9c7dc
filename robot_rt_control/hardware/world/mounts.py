"""Where simulated sensors are mounted."""

from __future__ import annotations

from dataclasses import replace

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.vocabulary.errors import HardwareError


def mount_of(item: str, part: HardwarePart, part_of: str | None, place: str | None, pose: Pose | None) -> Mount:
    """Where a sensor is: as the simulation's parameters say (`place`: link or joint), else as the part says."""
    told = part.mount
    part_of = part_of or (told.part if told is not None else None)
    if place is not None and part_of is not None:
        return Mount(part=part_of, link=place, pose=pose or Pose())
    if told is None or place is not None:
        raise HardwareError(
            f"{item}: where it is mounted",
            expected="part_of, and link or joint, in world.sensors; or mounted_on in the workcell file",
            got="nothing" if place is None else f"{place!r} of no part",
        )
    return told if pose is None else replace(told, pose=pose)
