"""Figure 3: a robot applies glue, moves away when there is enough of it, and freezes when a person comes near.

    ./run shell python examples/09_gluing.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell gluing                    or: a workcell in real time, and beside it
    ./run shell python examples/09_gluing.py

            in position, and the clamp closed          thick enough, or too late, or the clamp open
  approach ----------------------------------> glue -------------------------------------------------> leave
                                                |  a person near, or unknown
                                                +--------------------------------> freeze

Each arrow is a reaction, taken in the tick in which its condition becomes true. `ApplyGlue`, in action_types/, is
real-time code of your own: it moves the nozzle to and fro along the seam and doses the glue by the nozzle's speed.
"""

from pathlib import Path
from typing import Any

from action_types.apply_glue import ApplyGlue
from judging.gluing import NEAR, WORKCELL, judge_visit, plot, report, since
from judging.people import People, a_visitor, nobody

from robot_rt_control.client import Action, Client, Reaction, Session, variable
from robot_rt_control.testing.program_main import run_program

HOME = [-0.337, 0.5434, 0.0602, -1.7313, -0.0408, 0.8681, -0.2591]  # [rad] 0.2 m above the seam's beginning
ABOVE_SEAM = [-0.321, 0.9147, 0.0391, -1.7343, -0.0654, 0.4939, -0.2396]  # [rad] the nozzle 3 mm above it
SEAM: dict[str, Any] = {"begin": [0.5, -0.15, 0.103], "end": [0.5, 0.15, 0.103], "speed": 0.2}  # [m] world, [m/s]
THICKNESS = 0.002  # [m] of the glue in the end
SIMULATED = "simulator,detector=mock"  # hardware in simulated time: the person comes at the same tick in each run
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def define(session: Session) -> None:
    """Figure 3, and the clamp's two actions."""
    distance, closed = variable("person.distance"), variable("clamp.closed")
    in_position = Reaction("is_settled and clamp.closed", start="glue", event="in_position")
    # The first of two that fire in one tick wins: safety comes first. A silent detector counts as a person.
    then = ["person.distance", "arm.tool.y", "glue.speed", "glue.thickness", "glue.place", "glue.direction"]
    near = (distance < NEAR) | "is_unknown(person.distance)"
    person = Reaction(near, start="freeze", event="person", capture=then)
    ends = (variable("thickness") >= THICKNESS) | (variable("elapsed") > 60.0) | ~closed
    done = Reaction(ends, start="leave", event="done", capture=["glue.thickness", "glue.glued_length"])
    at_rest = Reaction("arm.at_rest", event="at_rest", capture=["arm.tool.y"])
    session.add(
        Action("home", "move_joint", parts="arm", position=HOME, velocity_scale=0.4),
        Action("approach", "move_joint", parts="arm", position=ABOVE_SEAM, velocity_scale=0.4, reactions=[in_position]),
        Action("glue", ApplyGlue.name, parts={"arm": "arm", "valve": "valve"}, **SEAM, reactions=[person, done]),
        Action("leave", "move_joint", parts="arm", position=HOME, velocity_scale=0.4),
        Action("freeze", "stop", parts="arm", reactions=[at_rest]),
        Action("close_clamp", "set_output", parts="clamp", outputs="close", values=1),
        Action("open_clamp", "set_output", parts="clamp", outputs="close", values=0),
        reactions=[Reaction("valve.flow < 0.001", event="valve_closed"), Reaction("not clamp.closed", event="opened")],
    )


def undisturbed(session: Session) -> dict[str, float]:
    """Glue a seam without a person."""
    session.set("glue", applied=0.0, place=-1.0, direction=1.0)
    session.start("approach", "close_clamp")
    position = session.wait_for("in_position", PATIENCE)
    done = session.wait_for("done", PATIENCE)
    session.wait_until("leave.is_settled", PATIENCE)
    reached = {name: done.values[f"glue.{name}"] for name in ("thickness", "glued_length")}
    return {"ticks": done.tick - position.tick, **reached}


def with_a_visitor(client: Client, session: Session, picture: Path) -> dict[str, float]:
    """Glue a seam, freeze when the person is near, continue at the end of the glue once the person has gone."""
    session.set("glue", applied=0.0, place=-1.0, direction=1.0)
    session.start("approach", "close_clamp")
    person = session.wait_for("person", PATIENCE)
    rest = session.wait_for("at_rest", PATIENCE)
    client.take_picture(copy_to=picture)
    session.wait_until(variable("person.distance") > 2 * NEAR, PATIENCE)
    # Whether it is safe to continue is decided by the application, as an operator would, and not by the loop.
    applied, place, direction = (person.values[f"glue.{name}"] for name in ("thickness", "place", "direction"))
    session.set("glue", applied=applied, place=place, direction=direction)
    resumed = session.start("glue")
    done = session.wait_for("done", PATIENCE)
    session.wait_until("leave.is_settled", PATIENCE)
    return judge_visit(session, person, rest, resumed, done)


def with_an_open_clamp(session: Session) -> dict[str, float]:
    """The clamp opens while glue is applied: the robot moves away."""
    session.set("glue", applied=0.0, place=-1.0, direction=1.0)
    session.start("approach", "close_clamp")
    session.wait_until(f"glue.thickness > {0.35 * THICKNESS}", PATIENCE)
    tick = session.start("open_clamp")
    done = session.wait_for("done", PATIENCE)
    session.wait_until("leave.is_settled", PATIENCE)
    ticks = done.tick - since(session, tick, "opened").tick
    return {"ticks_to_leave": ticks, "thickness": done.values["glue.thickness"]}


def main(client: Client, output: Path | str = "output/09_gluing") -> dict[str, dict[str, float]]:
    """Returns the results of each run."""
    names = ["person.distance", "arm.tool.y", "valve.flow", "glue.thickness"]
    done, recordings, people = {}, {}, People(client)
    with client.session(["arm", "valve", "clamp"]) as session:
        define(session)
        session.start("home")
        session.wait_until("home.is_settled", PATIENCE)
        with session.record(*names) as recordings["nobody comes"]:
            done["nobody"] = undisturbed(session)
        people.come(a_visitor)
        with session.record(*names) as recordings["a person comes near"]:
            done["visitor"] = with_a_visitor(client, session, Path(output) / "frozen.png")
        people.come(nobody)
        with session.record(*names) as recordings["the clamp opens"]:
            done["clamp"] = with_an_open_clamp(session)
    report(**done)
    plot(recordings, session.events, Path(output) / "gluing.png")
    return done


if __name__ == "__main__":
    out = Path("output/09_gluing")
    raise SystemExit(run_program(main, workcell=WORKCELL, output=out, description=__doc__, lockstep_hardware=SIMULATED))
