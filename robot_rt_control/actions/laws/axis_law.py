"""What the built-in laws share: one degree of freedom that goes on from its last command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from robot_rt_control.actions import stream_following
from robot_rt_control.actions.stream_following import begin_following, move_to
from robot_rt_control.definitions.action_type import ActionType, ParameterValue, Part, Slot
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import track
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

AXIS = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
"""The slots of a law."""
SMOOTHING = replace(stream_following.SMOOTHING, default=0.02, maximum=0.05)


@realtime
def go_to(state, axis, goal, velocity, smoothing):
    """One step towards a position within the range, at most `velocity` fast. Returns a status."""
    low, high = axis.position_lower[0], axis.position_upper[0]
    q, v, a, status = track(
        state.profile,
        state.joint_position[0],
        state.joint_velocity[0],
        state.joint_acceleration[0],
        min(max(goal, low), high),
        0.0,
        low,
        high,
        min(velocity, axis.velocity_limit[0]),
        axis.acceleration_limit[0],
        axis.jerk_limit[0],
        smoothing,
        axis.dt,
    )
    return move_to(state, axis, 0, q, v, a, status)


def check_position(axis: Part, parameter: str, position: float) -> None:
    """Check a position that a parameter gives.

    Raises:
        DefinitionError: it is outside the range of the degree of freedom.
    """
    (low,), (high,) = axis.limits("position_lower"), axis.limits("position_upper")
    if not low <= position <= high:
        raise DefinitionError(
            f"{parameter} of {axis.name!r} is outside its range",
            expected=f"{low:.4f} to {high:.4f} {axis.joint_units[0]}",
            got=f"{position:.4f}",
        )


class AxisLaw(ActionType):
    """Base of the laws: `control` calls `stream_following.take_over` first, then moves joint 0."""

    slots: ClassVar[tuple[Slot, ...]] = AXIS
    State: ClassVar[Mapping[str, Any]] = {
        "joint_position": (float, 1),
        "joint_velocity": (float, 1),
        "joint_acceleration": (float, 1),
        "profile": profile_dtype,
    }

    def check_velocity(self, values: Mapping[str, ParameterValue], *, least: float = 0.0) -> None:
        """Check the parameter `velocity`.

        Args:
            least: its least size, either way.

        Raises:
            DefinitionError: it is above the limit of the degree of freedom, or less than that.
        """
        axis = self.parts["axis"]
        (limit,) = axis.limits("velocity_limit")
        velocity = float(values["velocity"])
        if abs(velocity) > limit:
            raise DefinitionError(
                f"velocity of {axis.name!r} is above its limit",
                expected=f"at most {limit:.4f} {axis.joint_units[0]}/s",
                got=f"{velocity:.4f}",
            )
        if abs(velocity) < least:
            raise DefinitionError(
                f"velocity of {axis.name!r}",
                expected=f"at least {least:g} {axis.joint_units[0]}/s in size; its sign is a direction",
                got=f"{velocity:g}",
            )

    @staticmethod
    def on_enter(state, params, axis):
        begin_following(state, axis)
