"""Figure 3: a robot applies glue, moves away when there is enough of it, and freezes when a person comes near.

    ./run shell python examples/09_gluing.py --lockstep       all by itself, in simulated time
    ./run shell workcell --workcell gluing                    or: a workcell in real time, and beside it
    ./run shell python examples/09_gluing.py

            in position, and the clamp closed          thick enough, or too late, or the clamp open
  approach ----------------------------------> glue -------------------------------------------------> leave
                                                |  a person near, or nobody knows
                                                +--------------------------------> freeze

Each arrow is a reaction, taken in the tick in which its condition becomes true. `ApplyGlue` is real-time code of your
own: it moves the nozzle to and fro along the seam and doses the glue by the speed that the nozzle has.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from std_msgs.msg import Float64

from robot_rt_control.client import Action, Client, Event, Reaction, Session, variable
from robot_rt_control.client.recording import Recording
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics import (
    differential_inverse,
    forward,
    kinematics_scratch_dtype,
    orientation_error,
)
from robot_rt_control.testing.program_main import run_program
from robot_rt_control.vocabulary.enums import CommandMode, PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

WORKCELL = Path(__file__).resolve().parents[1] / "config" / "gluing.yaml"
HOME = [-0.337, 0.5434, 0.0602, -1.7313, -0.0408, 0.8681, -0.2591]  # [rad] 0.2 m above the seam's beginning
ABOVE_SEAM = [-0.321, 0.9147, 0.0391, -1.7343, -0.0654, 0.4939, -0.2396]  # [rad] the nozzle 3 mm above it
SEAM = {"begin": [0.5, -0.15, 0.103], "end": [0.5, 0.15, 0.103]}  # [m] world
SPEED = 0.2  # [m/s]
THICKNESS = 0.002  # [m] of the glue in the end
TOO_LATE = 60.0  # [s]
NEAR = 0.8  # [m] at which a person stops the robot
SIMULATED = "pybullet,detector=mock"  # hardware in simulated time: there the person comes at the same tick in each run
PERIOD = 0.001  # [s] of a tick

# --- real-time code: compiled, and called in every tick ------------------------------------------------------

_POSITION = int(CommandMode.POSITION)
_START_TOO_FAR = int(Status.START_TOO_FAR)
_DAMPING = 0.05  # of the inverse kinematics near singularities
_CORRECTION = 10.0  # [1/s] gain that leads the nozzle to its line
_REACH = 0.01  # [m] from the seam: farther off, it refuses to start
_ML = 1e6  # millilitres in a cubic metre


class ApplyGlue(ActionType):
    """Move to and fro along a seam and apply glue, in layers, from where the nozzle is."""

    name = "apply_glue"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="valve", kinds=(PartKind.IO,), description="Its first output is the flow in ml/s."),
    )
    parameters = (
        Parameter(name="begin", length=3, unit="m", description="Of the seam, in the world."),
        Parameter(name="end", length=3, unit="m", description="Of the seam, in the world."),
        Parameter(name="speed", unit="m/s", minimum=0.001, maximum=0.5, description="Along the seam."),
        Parameter(name="acceleration", unit="m/s^2", default=1.0, minimum=0.01, description="Along the seam."),
        Parameter(name="layer", unit="m", default=0.001, minimum=0.0, description="Thickness that one pass adds."),
        Parameter(name="width", unit="m", default=0.006, minimum=0.001, description="Of the bead of glue."),
        Parameter(name="applied", unit="m", default=0.0, minimum=0.0, description="Thickness that is there already."),
        Parameter(name="place", unit="m", default=-1.0, description="From which on; negative: where the nozzle is."),
        Parameter(
            name="direction", default=1.0, minimum=-1.0, maximum=1.0, description="First to the end, or (-1) back."
        ),
    )
    state_variables = (
        StateVariable(name="thickness", unit="m", description="Of the glue, averaged over the seam."),
        StateVariable(name="glued_length", unit="m", description="Way of the nozzle so far, to and fro."),
        StateVariable(name="place", unit="m", description="From the seam's beginning."),
        StateVariable(name="direction", description="1: to the seam's end; -1: back."),
        StateVariable(name="speed", unit="m/s", description="Along the seam."),
        StateVariable(name="elapsed", unit="s", description="Since the start."),
    )
    Params = {
        "begin": (float, 3),
        "along": (float, 3),  # unit vector
        "length": float,
        "speed": float,
        "acceleration": float,
        "section": float,  # [m^2] of what one pass applies
        "area": float,  # [m^2] of the glued seam, seen from above
        "applied": float,
        "place": float,
        "direction": float,
    }
    State = {
        "is_dry": float,  # it goes to where the glue is to begin
        "volume": float,  # [m^3] applied since the start
        "orientation": (float, 4),
        "tool_position": (float, 3),
        "tool_orientation": (float, 4),
        "rotation": (float, 3),
        "twist": (float, 6),
        "joint_velocity": (float, PER_JOINT),
        "scratch": kinematics_scratch_dtype,
    }

    def prepare_parameters(self, values, params):
        """Not real time: check, and compute what stays the same in all ticks."""
        valve = self.parts["valve"]
        begin, end = np.asarray(values["begin"]), np.asarray(values["end"])
        length = float(np.linalg.norm(end - begin))
        if length < 0.01:
            raise DefinitionError("apply_glue: seam", expected="a length of at least 10 mm", got=f"{length * 1e3:g} mm")
        params.section = values["layer"] * values["width"]
        flow = params.section * values["speed"] * _ML
        if not flow <= valve.record.output_upper[0]:
            most = f"at most {valve.record.output_upper[0]:g} ml/s, what {valve.name!r} can give"
            raise DefinitionError("apply_glue: layer x width x speed", expected=most, got=f"{flow:g} ml/s")
        params.begin[:], params.along[:], params.length = begin, (end - begin) / length, length
        params.area = length * values["width"]
        if values["place"] > length:
            raise DefinitionError("apply_glue: place", expected=f"at most {length:g} m", got=f"{values['place']:g} m")
        params.direction = 1.0 if values["direction"] >= 0.0 else -1.0
        for name in ("speed", "acceleration", "applied", "place"):
            params[name] = values[name]

    @staticmethod
    def on_enter(state, params, arm, valve):
        """Begin where the nozzle is, if that is at the seam."""
        forward(arm.chain, arm.commanded_position, state.tool_position, state.orientation)
        for i in range(3):
            state.place += (state.tool_position[i] - params.begin[i]) * params.along[i]
        state.place = min(max(state.place, 0.0), params.length)
        off = 0.0
        for i in range(3):
            d = params.begin[i] + state.place * params.along[i] - state.tool_position[i]
            off += d * d
        state.direction = params.direction
        state.is_dry = params.place >= 0.0
        return _START_TOO_FAR if math.sqrt(off) > _REACH else 0

    @staticmethod
    def sense(state, params, arm, valve):
        """What reactions see."""
        state.thickness = params.applied + state.volume / params.area

    @staticmethod
    def control(state, params, arm, valve):
        """The next step along the seam, and as much glue as that step needs."""
        dt = arm.dt
        if state.is_dry != 0.0:
            state.direction = 1.0 if state.place < params.place else -1.0
            left = abs(params.place - state.place)
        else:
            left = params.length - state.place if state.direction > 0.0 else state.place
        # As fast as it may, but so that it can brake in the way that is left.
        step = params.acceleration * dt
        wanted = min(params.speed, math.sqrt(2.0 * params.acceleration * max(left - state.speed * dt, 0.0)))
        state.speed += min(max(wanted - state.speed, -step), step)
        moved = min(state.speed * dt, left)
        state.place += state.direction * moved
        if left - moved < 1e-5:  # there: the glue begins, or the nozzle turns round
            state.speed = 0.0
            state.direction = params.direction if state.is_dry != 0.0 else -state.direction
            state.is_dry = 0.0
        elif state.is_dry == 0.0:
            state.glued_length += moved
            state.volume += params.section * moved
        flow = params.section * state.speed * _ML
        valve.output_command[0] = 0.0 if state.is_dry != 0.0 else flow
        state.elapsed += dt

        forward(arm.chain, arm.commanded_position, state.tool_position, state.tool_orientation)
        orientation_error(state.orientation, state.tool_orientation, state.rotation)
        for i in range(3):
            off = params.begin[i] + state.place * params.along[i] - state.tool_position[i]
            state.twist[i] = state.direction * state.speed * params.along[i] + _CORRECTION * off
            state.twist[3 + i] = _CORRECTION * state.rotation[i]
        status = differential_inverse(
            arm.chain, arm.commanded_position, state.twist, _DAMPING, state.joint_velocity, state.scratch
        )
        arm.command_mode = _POSITION
        for j in range(arm.dof):
            arm.position_command[j] = arm.commanded_position[j] + state.joint_velocity[j] * dt
        return status


class CloseValve(ActionType):
    """What the valve does when nobody applies glue, and when something failed: nothing flows."""

    name = "close_valve"
    slots = (Slot(name="valve", kinds=(PartKind.IO,)),)

    @staticmethod
    def control(state, params, valve):
        for i in range(valve.n_outputs):
            valve.output_command[i] = 0.0


# --- the program ---------------------------------------------------------------------------------------------


def define(session: Session) -> None:
    """Figure 3, and the clamp's two actions."""
    both = {"arm": "arm", "valve": "valve"}
    distance, closed = variable("person.distance"), variable("clamp.closed")
    in_position = Reaction("is_settled and clamp.closed", start="glue", event="in_position")
    # The first of two that fire in one tick wins: safety comes first. A silent detector is as good as a person.
    person = Reaction(
        (distance < NEAR) | "is_unknown(person.distance)",
        start="freeze",
        event="person",
        capture=[distance, "arm.tool.y", "glue.speed", "glue.thickness", "glue.place", "glue.direction"],
    )
    done = Reaction(
        (variable("thickness") >= THICKNESS) | (variable("elapsed") > TOO_LATE) | ~closed,
        start="leave",
        event="done",
        capture=["glue.thickness", "glue.glued_length", "glue.elapsed", closed],
    )
    session.add(
        Action("home", "move_joint", parts="arm", position=HOME, velocity_scale=0.4),
        Action("approach", "move_joint", parts="arm", position=ABOVE_SEAM, velocity_scale=0.4, reactions=[in_position]),
        Action("glue", "apply_glue", parts=both, speed=SPEED, **SEAM, reactions=[person, done]),
        Action("leave", "move_joint", parts="arm", position=HOME, velocity_scale=0.4),
        Action(
            "freeze", "stop", parts="arm", reactions=[Reaction("arm.at_rest", event="at_rest", capture=["arm.tool.y"])]
        ),
        Action("close_clamp", "set_output", parts="clamp", outputs="close", values=1),
        Action("open_clamp", "set_output", parts="clamp", outputs="close", values=0),
        reactions=[Reaction("valve.flow < 0.001", event="valve_closed"), Reaction("not clamp.closed", event="opened")],
    )


def nobody(t: float) -> float:
    """Distance [m] of the nearest person t seconds after the run began."""
    return 5.0


def a_visitor(t: float) -> float:
    """Comes at 1.5 m/s, stands 0.5 m away for a while, and goes."""
    return max(0.5, 5.0 - 1.5 * t, 1.5 * (t - 4.0))


class People:
    """Stands in for the cell's people detector: on its topic or, in simulated time, right at the sensor."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._distance_at: Callable[[float], float] = nobody
        self._cell = getattr(client, "cell", None)  # of simulated time
        self._begin = self._now()
        if self._cell is not None:
            self._cell.drive_sensor("person/distance", self.distance)
        else:
            self._publisher = client.node.create_publisher(Float64, "person/distance", 10)
            client.node.create_timer(0.02, lambda: self._publisher.publish(Float64(data=self.distance())))

    def _now(self) -> float:
        return time.monotonic() if self._cell is None else self._cell.tick * self._cell.workcell.period

    def come(self, distance_at: Callable[[float], float]) -> None:
        """From now on, the nearest person is as far away as this says."""
        self._distance_at, self._begin = distance_at, self._now()

    def distance(self) -> float:
        """Of the nearest person [m]."""
        return self._distance_at(self._now() - self._begin)


def since(session: Session, tick: int, name: str) -> Event:
    """The first event of this name from a tick on."""
    return next(e for e in session.events if name in (e.name, e.current_action) and e.tick >= tick)


RESUMED = {"applied": "thickness", "place": "place", "direction": "direction"}  # parameter → what it was


def undisturbed(session: Session) -> dict[str, float]:
    """Glue a seam. Nobody comes."""
    session.set("glue", applied=0.0, place=-1.0, direction=1.0)
    session.start("approach", "close_clamp")
    position = session.wait_for("in_position", 30)
    done = session.wait_for("done", 60)
    session.wait_until("leave.is_settled", 30)
    return {
        "ticks": done.tick - position.tick,
        "thickness": done.values["glue.thickness"],
        "glued_length": done.values["glue.glued_length"],
    }


def with_a_visitor(client: Client, session: Session, picture: Path) -> dict[str, float]:
    """Glue a seam, freeze when the person is near, go on where the glue ended when the person has gone."""
    session.set("glue", applied=0.0, place=-1.0, direction=1.0)
    session.start("approach", "close_clamp")
    person = session.wait_for("person", 30)
    rest = session.wait_for("at_rest", 5)
    client.take_picture(picture)
    session.wait_until(variable("person.distance") > 2 * NEAR, 30)
    # That it is safe to go on is not for the loop to decide: the application does, as an operator would.
    session.set("glue", **{name: person.values[f"glue.{was}"] for name, was in RESUMED.items()})
    resumed = session.start("glue")
    done = session.wait_for("done", 60)
    session.wait_until("leave.is_settled", 30)
    return {
        "distance": person.values["person.distance"],
        "speed": person.values["glue.speed"],
        "ticks_to_freeze": since(session, person.tick, "freeze").tick - person.tick,
        "ticks_to_valve": since(session, person.tick, "valve_closed").tick - person.tick,
        "ticks_to_rest": rest.tick - person.tick,
        "ticks_at_rest": resumed - rest.tick,
        "travelled": abs(rest.values["arm.tool.y"] - person.values["arm.tool.y"]),
        "thickness_then": person.values["glue.thickness"],
        "thickness": done.values["glue.thickness"],
    }


def with_an_open_clamp(session: Session) -> dict[str, float]:
    """The clamp opens while glue is applied: the robot moves away."""
    session.set("glue", applied=0.0, place=-1.0, direction=1.0)
    session.start("approach", "close_clamp")
    session.wait_until(f"glue.thickness > {0.35 * THICKNESS}", 30)
    tick = session.start("open_clamp")
    done = session.wait_for("done", 5)
    session.wait_until("leave.is_settled", 30)
    return {
        "ticks_to_leave": done.tick - since(session, tick, "opened").tick,
        "thickness": done.values["glue.thickness"],
    }


def report(nobody: dict[str, float], visitor: dict[str, float], clamp: dict[str, float]) -> None:
    """What was achieved, in words."""
    print(
        f"nobody comes:   {nobody['thickness'] * 1e3:.3f} mm of glue after {nobody['glued_length'] * 1e3:.0f} mm "
        f"to and fro, {nobody['ticks']} ticks"
    )
    print(
        f"a person near:  seen at {visitor['distance']:.3f} m; frozen {visitor['ticks_to_freeze']} ticks later, valve "
        f"read as closed {visitor['ticks_to_valve']} ticks later;\n"
        f"                from {visitor['speed']:.2f} m/s to rest in {visitor['ticks_to_rest']} ticks and "
        f"{visitor['travelled'] * 1e3:.1f} mm; at rest for {visitor['ticks_at_rest']} ticks\n"
        f"                {visitor['thickness_then'] * 1e3:.3f} mm of glue then, {visitor['thickness'] * 1e3:.3f} mm "
        "in the end"
    )
    print(
        f"the clamp opens: away {clamp['ticks_to_leave']} ticks later, with {clamp['thickness'] * 1e3:.3f} mm of glue"
    )


COLORS = {"approach": "#92c5de", "glue": "#fee08b", "freeze": "#f4a582", "leave": "#d9d9d9"}


def plot(recordings: dict[str, Recording], events: list[Event], file: Path) -> None:
    """Each run: the person, the nozzle, the glue; the active action as coloured bands."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        3, len(recordings), figsize=(13, 7), sharex="col", sharey="row", squeeze=False, constrained_layout=True
    )
    for column, (title, recording) in zip(axes.T, recordings.items(), strict=True):
        time = recording.time - recording.time[0]
        first = round(recording.time[0] / PERIOD)
        begins = [(e.tick, e.current_action) for e in events if e.kind == "action_started" and "arm" in e.part]
        begins = [((tick - first) * PERIOD, name) for tick, name in begins]
        for (begin, name), (end, _) in zip(begins, [*begins[1:], (time[-1], "")], strict=True):
            for each in column:
                if end > 0.0 and begin < time[-1] and name in COLORS:
                    each.axvspan(max(begin, 0.0), min(end, time[-1]), color=COLORS[name], lw=0)
        person, nozzle, glue = column
        person.plot(time, recording["person.distance"], "k")
        person.axhline(NEAR, color="k", ls="--", lw=0.8)
        person.set(title=title, ylim=(0, 6))
        nozzle.plot(time, recording["arm.tool.y"] * 1e3, "k")
        glue.plot(time, recording["valve.flow"], "k", lw=0.8, label="flow [ml/s]")
        glue.plot(time, recording["glue.thickness"] * 1e3, color="#b2182b", lw=2, label="thickness [mm]")
        glue.set(xlabel="time [s]", xlim=(0, time[-1]))
    for each, label in zip(axes[:, 0], ("person [m]", "nozzle, world y [mm]", "glue"), strict=True):
        each.set(ylabel=label)
    axes[2, 0].legend(loc="upper left", frameon=False)
    bands = [plt.Rectangle((0, 0), 1, 1, color=color) for color in COLORS.values()]
    figure.legend(bands, COLORS, loc="outside lower center", ncol=len(COLORS), frameon=False)
    figure.savefig(file, dpi=100)
    plt.close(figure)


def main(client: Client, output: Path | str = "output/09_gluing") -> dict[str, dict[str, float]]:
    """Returns what was achieved in each run."""
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    names = ["person.distance", "arm.tool.y", "valve.flow", "glue.thickness"]
    done, recordings = {}, {}
    people = People(client)
    with client.session(["arm", "valve", "clamp"]) as session:
        define(session)
        session.start("home")
        session.wait_until("home.is_settled", 30)
        with session.record(*names) as recordings["nobody comes"]:
            done["nobody"] = undisturbed(session)
        people.come(a_visitor)
        with session.record(*names) as recordings["a person comes near"]:
            done["visitor"] = with_a_visitor(client, session, output / "frozen.png")
        people.come(nobody)
        with session.record(*names) as recordings["the clamp opens"]:
            done["clamp"] = with_an_open_clamp(session)
        events = session.events
    report(**done)
    plot(recordings, events, output / "gluing.png")
    print(f"written: {output}/gluing.png, {output}/frozen.png")
    return done


if __name__ == "__main__":
    raise SystemExit(
        run_program(
            main,
            workcell=WORKCELL,
            output=Path("output/09_gluing"),
            description=__doc__,
            lockstep_hardware=SIMULATED,
        )
    )
