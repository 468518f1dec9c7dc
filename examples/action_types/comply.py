"""comply: real-time code of your own that presses with a force, for examples/08_contact_admittance.py."""

import math

from robot_rt_control.actions.authoring import (
    ActionType,
    Parameter,
    PartKind,
    Slot,
    StateVariable,
    limited_dtype,
    limited_velocity,
)
from robot_rt_control.actions.cartesian import begin_tool, follow_tool_beside, tool_dtype
from robot_rt_control.actions.following import towards
from robot_rt_control.model.kinematics.kinematics import quaternion_rotate

_STRAIGHTEN = 10.0  # [1/s] gain that keeps the tool upright and on its way
_SMOOTHING = 0.005  # [s] time constant of the felt force: a jolt of one tick is no contact
_JERK = 50.0  # times the limit: with less it would press harder before it gives way
_TOUCHES = 0.1  # fraction of the wanted force above which the tool touches the surface
_SETTLED = 0.1  # [s] for which the force must be within the tolerance


class Comply(ActionType):
    """Press along the tool's z axis with a force, compliantly, and move across it."""

    name = "comply"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="wrist", kinds=(PartKind.FORCE_TORQUE_SENSOR,), moves=False, description="Its z axis is the tool's."),
    )
    parameters = (
        Parameter(name="force", unit="N", minimum=0.0, maximum=100.0, description="Contact force."),
        Parameter(name="weight", unit="N", description="Reading of the sensor along z without contact."),
        Parameter(name="mass", unit="kg", minimum=0.5, description="Apparent mass of the tool."),
        Parameter(name="damping", unit="Ns/m", minimum=10.0, description="Apparent damping of the tool."),
        Parameter(name="follow_time", unit="s", default=0.1, minimum=0.01, description="Time constant on slopes."),
        Parameter(name="velocity", length=3, unit="m/s", default=(0.0, 0.0, 0.0), description="Tool velocity across."),
        Parameter(name="acceleration", unit="m/s^2", default=0.2, minimum=0.01, description="Limit across."),
        Parameter(name="tolerance", unit="N", default=0.5, minimum=0.01, description="Settled below this error."),
    )
    state_variables = (
        StateVariable(name="pressing", unit="N", description="Measured force along the tool's z axis."),
        StateVariable(name="felt", unit="N", description="The same, smoothed."),
        StateVariable(
            name="is_settled", type="bool", description="The force error was within the tolerance for 0.1 s."
        ),
        StateVariable(name="travelled", unit="m", description="Distance moved across."),
        StateVariable(name="peak", unit="N", description="Largest measured force so far."),
        StateVariable(name="rms", unit="N", description="RMS of the force error so far."),
        StateVariable(name="largest", unit="N", description="Largest |measured - wanted| force so far."),
    )
    # For measuring its compute time.
    example = {"force": 10.0, "weight": 2.0, "mass": 5.0, "damping": 500.0}
    State = {
        "tool": tool_dtype,
        "motion": limited_dtype,
        "into": float,  # [m/s] present velocity along the tool's z axis
        "slope": float,  # [m/s] part of it that follows the surface's slope
        "across": (float, 3),  # [m/s] present velocity
        "axis": (float, 3),  # the tool's z axis in the world
        "unit_z": (float, 3),
        "right_for": float,  # [s]
        "squares": float,  # [N^2 s]
        "time": float,  # [s]
    }

    @staticmethod
    def on_enter(state, params, arm, wrist):
        """Take over a moving arm at its speed."""
        begin_tool(state.tool, arm)
        state.unit_z[2] = 1.0
        quaternion_rotate(state.tool.orientation, state.unit_z, state.axis)
        for i in range(3):
            state.into += state.tool.twist[i] * state.axis[i]
        for i in range(3):
            state.across[i] = state.tool.twist[i] - state.into * state.axis[i]

    @staticmethod
    def sense(state, params, arm, wrist):
        """Judge the force; reactions see the result in the same tick."""
        # The sensor measures the mat's force on the tool: pressing along +z reads -z. The tool's weight is subtracted.
        state.pressing = params.weight - wrist.wrench[2]
        error = state.pressing - params.force
        if math.isnan(error):
            return
        state.felt += (state.pressing - state.felt) * min(arm.dt / _SMOOTHING, 1.0)
        state.peak = max(state.peak, state.pressing)
        state.largest = max(state.largest, abs(error))
        state.time += arm.dt
        state.squares += error * error * arm.dt
        state.rms = math.sqrt(state.squares / max(state.time, 1e-9))
        state.right_for = state.right_for + arm.dt if abs(error) < params.tolerance else 0.0
        state.is_settled = state.right_for >= _SETTLED

    @staticmethod
    def control(state, params, arm, wrist):
        """mass * acceleration = wanted - measured force - damping * (velocity - that of the surface)."""
        dt = arm.dt
        lacking = params.force - state.pressing
        if math.isnan(lacking):
            lacking = 0.0  # the sensor is silent: the damper brings the tool to rest
            state.slope = 0.0
        if state.pressing > _TOUCHES * params.force:  # without contact there is no surface to follow
            state.slope += lacking / (params.damping * params.follow_time) * dt
        state.into += (lacking - params.damping * (state.into - state.slope)) / params.mass * dt

        speed_squared = 0.0
        for i in range(3):
            state.across[i] = towards(state.across[i], params.velocity[i], params.acceleration * dt)
            speed_squared += state.across[i] * state.across[i]
            state.tool.twist[i] = state.across[i] + state.into * state.axis[i]
            state.tool.twist[3 + i] = 0.0
        state.travelled += math.sqrt(speed_squared) * dt
        # Along its axis the force alone decides the tool's position.
        status = follow_tool_beside(state.tool, arm, _STRAIGHTEN, state.axis)
        return status if status != 0 else limited_velocity(state.motion, arm, _JERK)
