"""What the built-in laws share: one degree of freedom that goes on from its last command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from robot_rt_control.actions.stream_following import begin_following
from robot_rt_control.definitions.action_type import ActionType, ParameterValue, Slot
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


class AxisLaw(ActionType):
    """Base of the laws: `control` calls `stream_following.take_over` first, then moves joint 0."""

    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
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
