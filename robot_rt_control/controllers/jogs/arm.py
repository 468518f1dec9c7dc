"""Jogs an arm: its tool with twists, or its joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robot_rt_control.actions.follow_twist_stream import FollowTwistStream
from robot_rt_control.client import Action, Client
from robot_rt_control.controllers.jogs.jogger import Jogger, axes_of, finite, in_range, largest
from robot_rt_control.hardware.parameters import Positive
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_WORLD, _TOOL, _JOINTS = "jog_in_world", "jog_in_tool", "jog_of_joints"
"""Ids of the actions; a part may be named `tool`."""
_LARGEST = largest(FollowTwistStream)


class JogOptions(Model):
    """All of them."""

    incoming_command_timeout: Positive = 0.1
    """[s] without a jog after which the arm comes to rest; a jog that is older is dropped."""
    idle_time: Positive = 2.0
    """[s] without a jog, or with jogs of zero, after which an arm at rest is released."""
    linear_velocity: Positive = 0.25
    """[m/s] The tool is not jogged faster."""
    angular_velocity: Positive = 1.0
    """[rad/s] The tool is not jogged faster."""


class ArmJogger(Jogger):
    """Takes jogs of an arm; they may come from any thread, and return at once.

    Args:
        as `Jogger`.
    """

    def __init__(
        self, name: str, part: PartDescription, client: Client, options: JogOptions, on_event: Callable[[], None]
    ) -> None:
        self._frames = _frames(part)
        timeout = options.incoming_command_timeout
        common: dict[str, Any] = {"parts": part.name, "goal_timeout": timeout, "report_interval": 0.0}
        actions = [Action(_JOINTS, "follow_joint_velocity_stream", **common)]
        if self._frames:
            common |= {"linear_velocity": options.linear_velocity, "angular_velocity": options.angular_velocity}
            frames = ((_WORLD, "world"), (_TOOL, "tool"))
            actions += [Action(id, "follow_twist_stream", frame=frame, **common) for id, frame in frames]
        super().__init__(
            name, part, client, actions=actions, timeout=timeout, idle_time=options.idle_time, on_event=on_event
        )

    def jog_tool(self, twist: Sequence[float], frame: str, age: float = 0.0) -> None:
        """Take a twist of the tool.

        Args:
            twist: (6,) [m/s, rad/s] linear and angular velocity of the tool.
            frame: its axes: those of this frame. Empty: of the world.
            age: [s] since it was made.

        Raises:
            RobotControlError: it is refused.
        """
        action, R = axes_of(frame, self._frames)
        values = in_range(finite("twist", twist), _LARGEST)
        self.take(action, np.concatenate([R @ values[:3], R @ values[3:]]), age)

    def jog_joints(
        self, names: Sequence[str], velocities: Sequence[float], displacements: Sequence[float] = (), age: float = 0.0
    ) -> None:
        """Take velocities of joints; the other joints come to rest.

        Args:
            names: of the joints.
            velocities: [rad/s or m/s] one for each.
            displacements: none.
            age: [s] since it was made.

        Raises:
            RobotControlError: it is refused.
        """
        joints = self._part.joint_names
        if len(displacements):
            raise DefinitionError(
                "displacements",
                expected="none: a jog is a velocity, which ends when no more come",
                got=str(len(displacements)),
                hint="Send velocities, or a trajectory",
            )
        if not names or len(names) != len(velocities):
            raise DefinitionError(
                "velocities", expected=f"one for each of {len(names)} joint names", got=str(len(velocities))
            )
        given = finite("velocities", velocities)
        values = np.zeros(len(joints))
        for name, velocity in zip(names, given, strict=True):
            if name not in joints:
                raise DefinitionError(f"joint {name!r}", expected=unknown("joint", name, joints))
            j = joints.index(name)
            limit = float(self._part.system_limits.velocity[j])
            if abs(velocity) > limit:
                raise DefinitionError(
                    f"velocity of joint {name!r}", expected=f"at most {limit:g}", got=f"{abs(velocity):g}"
                )
            values[j] = velocity
        if len(set(names)) < len(names):
            raise DefinitionError("joint names", expected="each joint once", got=", ".join(names))
        self.take(_JOINTS, values, age)


def _frames(part: PartDescription) -> Mapping[str, tuple[str, np.ndarray]]:
    """Frame → the action that takes twists in its axes, and R from these axes to the action's; none without a tool."""
    if part.tip_link is None or part.base_link is None:
        return {}
    same = np.eye(3)
    frames = {
        "": (_WORLD, same),
        "world": (_WORLD, same),
        part.base_link: (_WORLD, part.base.matrix[:3, :3]),
        f"{part.name}_tool": (_TOOL, same),
    }
    if len({tool.pose.orientation for tool in part.tools}) <= 1:  # else which axes these are depends on what is on
        frames[part.tip_link] = _TOOL, part.tool.matrix[:3, :3].T
    return frames
