"""Contact found by force; then your own real-time code makes the arm compliant, and it wipes a mat with 10 N.

    ./run shell python examples/08_contact_admittance.py --lockstep       all by itself, in simulated time
    ./run shell workcell --workcell contact                               or: a workcell in real time, and beside it
    ./run shell python examples/08_contact_admittance.py

`Comply` moves the tool as if it were a mass with a damper, pushed by the difference between the wanted force and the
measured one: an admittance. The arm comes down with a stiff one. In the tick in which it feels more than 5 N, a
reaction changes it to a soft one, which settles at 10 N. Then the tool moves along the mat, which nobody told it is
tilted.
"""

import math
from pathlib import Path

import yaml

from robot_rt_control.client import Action, Client, Event, Reaction, Session, variable
from robot_rt_control.client.recording import Recording
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics import (
    differential_inverse,
    forward,
    kinematics_scratch_dtype,
    orientation_error,
    quaternion_rotate,
    tool_twist,
)
from robot_rt_control.testing.program_main import run_program
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

WORKCELL = Path(__file__).resolve().parents[1] / "config" / "contact.yaml"
CONTACT = 5.0  # [N] from which on it counts as contact
FORCE = 10.0  # [N] to press with
STIFF = {"force": 40.0, "mass": 20.0, "damping": 2000.0}  # [N], [kg], [N s/m]: comes down at 40 / 2000 m/s
SOFT = {"force": FORCE, "mass": 5.0, "damping": 500.0}
WIPE = 0.04  # [m/s] along the mat
LENGTH = 0.3  # [m] of the way along the mat
START = [-0.3422, 0.5922, 0.0673, -1.7469, -0.0521, 0.8042, -0.2502]  # [rad] the probe's ball 60 mm above the mat

# --- real-time code: compiled, and called in every tick ------------------------------------------------------

_POSITION = int(CommandMode.POSITION)
_DAMPING = 0.05  # of the inverse kinematics near singularities
_STRAIGHTEN = 10.0  # [1/s] gain that keeps the tool upright and beside nothing but its way
_SMOOTHING = 0.005  # [s] time constant of what counts as felt: a jolt of a tick is no contact
_TOUCHES = 0.1  # part of the wanted force that says that the surface is still there
_SETTLED = 0.1  # [s] so long within the tolerance


class Comply(ActionType):
    """Press along the tool's z axis with a force, compliantly, and move across it."""

    name = "comply"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="wrist", kinds=(PartKind.FORCE_TORQUE_SENSOR,), moves=False, description="Its z axis is the tool's."),
    )
    parameters = (
        Parameter(name="force", unit="N", minimum=0.0, maximum=100.0, description="To press with."),
        Parameter(name="weight", unit="N", description="What the sensor reads along z where nothing is touched."),
        Parameter(name="mass", unit="kg", minimum=0.5, description="That the tool seems to have."),
        Parameter(name="damping", unit="Ns/m", minimum=10.0, description="That the tool seems to have."),
        Parameter(name="follow_time", unit="s", default=0.1, minimum=0.01, description="To follow a sloping surface."),
        Parameter(name="velocity", length=3, unit="m/s", default=(0.0, 0.0, 0.0), description="Across, world axes."),
        Parameter(name="acceleration", unit="m/s^2", default=0.2, minimum=0.01, description="Across."),
        Parameter(name="tolerance", unit="N", default=0.5, minimum=0.01, description="Of a force that is settled."),
    )
    state_variables = (
        StateVariable(name="pressing", unit="N", description="Measured force along the tool's z axis."),
        StateVariable(name="felt", unit="N", description="The same, smoothed."),
        StateVariable(name="is_settled", type="bool", description="The force has been right for 0.1 s."),
        StateVariable(name="travelled", unit="m", description="Across."),
        StateVariable(name="peak", unit="N", description="Largest measured force so far."),
        StateVariable(name="rms", unit="N", description="Of measured minus wanted force, so far."),
        StateVariable(name="largest", unit="N", description="Largest |measured - wanted| force so far."),
    )
    State = {
        "point": (float, 3),  # where the tool should be, but for its z axis [m]
        "orientation": (float, 4),
        "into": float,  # [m/s] present velocity along the tool's z axis
        "slope": float,  # [m/s] part of it that the surface has asked for so far
        "across": (float, 3),  # [m/s] present velocity
        "right_for": float,  # [s]
        "squares": float,  # [N^2 s]
        "time": float,  # [s]
        "axis": (float, 3),
        "unit_z": (float, 3),
        "tool_position": (float, 3),
        "tool_orientation": (float, 4),
        "rotation": (float, 3),
        "twist": (float, 6),
        "joint_velocity": (float, PER_JOINT),
        "scratch": kinematics_scratch_dtype,
    }

    @staticmethod
    def on_enter(state, params, arm, wrist):
        """Take over from whatever moved the arm before, at its speed."""
        forward(arm.chain, arm.commanded_position, state.point, state.orientation)
        tool_twist(arm.chain, arm.commanded_position, arm.commanded_velocity, state.twist)
        state.unit_z[2] = 1.0
        quaternion_rotate(state.orientation, state.unit_z, state.axis)
        for i in range(3):
            state.into += state.twist[i] * state.axis[i]
        for i in range(3):
            state.across[i] = state.twist[i] - state.into * state.axis[i]

    @staticmethod
    def sense(state, params, arm, wrist):
        """Judge the force; reactions see the result in the same tick."""
        # The sensor tells what the mat does to the tool: pressing along +z is felt as -z. The tool's weight is no news.
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
        if state.pressing > _TOUCHES * params.force:  # in the air there is no surface to follow
            state.slope += lacking / (params.damping * params.follow_time) * dt
        state.into += (lacking - params.damping * (state.into - state.slope)) / params.mass * dt

        forward(arm.chain, arm.commanded_position, state.tool_position, state.tool_orientation)
        orientation_error(state.orientation, state.tool_orientation, state.rotation)
        off_along = 0.0  # along the tool's axis it is where the force wants it
        for i in range(3):
            off_along += (state.point[i] - state.tool_position[i]) * state.axis[i]
        speed_squared = 0.0
        for i in range(3):
            step = params.acceleration * dt
            state.across[i] += min(max(params.velocity[i] - state.across[i], -step), step)
            speed_squared += state.across[i] * state.across[i]
            state.point[i] += state.across[i] * dt
            off = state.point[i] - state.tool_position[i] - off_along * state.axis[i]
            state.twist[i] = state.across[i] + state.into * state.axis[i] + _STRAIGHTEN * off
            state.twist[3 + i] = _STRAIGHTEN * state.rotation[i]
        state.travelled += math.sqrt(speed_squared) * dt
        status = differential_inverse(
            arm.chain, arm.commanded_position, state.twist, _DAMPING, state.joint_velocity, state.scratch
        )
        arm.command_mode = _POSITION
        for j in range(arm.dof):
            arm.position_command[j] = arm.commanded_position[j] + state.joint_velocity[j] * dt
        return status


# --- the program ---------------------------------------------------------------------------------------------


def define(session: Session, weight: float) -> None:
    """Down, stiff; soft from the contact on; along the mat; and up again."""
    parts = {"arm": "arm", "wrist": "wrist"}
    found = Reaction(variable("felt") > CONTACT, start="settle", event="found", capture=["approach.pressing"])
    settled = Reaction("is_settled", start="wipe", event="settled", capture=["settle.peak"])
    end = Reaction(
        f"travelled > {LENGTH}", start="leave", event="at_the_end", capture=["wipe.rms", "wipe.largest", "wipe.peak"]
    )
    session.add(
        Action("approach", "comply", parts=parts, **STIFF, weight=weight, reactions=[found]),
        Action("settle", "comply", parts=parts, **SOFT, weight=weight, reactions=[settled]),
        Action("wipe", "comply", parts=parts, **SOFT, weight=weight, velocity=[0, WIPE, 0], reactions=[end]),
        Action("leave", "velocity_move", parts="arm", linear=[0, 0, 0.1]),
        # To compare with: what the simulation knows.
        reactions=[Reaction("truth.input[0]", event="touched", fire_once=True)],
    )


def judge(touched: Event, found: Event, settled: Event, end: Event, started: Event) -> dict[str, float]:
    """What was achieved, in ticks and newtons."""
    return {
        "ticks_to_threshold": found.tick - touched.tick,
        "ticks_to_switch": started.tick - found.tick,
        "force_at_switch": found.values["approach.pressing"],
        "ticks_to_settle": settled.tick - found.tick,
        "peak": settled.values["settle.peak"],
        "rms": end.values["wipe.rms"],
        "largest": end.values["wipe.largest"],
    }


def period() -> float:
    """Of a tick [s]."""
    return float(yaml.safe_load(WORKCELL.read_text())["period"])


def mat() -> tuple[float, float]:
    """Height above y = 0 [m] and slope of the mat's top, as the workcell file has them."""
    objects = yaml.safe_load(WORKCELL.read_text())["devices"]["sim"]["pybullet"]["world"]["objects"]
    (thing,) = (thing for thing in objects if thing["name"] == "mat")
    tilt = 2.0 * math.atan2(thing["pose"]["orientation"][0], thing["pose"]["orientation"][3])
    return thing["pose"]["position"][2] + 0.5 * thing["box"]["size"][2] / math.cos(tilt), math.tan(tilt)


def plot(recording: Recording, weight: float, switch: float, file: Path) -> None:
    """The force over time, at the contact and over all, and how deep the ball is in the mat."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    time = recording.time - switch
    force = weight - recording["wrist.force.z"]
    height, slope = mat()
    above = recording["arm.tool.z"] - (height + slope * recording["arm.tool.y"])
    figure, axes = plt.subplot_mosaic(
        [["contact", "all"], ["depth", "way"]], figsize=(11, 6.5), width_ratios=[2, 3], constrained_layout=True
    )
    close, whole = (time > -0.06) & (time < 0.3), time > -1.0
    for name, part in (("contact", close), ("all", whole)):
        axes[name].axhline(FORCE, color="k", ls="--", lw=0.8, label=f"wanted: {FORCE:g} N")
        axes[name].axhline(CONTACT, color="tab:blue", ls=":", lw=1.2, label=f"counts as contact: {CONTACT:g} N")
        axes[name].plot(time[part], force[part], color="#c0392b", lw=1, label="measured")
        axes[name].set(ylim=(-2, 14), ylabel="pressing force [N]", xlabel="time since the switch [s]")
    axes["contact"].legend(loc="lower right", frameon=False)
    axes["depth"].plot(time[close], above[close] * 1e3, color="#c0392b", lw=1)
    axes["depth"].axhline(0.0, color="#3f734d", lw=1.5)
    axes["depth"].set(xlabel="time since the switch [s]", ylabel="ball above the mat [mm]")
    y = recording["arm.tool.y"]
    axes["way"].plot(y * 1e3, (height + slope * y) * 1e3, color="#3f734d", lw=3, label="mat, as it lies")
    axes["way"].plot(y * 1e3, recording["arm.tool.z"] * 1e3, color="#c0392b", lw=1, label="lowest point of the ball")
    low, high = 1e3 * (height + slope * y.min()), 1e3 * (height + slope * y.max())
    axes["way"].set(xlabel="world y [mm]", ylabel="height [mm]", ylim=(low - 4, high + 8))
    axes["way"].legend(loc="upper center", frameon=False)
    for each in axes.values():
        each.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Contact found by force, then a soft arm")
    figure.savefig(file, dpi=110)
    plt.close(figure)


def main(client: Client, output: Path | str = "output/08_contact_admittance") -> dict[str, float]:
    """Returns what was achieved."""
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    with client.session("arm") as session:
        session.add(Action("begin", "move_joint", parts="arm", position=START, velocity_scale=0.3))
        session.start("begin")
        session.wait_until("begin.is_settled", timeout_s=30)
        weight = client.value(
            "wrist.force.z"
        )  # nothing is touched and nothing moves: what is felt is the tool's weight
        define(session, weight)
        with session.record("wrist.force.z", "arm.tool.y", "arm.tool.z") as recording:
            session.start("approach")
            found = session.wait_for("found", timeout_s=30)
            session.wait_until("wipe.travelled > 0.15", timeout_s=30)
            client.take_picture(output / "scene.png")
            end = session.wait_for("at_the_end", timeout_s=30)
            session.wait_until("arm.tool.z > 0.2", timeout_s=10)
        touched, settled = session.wait_for("touched", 1), session.wait_for("settled", 1)
        (started,) = (e for e in session.events if e.kind == "action_started" and e.current_action == "settle")
    done = judge(touched, found, settled, end, started)
    if done["ticks_to_threshold"] < 0:
        print("a jolt of the arm counted as contact before it touched: does this machine keep time?")
    print(
        f"from the touch until {CONTACT:g} N are felt: {done['ticks_to_threshold']} ticks; "
        f"from there to the soft action: {done['ticks_to_switch']} ticks\n"
        f"peak force {done['peak']:.2f} N; settled at {FORCE:g} N after {done['ticks_to_settle']} ticks\n"
        f"over {LENGTH * 1e3:g} mm of wiping: {done['rms']:.3f} N RMS from {FORCE:g} N, {done['largest']:.2f} N at most"
    )
    plot(recording, weight, found.tick * period(), output / "force.png")
    print(f"written: {output}/force.png, {output}/scene.png")
    return done


if __name__ == "__main__":
    raise SystemExit(
        run_program(main, workcell=WORKCELL, output=Path("output/08_contact_admittance"), description=__doc__)
    )
