"""Drives a planar base with twists."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robot_rt_control.actions.follow_base_twist_stream import FollowBaseTwistStream
from robot_rt_control.client import Action, Client
from robot_rt_control.controllers.jogs.jogger import Jogger, axes_of, finite, in_range, largest
from robot_rt_control.hardware.parameters import Positive
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.planar_base import PlanarBase
from robot_rt_control.text.schema import Flag, Model

_BASE, _JOINTS = "drive_in_base", "drive_in_joints"
"""Ids of the actions; a part may be named `base`."""
_LARGEST = largest(FollowBaseTwistStream)


class BaseJoints(Model):
    """Names of the joints."""

    x: str
    y: str
    yaw: str


class BaseOptions(Model):
    """All of them; those that diff_drive_controller has have its names."""

    joints: BaseJoints | None = None
    """None: found by the URDF."""
    base_frame_id: str = "base_link"
    """A frame of the base's own axes, beside the links that move with it."""
    use_stamped_vel: Flag = True
    """TwistStamped; otherwise Twist, in the base's own axes."""
    cmd_vel_timeout: Positive = 0.5
    """[s] without a twist after which the base comes to rest; a twist that is older is dropped."""
    idle_time: Positive = 2.0
    """[s] without a twist, or with twists of zero, after which a base at rest is released."""
    linear_velocity: Positive | None = None
    """[m/s] The base is not driven faster; None: the joints' limits alone."""
    angular_velocity: Positive | None = None
    """[rad/s] The base is not driven faster; None: the joint's limit alone."""


class BaseJogger(Jogger):
    """Takes twists of a planar base; they may come from any thread, and return at once.

    The loop turns those in the base's own axes, with the yaw that it measures in each tick.

    Args:
        base: how the part's joints move it; otherwise as `Jogger`.
    """

    def __init__(
        self,
        name: str,
        part: PartDescription,
        client: Client,
        base: PlanarBase,
        options: BaseOptions,
        on_event: Callable[[], None],
    ) -> None:
        self._frames = {
            "": (_BASE, 0.0),
            options.base_frame_id: (_BASE, 0.0),
            **{frame: (_JOINTS, angle) for frame, angle in base.fixed.items()},
            **{frame: (_BASE, angle) for frame, angle in base.own.items()},
        }
        """Frame → the action that takes twists in its axes, and the angle [rad] of its x axis to the action's."""
        timeout = options.cmd_vel_timeout
        common: dict[str, Any] = {"parts": part.name, "goal_timeout": timeout, "report_interval": 0.0}
        common |= dict(zip(("x", "y", "yaw"), base.joints, strict=True))
        for limit in ("linear_velocity", "angular_velocity"):
            if getattr(options, limit) is not None:
                common[limit] = getattr(options, limit)
        actions = [
            Action(id, FollowBaseTwistStream.name, frame=frame, heading=heading, **common)
            for id, frame, heading in ((_BASE, "base", base.heading), (_JOINTS, "joints", 0.0))
        ]
        super().__init__(
            name, part, client, actions=actions, timeout=timeout, idle_time=options.idle_time, on_event=on_event
        )

    def drive(self, twist: Sequence[float], frame: str = "", age: float = 0.0) -> None:
        """Take a twist of the base.

        Args:
            twist: (6,) [m/s, rad/s] linear and angular velocity of the base. What a planar base cannot do is ignored.
            frame: its axes: those of this frame. Empty: the base's own.
            age: [s] since it was made.

        Raises:
            RobotControlError: it is refused.
        """
        action, angle = axes_of(frame, self._frames)
        vx, vy, turn = in_range(finite("twist", twist)[[0, 1, 5]], _LARGEST)
        c, s = math.cos(angle), math.sin(angle)
        self.take(action, np.array([c * vx - s * vy, s * vx + c * vy, turn]), age)
