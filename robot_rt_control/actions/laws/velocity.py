"""velocity: move one degree of freedom with a velocity while the strategy governs."""

from robot_rt_control.actions.laws.axis_law import AxisLaw
from robot_rt_control.actions.stream_following import jog_joint, take_over
from robot_rt_control.definitions.action_type import Parameter


class Velocity(AxisLaw):
    """Move with a constant velocity, reached from any state of motion with limited acceleration and jerk.

    Law: each tick is the first step of the time-optimal motion to the velocity, from the last command's velocity and
    acceleration (`motion.tracking.track_velocity`). So nothing jumps when it takes over. Near the end of the range of
    the joint the velocity is reduced.
    """

    name = "velocity"
    parameters = (Parameter(name="velocity", unit="joint/s", description="Of the degree of freedom."),)

    def prepare_parameters(self, values, params):
        self.check_velocity(values)
        super().prepare_parameters(values, params)

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        return jog_joint(state, axis, 0, params.velocity)
