"""A distance kept by real-time code of your own: the tool moves along an uneven plate, 5 mm above it, as for gluing.

    ./run shell python examples/07_kept_distance.py --lockstep       all by itself, in simulated time
    ./run shell workcell --workcell surface                          or: a workcell in real time, and beside it
    ./run shell python examples/07_kept_distance.py

Nobody tells the arm how high the plate is. In each tick (1 ms) `KeepDistance` takes what the rangefinder measures and
computes how fast the tool must go up or down. Going there and away are built-in actions; reactions join the three.
"""

import math
from pathlib import Path

import numpy as np
import yaml

from robot_rt_control.client import Action, Client, Reaction, Session, variable
from robot_rt_control.client.recording import Recording
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics import (
    differential_inverse,
    forward,
    kinematics_scratch_dtype,
    orientation_error,
    tool_twist,
)
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.testing.program_main import run_program
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

WORKCELL = Path(__file__).resolve().parents[1] / "config" / "surface.yaml"
DISTANCE = 0.005  # [m] to keep
SPEED = 0.05  # [m/s] along the plate
LENGTH = 0.44  # [m] of the way along the plate
START = [-0.4737, 0.6681, 0.0814, -1.6763, -0.0703, 0.8, -0.3608]  # [rad] above the plate's beginning

# --- real-time code: compiled, and called in every tick ------------------------------------------------------

_POSITION = int(CommandMode.POSITION)
_DAMPING = 0.05  # of the inverse kinematics near singularities
_STRAIGHTEN = 10.0  # [1/s] gain that keeps the tool on its line and upright
_SMOOTHING = 0.008  # [s] time constant of the filter against the sensor's noise


@realtime
def towards(value, goal, step):
    """From a value to a goal, by at most one step: so velocities change with limited acceleration."""
    return value + min(max(goal - value, -step), step)


class KeepDistance(ActionType):
    """Move the tool along a level line and keep a measured distance from what is below it."""

    name = "keep_distance"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="sensor", kinds=(PartKind.RANGEFINDER,), moves=False, description="Looks down, along world z."),
    )
    parameters = (
        Parameter(name="distance", unit="m", minimum=0.001, description="To keep."),
        Parameter(name="direction", length=2, description="Of the way along, x and y in the world; of any length."),
        Parameter(name="speed", unit="m/s", minimum=0.0, maximum=0.5, description="Along the way."),
        Parameter(name="gain", unit="1/s", default=40.0, minimum=1.0, maximum=100.0, description="Of the correction."),
        Parameter(name="tolerance", unit="m", default=0.001, minimum=1e-5, description="Farther off, it waits."),
        Parameter(name="largest_speed", unit="m/s", default=0.1, minimum=0.001, description="Up and down."),
        Parameter(name="acceleration", unit="m/s^2", default=1.5, minimum=0.01, description="In each direction."),
    )
    state_variables = (
        StateVariable(name="is_seen", type="bool", description="The sensor measures a distance."),
        StateVariable(name="error", unit="m", description="Measured minus wanted distance, smoothed."),
        StateVariable(name="travelled", unit="m", description="Along the way."),
        StateVariable(name="rms", unit="m", description="Of measured minus wanted distance, on the way."),
        StateVariable(name="largest", unit="m", description="Largest |measured - wanted| distance on the way."),
    )
    # What the loop gets of the parameters, and what it remembers from tick to tick: records of plain numbers.
    Params = {
        "distance": float,
        "direction": (float, 2),
        "speed": float,
        "gain": float,
        "tolerance": float,
        "largest_speed": float,
        "acceleration": float,
    }
    State = {
        "point": (float, 2),  # x and y where the tool should be [m]
        "orientation": (float, 4),
        "along": float,  # [m/s] present speed
        "upward": float,  # [m/s] present speed
        "slope": float,  # [m/s] upward speed that the surface has asked for so far: the integral part
        "squares": float,  # [m^2 s]
        "time": float,  # [s] on the way
        "tool_position": (float, 3),
        "tool_orientation": (float, 4),
        "rotation": (float, 3),
        "twist": (float, 6),
        "joint_velocity": (float, PER_JOINT),
        "scratch": kinematics_scratch_dtype,
    }

    def prepare_parameters(self, values, params):
        """Not real time: check as much as you like."""
        super().prepare_parameters(values, params)
        length = math.hypot(*params.direction)
        if length < 1e-6:
            raise DefinitionError("keep_distance: direction", expected="a direction in the plane", got="[0, 0]")
        params.direction[:] /= length

    @staticmethod
    def on_enter(state, params, arm, sensor):
        """Take over from whatever moved the arm before, at its speed."""
        forward(arm.chain, arm.commanded_position, state.tool_position, state.orientation)
        tool_twist(arm.chain, arm.commanded_position, arm.commanded_velocity, state.twist)
        state.point[0] = state.tool_position[0]
        state.point[1] = state.tool_position[1]
        state.along = state.twist[0] * params.direction[0] + state.twist[1] * params.direction[1]
        state.upward = state.twist[2]
        state.error = sensor.distance - params.distance

    @staticmethod
    def sense(state, params, arm, sensor):
        """Judge the distance; reactions see the result in the same tick."""
        error = sensor.distance - params.distance
        state.is_seen = math.isfinite(error)  # inf: nothing in the range; NaN: the sensor is silent
        if state.is_seen == 0.0:
            return
        state.error += (error - state.error) * min(arm.dt / _SMOOTHING, 1.0)
        if state.travelled > 0.0:
            state.time += arm.dt
            state.squares += error * error * arm.dt
            state.rms = math.sqrt(state.squares / max(state.time, arm.dt))
            state.largest = max(state.largest, abs(error))

    @staticmethod
    def control(state, params, arm, sensor):
        """Compute the tool's velocity, and from it the next joint positions."""
        dt = arm.dt
        upward = along = 0.0  # blind: come to rest
        if state.is_seen != 0.0:
            # Never faster than it can still brake in the distance that is left, with half of the acceleration.
            far = math.sqrt(params.acceleration * abs(state.error))
            correction = min(max(-params.gain * state.error, -far), far)
            if abs(state.error) < params.tolerance:  # without this integral it would lag behind on every ramp
                state.slope -= 0.25 * params.gain * params.gain * state.error * dt
            upward = state.slope + correction
            along = params.speed * max(1.0 - abs(state.error) / params.tolerance, 0.0)
        upward = min(max(upward, -params.largest_speed), params.largest_speed)
        state.upward = towards(state.upward, upward, params.acceleration * dt)
        state.along = towards(state.along, along, params.acceleration * dt)
        state.travelled += state.along * dt

        forward(arm.chain, arm.commanded_position, state.tool_position, state.tool_orientation)
        orientation_error(state.orientation, state.tool_orientation, state.rotation)
        for i in range(2):
            state.point[i] += state.along * params.direction[i] * dt
            off = state.point[i] - state.tool_position[i]
            state.twist[i] = state.along * params.direction[i] + _STRAIGHTEN * off
        state.twist[2] = state.upward
        for i in range(3):
            state.twist[3 + i] = _STRAIGHTEN * state.rotation[i]
        status = differential_inverse(
            arm.chain, arm.commanded_position, state.twist, _DAMPING, state.joint_velocity, state.scratch
        )
        arm.command_mode = _POSITION
        for j in range(arm.dof):
            arm.position_command[j] = arm.commanded_position[j] + state.joint_velocity[j] * dt
        return status


# --- the program ---------------------------------------------------------------------------------------------


def define(session: Session) -> None:
    """Four actions and the reactions between them: to the start, down to the plate, along it, and up again."""
    distance = variable("rangefinder.distance")
    near = Reaction(distance < DISTANCE + 0.01, start="keep")
    end = Reaction(f"travelled > {LENGTH}", start="leave", event="at_the_end", capture=["keep.rms", "keep.largest"])
    lost = Reaction("not is_seen", start="leave", event="lost")
    session.add(
        Action("begin", "move_joint", parts="arm", position=START, velocity_scale=0.3),
        Action("approach", "velocity_move", parts="arm", linear=[0, 0, -0.05], reactions=[near]),
        Action(
            "keep",
            "keep_distance",
            parts={"arm": "arm", "sensor": "rangefinder"},
            distance=DISTANCE,
            direction=[0, 1],
            speed=SPEED,
            reactions=[end, lost],
        ),
        Action("leave", "velocity_move", parts="arm", linear=[0, 0, 0.1]),
    )


def surface() -> np.ndarray:
    """(n, 2): y in the world and height of the plate's corners [m], as the workcell file has them."""
    objects = yaml.safe_load(WORKCELL.read_text())["devices"]["sim"]["pybullet"]["world"]["objects"]
    (plate,) = (thing for thing in objects if thing["name"] == "plate")
    return np.array(plate["profile"]["points"])  # the plate is turned: its x is the world's y


def judge(recording: Recording) -> dict[str, float]:
    """What was achieved, over the surface as it really is: [m], [m/s], and shares of the limits."""
    on_the_way = recording["keep.travelled"] > 0.0  # false where it is unknown: `keep` is not active
    y, z = recording["arm.tool.y"][on_the_way], recording["arm.tool.z"][on_the_way]
    deviation = z - np.interp(y, *surface().T) - DISTANCE
    limits = yaml.safe_load(WORKCELL.read_text())["parts"]["arm"]["limits"]["velocity"]
    used = [np.abs(recording[f"arm.velocity[{j}]"]).max() / limit for j, limit in enumerate(limits)]
    return {
        "rms": float(np.sqrt(np.mean(deviation**2))),
        "largest": float(np.abs(deviation).max()),
        "length": float(y[-1] - y[0]),
        "speed": float((y[-1] - y[0]) / np.ptp(recording.time[on_the_way])),
        "lowest": float((z - np.interp(y, *surface().T)).min()),
        "joint_speed": float(max(used)),
    }


def plot(recording: Recording, file: Path) -> None:
    """The surface with the tool above it, and how far the distance was from the wanted one."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    mm = 1e3
    corners = surface()
    y, z = recording["arm.tool.y"], recording["arm.tool.z"]
    on_the_way = recording["keep.travelled"] > 0.0
    deviation = z - np.interp(y, *corners.T) - DISTANCE
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(10, 6), sharex=True, height_ratios=[3, 2], constrained_layout=True
    )
    above.fill_between(corners[:, 0] * mm, corners[:, 1] * mm, 80, color="#c9b18f", label="plate")
    wanted = f"wanted: {DISTANCE * mm:g} mm above"
    above.plot(corners[:, 0] * mm, (corners[:, 1] + DISTANCE) * mm, "k--", lw=1, label=wanted)
    above.plot(y * mm, z * mm, color="#c0392b", lw=1.5, label="tool")
    above.set(ylabel="height [mm]", ylim=(80, 150), title="A distance kept over an uneven plate")
    above.legend(loc="upper center", frameon=False)
    below.plot(y[on_the_way] * mm, deviation[on_the_way] * mm, color="#c0392b", lw=1)
    below.axhline(0.0, color="k", lw=0.8)
    below.set(xlabel="way along the plate, world y [mm]", ylabel="true − wanted\ndistance [mm]", xlim=(-260, 300))
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def main(client: Client, output: Path | str = "output/07_kept_distance") -> dict[str, float]:
    """Returns what was achieved."""
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    names = ["arm.tool.y", "arm.tool.z", "keep.travelled", *(f"arm.velocity[{j}]" for j in range(7))]
    with client.session("arm") as session:
        define(session)
        session.start("begin")
        session.wait_until("begin.is_settled", timeout_s=30)
        with session.record(*names) as recording:
            session.start("approach")
            session.wait_until("keep.travelled > 0.2", timeout_s=30)
            client.take_picture(output / "scene.png")
            end = session.wait_for("at_the_end", timeout_s=30)
            session.wait_until("rangefinder.distance > 0.03", timeout_s=10)
    done = judge(recording)
    done["measured_rms"], done["measured_largest"] = end.values["keep.rms"], end.values["keep.largest"]
    mm = {name: value * 1e3 for name, value in done.items()}
    print(f"{mm['length']:.0f} mm along the plate at {mm['speed']:.1f} mm/s, to be kept: {DISTANCE * 1e3:g} mm")
    print(f"true deviation:     {mm['rms']:.3f} mm RMS, {mm['largest']:.3f} mm at most")
    print(
        f"measured deviation: {mm['measured_rms']:.3f} mm RMS, {mm['measured_largest']:.3f} mm at most, with its noise"
    )
    print(
        f"never nearer than {mm['lowest']:.2f} mm; the fastest joint used {done['joint_speed']:.0%} of its speed limit"
    )
    plot(recording, output / "distance.png")
    print(f"written: {output}/distance.png, {output}/scene.png")
    return done


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/07_kept_distance"), description=__doc__))
