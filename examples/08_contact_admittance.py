"""Contact found by force; then your own real-time code makes the arm compliant, and it wipes a mat with 10 N.

    ./run shell python examples/08_contact_admittance.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell contact                               or: a workcell in real time, and beside it
    ./run shell python examples/08_contact_admittance.py

`Comply` (action_types/comply.py) moves the tool as if it were a mass with a damper, pushed by the difference between
the wanted force and the measured one: an admittance. The arm comes down with a stiff one. In the tick with more than 5
N, a reaction switches to a soft one, which settles at 10 N. Then the tool moves along the mat, whose tilt it does not
know.
"""

from pathlib import Path
from typing import Any

from action_types.comply import Comply
from judging.contact import CONTACT, FORCE, WORKCELL, judge, plot

from robot_rt_control.client import Action, Client, Reaction, Session, variable
from robot_rt_control.testing.program_main import run_program

STIFF: dict[str, Any] = {"force": 40.0, "mass": 20.0, "damping": 2000.0}  # [N, kg, N s/m] down at 40 / 2000 m/s
SOFT: dict[str, Any] = {"force": FORCE, "mass": 5.0, "damping": 500.0}
WIPE = 0.04  # [m/s] along the mat
LENGTH = 0.3  # [m] of the way along the mat
START = [-0.3422, 0.5922, 0.0673, -1.7469, -0.0521, 0.8042, -0.2502]  # [rad] the probe's ball 60 mm above the mat
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def define(session: Session, weight: float) -> None:
    """Down, stiff; soft after the contact; along the mat; and up again."""
    parts = {"arm": "arm", "wrist": "wrist"}
    found = Reaction(variable("felt") > CONTACT, start="settle", event="found", capture=["approach.pressing"])
    settled = Reaction("is_settled", start="wipe", event="settled", capture=["settle.peak"])
    end = Reaction(f"travelled > {LENGTH}", start="leave", event="at_the_end", capture=["wipe.rms", "wipe.largest"])
    session.add(
        Action("approach", Comply.name, parts=parts, **STIFF, weight=weight, reactions=[found]),
        Action("settle", Comply.name, parts=parts, **SOFT, weight=weight, reactions=[settled]),
        Action("wipe", Comply.name, parts=parts, **SOFT, weight=weight, velocity=[0, WIPE, 0], reactions=[end]),
        Action("leave", "velocity_move", parts="arm", linear=[0, 0, 0.1]),
        # For comparison: the simulation's own truth.
        reactions=[Reaction("truth.input[0]", event="touched", fire_once=True)],
    )


def main(client: Client, output: Path | str = "output/08_contact_admittance") -> dict[str, float]:
    """Returns the results."""
    with client.session("arm") as session:
        session.add(Action("begin", "move_joint", parts="arm", position=START, velocity_scale=0.3))
        session.start("begin")
        session.wait_until("begin.is_settled", timeout_s=PATIENCE)
        weight = client.value("wrist.force.z")  # no contact and no motion: the sensor reads the tool's weight
        define(session, weight)
        with session.record("wrist.force.z", "arm.tool.y", "arm.tool.z") as recording:
            session.start("approach")
            session.wait_until("wipe.travelled > 0.15", timeout_s=PATIENCE)
            client.take_picture(copy_to=Path(output) / "scene.png")
            session.wait_until("arm.tool.z > 0.2", timeout_s=PATIENCE)
        found = next(e for e in session.events if e.name == "found")
        plot(recording, weight, found.tick, Path(output) / "force.png")
        return judge(session)


if __name__ == "__main__":
    raise SystemExit(
        run_program(main, workcell=WORKCELL, output=Path("output/08_contact_admittance"), description=__doc__)
    )
