"""Table 4: real-time control code of your own. `Wave` is compiled outside the executor and runs in every tick.

If the workcell file names it (`action_types: [../examples/04_custom_action.py:Wave]`), it is an action type like all
others. Without a workcell, run it in the harness:

    ./run shell python examples/04_custom_action.py
"""

import math

from robot_rt_control.actions.authoring import (
    PER_JOINT,
    POSITION,
    ActionType,
    Parameter,
    PartKind,
    Slot,
    StateVariable,
    limited,
    limited_dtype,
)
from robot_rt_control.testing.action_harness import ActionHarness


class Wave(ActionType):
    """One joint follows a sine about its position at the start of the action."""

    name = "wave"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (
        Parameter(name="joint", type="int", default=3, minimum=0, maximum=PER_JOINT - 1, description="Which joint."),
        Parameter(name="amplitude", unit="rad", default=0.1, minimum=0.0, maximum=1.0, description="Sine amplitude."),
        Parameter(name="frequency", unit="Hz", default=0.5, minimum=0.01, maximum=5.0, description="Sine frequency."),
    )
    state_variables = (StateVariable(name="elapsed", unit="s", description="Time since the start."),)
    State = {"center": (float, PER_JOINT), "motion": limited_dtype}

    @staticmethod
    def on_enter(state, params, arm):
        for j in range(arm.dof):
            state.center[j] = arm.commanded_position[j]

    @staticmethod
    def control(state, params, arm):
        state.elapsed += arm.dt
        arm.command_mode = POSITION
        fade_in = min(state.elapsed * params.frequency, 1.0)  # it grows over the first period
        wave = fade_in * params.amplitude * math.sin(2.0 * math.pi * params.frequency * state.elapsed)
        for j in range(arm.dof):
            arm.position_command[j] = state.center[j]
        arm.position_command[params.joint] += wave
        return limited(state.motion, arm)  # a smooth start from any motion, inside all limits


def main() -> None:
    harness = ActionHarness(Wave, parameters={"amplitude": 0.2, "frequency": 0.5}, compiled=True)
    harness.start()
    highest = 0.0
    for _ in range(4000):
        harness.step()
        highest = max(highest, harness.part("arm").commanded_position[3])
    print(f"after {harness.state.elapsed:.1f} s joint 3 has swung up to {highest:.3f} rad")


if __name__ == "__main__":
    main()
