"""The mounting of a sensor."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.model.pose import Pose


@dataclass(frozen=True, kw_only=True)
class Mount:
    """The place of a sensor."""

    part: str | None
    """The part on whose body it is mounted; None: it is fixed in the world."""
    link: str | None
    """Link in that body's URDF; None: in the world."""
    pose: Pose
    """X_LS: the sensor's frame in the link, or X_WS in the world."""
