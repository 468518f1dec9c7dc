"""A distance kept by real-time code of your own: the tool moves along an uneven plate at 50 mm/s, 5 mm above it.

    ./run shell python examples/07_kept_distance.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell surface                          or: a workcell in real time, and beside it
    ./run shell python examples/07_kept_distance.py

The arm does not know the height of the plate. In each tick (1 ms) `KeepDistance` computes the tool's vertical speed
from the rangefinder's value. Going there and away are built-in actions; reactions join the three.
"""

import math
from pathlib import Path

from judging.kept_distance import WORKCELL, judge, plot

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
from robot_rt_control.client import Action, Client, Reaction, Session, variable
from robot_rt_control.testing.program_main import run_program

DISTANCE, LENGTH = 0.005, 0.44  # [m] to keep; of the way along the plate
START = [-0.4737, 0.6681, 0.0814, -1.6763, -0.0703, 0.8, -0.3608]  # [rad] above the plate's beginning
PATIENCE = 300.0  # [s] more than enough, even on a busy machine

_STRAIGHTEN = 10.0  # [1/s] gain that keeps the tool on its line and upright
_SMOOTHING = 0.008  # [s] time constant of the filter against the sensor's noise
_GAIN, _TOLERANCE = 40.0, 0.001  # [1/s] of the correction; [m] farther off, it waits
_LARGEST_SPEED, _ACCELERATION = 0.1, 1.5  # [m/s] up and down; [m/s^2] in each direction
_JERK = 50.0  # times the limit: with less the correction would lag, and swing
_UP = (0.0, 0.0, 1.0)


class KeepDistance(ActionType):
    """Move the tool along world y and keep a measured distance from the surface below."""

    name = "keep_distance"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="sensor", kinds=(PartKind.RANGEFINDER,), moves=False, description="Looks down, along world z."),
    )
    parameters = (
        Parameter(name="distance", unit="m", minimum=0.001, description="Distance to keep."),
        Parameter(name="speed", unit="m/s", minimum=0.0, maximum=0.5, description="Speed along the way."),
    )
    state_variables = (
        StateVariable(name="is_seen", type="bool", description="The sensor measures a distance."),
        StateVariable(name="error", unit="m", description="Measured minus wanted distance, smoothed."),
        StateVariable(name="travelled", unit="m", description="Distance along the way."),
    )
    example = {"distance": 0.005, "speed": 0.05}  # for measuring its compute time
    State = {"tool": tool_dtype, "motion": limited_dtype, "slope": float}  # [m/s] upward: the surface's

    @staticmethod
    def on_enter(state, params, arm, sensor):
        """Take over a moving arm at its speed."""
        begin_tool(state.tool, arm)
        state.error = sensor.distance - params.distance

    @staticmethod
    def sense(state, params, arm, sensor):
        """Judge the distance; reactions see the result in the same tick."""
        error = sensor.distance - params.distance
        state.is_seen = math.isfinite(error)  # inf: nothing in the range; NaN: the sensor is silent
        if state.is_seen != 0.0:
            state.error += (error - state.error) * min(arm.dt / _SMOOTHING, 1.0)

    @staticmethod
    def control(state, params, arm, sensor):
        """Compute the tool's velocity; the joints follow."""
        upward = along = 0.0  # blind: come to rest
        if state.is_seen != 0.0:
            # Never faster than it can brake within the remaining distance, with half the acceleration.
            far = math.sqrt(_ACCELERATION * abs(state.error))
            if abs(state.error) < _TOLERANCE:  # without this integral it would lag behind on every ramp
                state.slope -= 0.25 * _GAIN * _GAIN * state.error * arm.dt
            upward = state.slope + min(max(-_GAIN * state.error, -far), far)
            along = params.speed * max(1.0 - abs(state.error) / _TOLERANCE, 0.0)
        upward = min(max(upward, -_LARGEST_SPEED), _LARGEST_SPEED)
        for i in range(6):
            goal = along if i == 1 else (upward if i == 2 else 0.0)
            state.tool.twist[i] = towards(state.tool.twist[i], goal, _ACCELERATION * arm.dt)
        state.travelled += state.tool.twist[1] * arm.dt
        status = follow_tool_beside(state.tool, arm, _STRAIGHTEN, _UP)  # the sensor decides the tool's height
        return status if status != 0 else limited_velocity(state.motion, arm, _JERK)


def define(session: Session) -> None:
    """Four actions and the reactions between them: to the start, down to the plate, along it, and up again."""
    near = Reaction(variable("rangefinder.distance") < DISTANCE + 0.01, start="keep")
    end = Reaction(f"travelled > {LENGTH}", start="leave", event="at_the_end")
    lost = Reaction("not is_seen", start="leave", event="lost")
    both = {"arm": "arm", "sensor": "rangefinder"}
    session.add(
        Action("begin", "move_joint", parts="arm", position=START, velocity_scale=0.3),
        Action("approach", "velocity_move", parts="arm", linear=[0, 0, -0.05], reactions=[near]),
        Action("keep", "keep_distance", parts=both, distance=DISTANCE, speed=0.05, reactions=[end, lost]),
        Action("leave", "velocity_move", parts="arm", linear=[0, 0, 0.1]),
    )


def main(client: Client, output: Path | str = "output/07_kept_distance") -> dict[str, float]:
    """Returns the results."""
    names = ["arm.tool.y", "arm.tool.z", "keep.travelled", "rangefinder.distance"]
    names += [f"arm.velocity[{j}]" for j in range(7)]
    with client.session("arm") as session:
        define(session)
        session.start("begin")
        session.wait_until("begin.is_settled", timeout_s=PATIENCE)
        with session.record(*names) as recording:
            session.start("approach")
            session.wait_until("keep.travelled > 0.2", timeout_s=PATIENCE)
            client.take_picture(copy_to=Path(output) / "scene.png")
            session.wait_for("at_the_end", timeout_s=PATIENCE)
            session.wait_until("rangefinder.distance > 0.03", timeout_s=PATIENCE)
    plot(recording, DISTANCE, Path(output) / "distance.png")
    return judge(recording, DISTANCE)


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/07_kept_distance"), description=__doc__))
