"""velocity: move one degree of freedom with a velocity while the strategy governs."""

from collections.abc import Mapping

from robot_rt_control.actions.stream_following import begin_following, jog_joint, take_over
from robot_rt_control.definitions.action_type import ActionType, Parameter, ParameterValue, Slot
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

FOLLOWING = {
    "joint_position": (float, 1),
    "joint_velocity": (float, 1),
    "joint_acceleration": (float, 1),
    "profile": profile_dtype,
}
"""State of a law that goes on from the last command, see `actions.stream_following`."""


def check_velocity(law: ActionType, values: Mapping[str, ParameterValue], *, least: float = 0.0) -> None:
    """Check the parameter `velocity` of a law.

    Args:
        least: its least size, either way.

    Raises:
        DefinitionError: it is above the limit of the degree of freedom, or less than that.
    """
    axis = law.parts["axis"]
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


class Velocity(ActionType):
    """Move with a constant velocity, reached from any state of motion with limited acceleration and jerk.

    Law: each tick is the first step of the time-optimal motion to the velocity, from the last command's velocity and
    acceleration (`motion.tracking.track_velocity`). So nothing jumps when it takes over. Near the end of the range of
    the joint the velocity is reduced.
    """

    name = "velocity"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    parameters = (Parameter(name="velocity", unit="joint/s", description="Of the degree of freedom."),)
    State = FOLLOWING

    def prepare_parameters(self, values, params):
        check_velocity(self, values)
        super().prepare_parameters(values, params)

    @staticmethod
    def on_enter(state, params, axis):
        begin_following(state, axis)

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        return jog_joint(state, axis, 0, params.velocity)
