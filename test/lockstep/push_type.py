"""A user's action type with streams of vectors: accelerations of the joints, and a wrench that is resampled."""

import os

from robot_rt_control.actions.authoring import PER_JOINT, POSITION, ActionType, Parameter, PartKind, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput

STEPS = 4


class Push(ActionType):
    """Accelerate the joints, and show the force of a wrench."""

    name = "push"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (
        Parameter(name="trouble", type="text", default="none", description="What goes wrong, and where."),
        Parameter(name="scale", default=1.0, description="Of the wrench."),
    )
    state_variables = (StateVariable(name="speed", unit="rad/s"), StateVariable(name="force", unit="N"))
    streams = (
        StreamInput(
            name="acceleration", length="dof", units="joint/s^2", minimum=-2.0, maximum=2.0, gap="hold", delay=0.0
        ),
        StreamInput(
            name="wrench",
            length=6,
            units=("N", "N", "N", "Nm", "Nm", "Nm"),
            minimum=(-50.0, -50.0, -50.0, -5.0, -5.0, -5.0),
            maximum=(50.0, 50.0, 50.0, 5.0, 5.0, 5.0),
            beyond="clamp",
        ),
    )
    Params = {"scale": float}
    State = {"velocity": (float, PER_JOINT)}

    def __init__(self, parts):
        super().__init__(parts)
        self.before = None

    def prepare_parameters(self, values, params):
        self.trouble = values["trouble"]
        self.scale = params.scale = values["scale"]
        if self.trouble == "prepare":
            raise ValueError("not prepared")

    def resample_wrench(self, time, values):
        """A line from the sample before to this one, in steps."""
        if self.trouble == "raise" and values[0] < 0.0:
            raise ValueError("no model of a pull")
        if self.trouble == "vanish" and values[0] < 0.0:
            os._exit(3)
        while self.trouble == "hang" and values[0] < 0.0:
            pass
        if self.trouble == "wrong" and values[0] < 0.0:
            return 3 if values[0] < -1.0 else [(time, [1.0, 2.0])]
        values = self.scale * values
        t, old = self.before or (time, values)
        self.before = (time, values)
        if t == time:
            return [(time, values)]
        return [(t + (time - t) * k / STEPS, old + (values - old) * k / STEPS) for k in range(1, STEPS + 1)]

    @staticmethod
    def sense(state, params, arm):
        state.force = (state.wrench.value[0] ** 2 + state.wrench.value[1] ** 2 + state.wrench.value[2] ** 2) ** 0.5
        state.speed = state.velocity[0]

    @staticmethod
    def control(state, params, arm):
        follows = state.acceleration.valid != 0.0 and state.acceleration.timed_out == 0.0
        arm.command_mode = POSITION
        for j in range(arm.dof):
            state.velocity[j] = state.velocity[j] + state.acceleration.value[j] * arm.dt if follows else 0.0
            arm.position_command[j] = arm.commanded_position[j] + state.velocity[j] * arm.dt
