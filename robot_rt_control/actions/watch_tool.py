"""watch_tool: the force of an arm's tool on its surroundings, and its displacement, while another action moves it."""

import math

from robot_rt_control.actions.headings import unit_quaternion
from robot_rt_control.actions.tool_use import is_other_tool
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics.kinematics import quaternion_inverse, quaternion_rotate
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind


@realtime
def forget(state):
    """Restart the zeroing; until it is complete, all values are unknown."""
    state.is_void = 0
    state.n = 0
    state.is_ready = 0.0
    state.peak = 0.0
    for i in range(3):
        state.zero_force[i] = 0.0
    state.push = state.push_x = state.push_y = state.push_z = math.nan
    state.x = state.y = state.z = state.displacement = math.nan


@realtime
def take_zero(state, params, sensor, arm):
    """Add a measurement to the zero; a missing one is not counted."""
    sum_ = sensor.wrench[0] + sensor.wrench[1] + sensor.wrench[2] + arm.tool_position[0]
    if not math.isfinite(sum_):
        return
    state.n += 1
    state.tool_number = arm.tool_number
    for i in range(3):
        state.zero_force[i] += (sensor.wrench[i] - state.zero_force[i]) / state.n
        state.zero_position[i] = arm.tool_position[i]
    quaternion_inverse(arm.tool_orientation, state.zero_turn)
    if state.n >= params.samples:
        state.is_ready = 1.0
        for i in range(3):
            state.smoothed[i] = 0.0


@realtime
def head(params, v):
    """Convert a vector from the frame's axes to the axes turned about its z by the heading, in place."""
    x = params.cosine * v[0] + params.sine * v[1]
    v[1] = params.cosine * v[1] - params.sine * v[0]
    v[0] = x


@realtime
def measure(state, params, sensor, arm):
    """Force and displacement since the zero, in the requested axes."""
    gain = arm.dt / (params.smoothing + arm.dt) if params.smoothing > 0.0 else 1.0
    unknown = False
    for i in range(3):
        state.vector[i] = sensor.wrench[i] - state.zero_force[i]
        unknown = unknown or not math.isfinite(state.vector[i])
        state.way[i] = arm.tool_position[i] - state.zero_position[i]
    if unknown:
        state.push = state.push_x = state.push_y = state.push_z = math.nan
    else:
        for i in range(3):
            state.smoothed[i] += gain * (state.vector[i] - state.smoothed[i])
        quaternion_rotate(params.mounting, state.smoothed, state.vector)  # along the tool's axes
        if params.in_tool_frame == 0.0:
            quaternion_rotate(arm.tool_orientation, state.vector, state.vector)
        head(params, state.vector)
        # The sensor measures the force of the environment on the tool; this is the opposite force.
        state.push_x = -state.vector[0]
        state.push_y = -state.vector[1]
        state.push_z = -state.vector[2]
        state.push = math.sqrt(state.push_x**2 + state.push_y**2 + state.push_z**2)
        if state.push > state.peak:
            state.peak = state.push
    if params.in_tool_frame != 0.0:
        quaternion_rotate(state.zero_turn, state.way, state.way)
    head(params, state.way)
    state.x = state.way[0]
    state.y = state.way[1]
    state.z = state.way[2]
    state.displacement = math.sqrt(state.x**2 + state.y**2 + state.z**2)


class WatchTool(ActionType):
    """Report the force with which the tool pushes and its displacement, both since a zero; it commands no motion.

    The zero is the mean of the first measurements, or of those after the signal `zero`: start it while the arm is at
    rest and touches nothing. The zero cancels the weight of the tool while the tool keeps its orientation. When another
    tool is put on, the zero is void: nothing is reported until the signal `zero`.
    """

    name = "watch_tool"
    slots = (
        Slot(
            name="sensor",
            kinds=(PartKind.FORCE_TORQUE_SENSOR,),
            description="Sensor that carries the tool. The action claims it, so that no other action re-zeroes it.",
        ),
        Slot(name="arm", kinds=(PartKind.ARM,), moves=False, description="Arm that carries sensor and tool."),
    )
    parameters = (
        Parameter(
            name="frame",
            type="text",
            default="world",
            choices=("world", "tool"),
            description="Axes of force and displacement.",
        ),
        Parameter(name="heading", unit="rad", default=0.0, description="Turns these axes about their z."),
        Parameter(
            name="mounting",
            length=4,
            default=(0.0, 0.0, 0.0, 1.0),
            description="Orientation of the sensor's axes in the tool's, quaternion x y z w.",
        ),
        Parameter(
            name="samples", type="int", default=50, minimum=1, description="Ticks whose mean is taken for the zero."
        ),
        Parameter(
            name="smoothing",
            unit="s",
            default=0.0,
            minimum=0.0,
            description="Time constant of a low-pass filter of the force; 0: none.",
        ),
    )
    signals = ("zero",)
    state_variables = (
        StateVariable(name="is_ready", type="bool", description="The zero is taken; before, the rest is unknown."),
        StateVariable(name="push", unit="N", description="Force that the tool exerts on its surroundings."),
        StateVariable(name="push_x", unit="N", description="Component of the push along x."),
        StateVariable(name="push_y", unit="N", description="Component along y."),
        StateVariable(name="push_z", unit="N", description="Component along z."),
        StateVariable(name="peak", unit="N", description="Largest push since the zero."),
        StateVariable(name="x", unit="m", description="Displacement of the measured tool since the zero, along x."),
        StateVariable(name="y", unit="m", description="Displacement along y."),
        StateVariable(name="z", unit="m", description="Displacement along z."),
        StateVariable(name="displacement", unit="m", description="Distance of the tool from its position at the zero."),
    )
    Params = {
        "in_tool_frame": float,
        "cosine": float,
        "sine": float,
        "mounting": (float, 4),
        "samples": int,
        "smoothing": float,
    }
    State = {
        "n": int,
        "tool_number": float,  # that was on at the zero
        "is_void": int,  # another one has been put on since
        "zero_force": (float, 3),  # [N] along the sensor's axes
        "zero_position": (float, 3),
        "zero_turn": (float, 4),  # from world axes to those of the tool at the zero
        "smoothed": (float, 3),
        "vector": (float, 3),
        "way": (float, 3),
    }

    def prepare_parameters(self, values, params):
        kept = ("frame", "heading", "mounting")
        super().prepare_parameters({k: v for k, v in values.items() if k not in kept}, params)
        params.in_tool_frame = values["frame"] == "tool"
        params.cosine, params.sine = math.cos(values["heading"]), math.sin(values["heading"])
        where = f"watch_tool of {self.parts['sensor'].name!r}: mounting"
        params.mounting[:] = unit_quaternion(values["mounting"], where)

    @staticmethod
    def on_enter(state, params, sensor, arm):
        forget(state)

    @staticmethod
    def sense(state, params, sensor, arm):
        if state.n > 0 and is_other_tool(arm, state.tool_number):
            forget(state)
            state.is_void = 1
        if state.is_void != 0:
            return
        if state.is_ready == 0.0:
            take_zero(state, params, sensor, arm)
        if state.is_ready != 0.0:
            measure(state, params, sensor, arm)

    @staticmethod
    def control(state, params, sensor, arm):
        if state.zero != 0.0:
            forget(state)
