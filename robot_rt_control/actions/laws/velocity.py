"""velocity: move one degree of freedom with a velocity while the strategy governs."""

from robot_rt_control.actions.stream_following import begin_following, jog_joint, take_over
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


class Velocity(ActionType):
    """Move with a constant velocity, reached from any state of motion with limited acceleration and jerk.

    Law: each tick is the first step of the time-optimal motion to the velocity, from the last command's velocity and
    acceleration (`motion.tracking.track_velocity`). So nothing jumps when it takes over. Near the end of the range of
    the joint the velocity is reduced.
    """

    name = "velocity"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    parameters = (Parameter(name="velocity", unit="joint/s", description="Of the degree of freedom."),)
    State = {
        "joint_position": (float, 1),
        "joint_velocity": (float, 1),
        "joint_acceleration": (float, 1),
        "profile": profile_dtype,
    }

    def prepare_parameters(self, values, params):
        axis = self.parts["axis"]
        (limit,) = axis.limits("velocity_limit")
        if abs(values["velocity"]) > limit:
            raise DefinitionError(
                f"velocity of {axis.name!r} is above its limit",
                expected=f"at most {limit:.4f} {axis.joint_units[0]}/s",
                got=f"{values['velocity']:.4f}",
            )
        super().prepare_parameters(values, params)

    @staticmethod
    def on_enter(state, params, axis):
        begin_following(state, axis)

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        return jog_joint(state, axis, 0, params.velocity)
