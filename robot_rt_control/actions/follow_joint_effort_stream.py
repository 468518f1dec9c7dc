"""follow_joint_effort_stream: command joint efforts that an application streams."""

import math

from robot_rt_control.actions.authoring import EFFORT
from robot_rt_control.actions.following import JOINT_KINDS, towards
from robot_rt_control.actions.laws.torque import EFFORT_RATE, GRAVITY
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.memory.layout import gravity_scratch_dtype
from robot_rt_control.model.kinematics.kinematics import gravity_torque
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

_DECAY = 2.0
"""[1/s] with which a joint's speed above `slow_down_above` decays, if its inertia is the largest that the limits of
effort and acceleration allow; that of a lighter joint decays faster."""


class FollowJointEffortStream(ActionType):
    """Command streamed joint efforts, and the efforts against gravity on request.

    Law: effort = e + g(q); each e goes from what the drive exerts when samples arrive, without gravity, to the streamed
    effort, at most at `rate`. So the effort does not jump. The joints move as the efforts make them; the loop brakes
    them before their limits of position and velocity (L8). Above `slow_down_above`, a damper brakes a joint.

    The stream is a watchdog: without all efforts, after a time-out, and while the speed override is 0, the loop brakes
    the joints and holds them; with new samples they continue.
    """

    name = "follow_joint_effort_stream"
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (
        GRAVITY,
        EFFORT_RATE,
        Parameter(
            name="slow_down_above",
            length="dof",
            unit="joint/s",
            optional=True,
            minimum=0.0,
            description="Speed of each joint above which a damper brakes it. Default: none does.",
        ),
    )
    state_variables = (
        StateVariable(name="is_following", type="bool", description="Samples arrive; otherwise the part rests."),
    )
    streams = (
        StreamInput(
            name="goal",
            length="dof",
            units="effort",
            gap="hold",
            delay=0.0,
            description="Efforts of the joints, without those against gravity; the loop limits them.",
        ),
    )
    Params = {
        "gravity": bool,
        "rate": (float, PER_JOINT),
        "slow_down_above": (float, PER_JOINT),
        "damping": (float, PER_JOINT),  # of the speed above
    }
    State = {
        "taken_over": float,
        "effort": (float, PER_JOINT),
        "against_gravity": (float, PER_JOINT),
        "scratch": gravity_scratch_dtype,
    }

    @classmethod
    def create(cls, parts):
        part = parts["part"]
        if CommandMode.EFFORT not in part.command_modes:
            raise DefinitionError(
                f"{cls.name} of {part.name!r}: its hardware takes no efforts",
                expected="a part with the command mode effort",
                got=", ".join(mode.name.lower() for mode in part.command_modes),
                hint="Use follow_joint_stream or follow_joint_velocity_stream",
            )
        return cls(parts)

    def prepare_parameters(self, values, params):
        limits = self.parts["part"].limits("effort_limit")
        params.gravity = values["gravity"]
        params.rate[: len(limits)] = values.get("rate", 2.0 * limits)
        params.slow_down_above[: len(limits)] = values.get("slow_down_above", math.inf)
        params.damping[: len(limits)] = _DECAY * limits / self.parts["part"].limits("acceleration_limit")

    @staticmethod
    def sense(state, params, part):
        state.is_following = 0.0 if state.goal.valid == 0.0 else 1.0 - state.goal.timed_out

    @staticmethod
    def control(state, params, part):
        if state.is_following == 0.0 or part.dt <= 0.0:
            state.taken_over = 0.0
            return  # without a command the loop brakes the joints, and holds them
        if params.gravity != 0.0:
            gravity_torque(part.chain, part.position, state.against_gravity, state.scratch)
        for j in range(part.dof):
            weight = state.against_gravity[j] if math.isfinite(state.against_gravity[j]) else 0.0
            if state.taken_over == 0.0:
                present = part.effort[j] if math.isfinite(part.effort[j]) else part.commanded_effort[j]
                state.effort[j] = present - weight
            state.effort[j] = towards(state.effort[j], state.goal.value[j], params.rate[j] * part.dt)
            part.effort_command[j] = state.effort[j] + weight
            speed, slow = part.velocity[j], params.slow_down_above[j]
            if slow < math.inf and not abs(speed) <= slow:  # nor goes on without a damper that was asked for
                part.effort_command[j] -= params.damping[j] * (speed - math.copysign(slow, speed))
        state.taken_over = 1.0
        part.command_mode = EFFORT
