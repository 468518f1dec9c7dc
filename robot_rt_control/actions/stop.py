"""stop: bring a part to rest, each joint as fast as possible or all joints at the same time."""

from robot_rt_control.actions.following import JOINT_KINDS, follow, largest_difference, longest, plan_stops
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.stop import plan_stop_synchronized


class Stop(ActionType):
    """Brake to rest from any motion with limited jerk, and stay there."""

    name = "stop"
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (
        Parameter(
            name="synchronized",
            type="bool",
            default=False,
            description="All joints come to rest at the same time, rather than each one as fast as it can.",
        ),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The command is at rest."),
        StateVariable(name="is_settled", type="bool", description="The command is at rest, and so is the part."),
        StateVariable(name="remaining_time", unit="s", description="Time until the command is at rest."),
        StateVariable(name="tracking_error", unit="joint", description="Largest |measured - commanded| position."),
    )
    State = {"elapsed": float, "total": float, "plan": (profile_dtype, PER_JOINT)}

    @staticmethod
    def on_enter(state, params, part):
        if params.synchronized != 0.0:
            status = plan_stop_synchronized(
                state.plan,
                part.dof,
                part.commanded_position,
                part.motion_velocity,
                part.motion_acceleration,
                part.acceleration_limit,
                part.jerk_limit,
            )
        else:
            status = plan_stops(state.plan, part)
        state.total = longest(state.plan, part.dof)
        return status

    @staticmethod
    def sense(state, params, part):
        state.remaining_time = max(state.total - state.elapsed, 0.0)
        done = state.elapsed >= state.total
        state.is_done = done
        state.is_settled = part.at_rest if done else 0.0
        state.tracking_error = largest_difference(part.position, part.commanded_position, part.dof)

    @staticmethod
    def control(state, params, part):
        state.elapsed += part.dt
        follow(state.plan, state.elapsed, part)
