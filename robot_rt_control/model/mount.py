"""Where a sensor is mounted."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.model.pose import Pose


@dataclass(frozen=True, kw_only=True)
class Mount:
    """Where a sensor is."""

    part: str | None
    """The part on whose body it is; None: it stands in the world."""
    link: str | None
    """Of that body's URDF; None: in the world."""
    pose: Pose
    """X_LS: the sensor's frame in the link, or X_WS in the world."""
