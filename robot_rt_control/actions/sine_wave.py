"""sine_wave: one joint oscillates about its present position. The worked example of a custom action."""

import math
from collections.abc import Mapping

import numpy as np

from robot_rt_control.definitions.action_type import (
    PER_JOINT,
    ActionType,
    Parameter,
    ParameterValue,
    Slot,
    StateVariable,
)
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

NO_ROOM = 1
"""Status of on_enter: from the joint's present position, the wave would leave its range."""

POSITION = int(CommandMode.POSITION)
FULL_TURN = 2.0 * math.pi

# Greatest slope and curvature of smooth_step.
STEP_SLOPE = 1.875
STEP_CURVATURE = 5.7736


@realtime
def smooth_step(x):
    """From 0 at x = 0 to 1 at x = 1, with slope and curvature 0 at both ends (10 x^3 - 15 x^4 + 6 x^5)."""
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


@realtime
def fading_velocity(v, a, x, duration):
    """Velocity that starts as v with acceleration a at x = 0, and is zero without acceleration at x = 1.

    A cubic Hermite curve over `duration` [s].
    """
    return v * ((2.0 * x - 3.0) * x * x + 1.0) + a * duration * x * (x - 1.0) * (x - 1.0)


class SineWave(ActionType):
    """Swing one joint: q(t) = center + amplitude sin(2 pi frequency t). The other joints come to rest and hold.

    The wave grows from zero within `ramp_time`, and any earlier motion fades in the same time, so position,
    velocity and acceleration are continuous. The same holds when amplitude or frequency change during the motion.
    """

    name = "sine_wave"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,), description="The arm whose joint swings."),)
    parameters = (
        Parameter(name="joint", type="int", default=3, minimum=0, description="Index of the joint, from 0."),
        Parameter(name="amplitude", unit="rad", minimum=0.0, description="Half of the whole swing."),
        Parameter(name="frequency", unit="Hz", minimum=0.0, description="Swings in a second."),
        Parameter(name="ramp_time", unit="s", default=1.0, minimum=0.05, description="How long the wave grows."),
    )
    state_variables = (
        StateVariable(name="phase", unit="rad", description="Phase of the swing, 0 to 2 pi."),
        StateVariable(name="amplitude", unit="rad", description="Present half swing."),
        StateVariable(name="settled", type="bool", description="Amplitude and frequency are those of the parameters."),
    )
    State = {
        "elapsed": float,  # [s] since the start
        "center": (float, PER_JOINT),  # [rad]
        "start_velocity": (float, PER_JOINT),  # [rad/s] commanded when the action started
        "start_acceleration": (float, PER_JOINT),  # [rad/s^2]
        "ramp": float,  # progress of the present ramp, 0 to 1
        "from_amplitude": float,  # [rad] at the start of the present ramp
        "from_frequency": float,  # [Hz]
        "to_amplitude": float,  # [rad] at its end
        "to_frequency": float,  # [Hz]
    }

    def prepare_parameters(self, values: Mapping[str, ParameterValue], params: np.record) -> None:
        """Check the wave against the limits of the joint, and fill the record."""
        super().prepare_parameters(values, params)
        arm = self.parts["arm"]
        joint = int(params.joint)
        if joint >= arm.dof:
            raise DefinitionError(
                f"sine_wave of part {arm.name!r}: joint", expected=f"0 to {arm.dof - 1}", got=str(joint)
            )
        limits = arm.record
        amplitude, rate, ramp = float(params.amplitude), FULL_TURN * float(params.frequency), float(params.ramp_time)
        room = 0.5 * float(limits.position_upper[joint] - limits.position_lower[joint])
        # Bounds of the first and second derivative of amplitude * smooth_step(t / ramp) * sin(rate t).
        velocity = amplitude * (rate + STEP_SLOPE / ramp)
        acceleration = amplitude * (rate * rate + 2.0 * rate * STEP_SLOPE / ramp + STEP_CURVATURE / ramp**2)
        for what, needed, limit, unit in (
            ("amplitude", amplitude, room, "rad, half of the joint's range"),
            ("velocity", velocity, float(limits.velocity_limit[joint]), "rad/s"),
            ("acceleration", acceleration, float(limits.acceleration_limit[joint]), "rad/s^2"),
        ):
            if needed > limit:
                raise DefinitionError(
                    f"sine_wave of joint {arm.joint_names[joint]!r}: {what}",
                    expected=f"at most {limit:.4g} {unit}",
                    got=f"{needed:.4g}",
                    hint="Take a smaller amplitude or frequency, or a longer ramp_time",
                )

    @staticmethod
    def on_enter(state, params, arm):
        """Start from the last command, whatever motion there is."""
        for j in range(arm.dof):
            state.center[j] = arm.commanded_position[j]
            state.start_velocity[j] = arm.motion_velocity[j]
            state.start_acceleration[j] = arm.motion_acceleration[j]
        state.from_frequency = params.frequency
        state.to_frequency = params.frequency
        state.to_amplitude = params.amplitude
        # The earlier motion moves the center while it fades: the integral of fading_velocity.
        j = params.joint
        fade = params.ramp_time * (
            0.5 * state.start_velocity[j] + state.start_acceleration[j] * params.ramp_time / 12.0
        )
        center = state.center[j] + fade
        if center + params.amplitude > arm.position_upper[j] or center - params.amplitude < arm.position_lower[j]:
            return NO_ROOM
        return 0

    @staticmethod
    def sense(state, params, arm):
        """Update the state variables."""
        grown = smooth_step(state.ramp)
        state.amplitude = state.from_amplitude + (state.to_amplitude - state.from_amplitude) * grown
        state.settled = (
            state.ramp >= 1.0 and state.to_amplitude == params.amplitude and state.to_frequency == params.frequency
        )

    @staticmethod
    def set_parameters(state, params, arm):
        """Start a ramp to new values once the present ramp is over."""
        changed = state.to_amplitude != params.amplitude or state.to_frequency != params.frequency
        if changed and state.ramp >= 1.0:
            state.from_amplitude = state.to_amplitude
            state.from_frequency = state.to_frequency
            state.to_amplitude = params.amplitude
            state.to_frequency = params.frequency
            state.ramp = 0.0

    @staticmethod
    def control(state, params, arm):
        """Write the next position of every joint."""
        state.elapsed += arm.dt
        state.ramp = min(1.0, state.ramp + arm.dt / params.ramp_time)
        grown = smooth_step(state.ramp)
        amplitude = state.from_amplitude + (state.to_amplitude - state.from_amplitude) * grown
        frequency = state.from_frequency + (state.to_frequency - state.from_frequency) * grown
        state.phase += FULL_TURN * frequency * arm.dt
        if state.phase >= FULL_TURN:
            state.phase -= FULL_TURN
        fading = (state.elapsed - 0.5 * arm.dt) / params.ramp_time  # in the middle of this step
        arm.command_mode = POSITION
        for j in range(arm.dof):
            if fading < 1.0:
                v = fading_velocity(state.start_velocity[j], state.start_acceleration[j], fading, params.ramp_time)
                state.center[j] += v * arm.dt
            arm.position_command[j] = state.center[j]
        arm.position_command[params.joint] += amplitude * math.sin(state.phase)
