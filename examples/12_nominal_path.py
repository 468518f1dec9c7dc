"""A nominal path, corrected by force: the tool follows a curve over a mat and presses with 5 N while it slides.

    ./run shell python examples/12_nominal_path.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell contact                         or: a workcell in real time, and beside it
    ./run shell python examples/12_nominal_path.py

The path is that of a drawing. The real mat lies 1.5 mm lower, and is steeper. `govern_path` moves the tool along the
curve, as the strategies of `s` say: slowly until the force has been reached, then with 30 mm/s. The law `force` moves
it off the curve along z, by as much as the force needs.
"""

from pathlib import Path

import numpy as np
from judging.nominal_path import RECORDED, WORKCELL, drawn_height, judge, plot

from robot_rt_control.client import Action, Client, Reaction, Session, Strategy
from robot_rt_control.testing.program_main import run_program

FORCE = 5.0  # [N] to press with
TOUCH = 2.0  # [N] of push that count as contact
ALMOST = 4.0  # [N] from here on it goes along with full speed
SPEED, SLOW = 0.03, 0.003  # [m/s] along the path; while the force is far from the wanted one
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def curve() -> np.ndarray:
    """(n, 3) [m] The drawn path: a wave over the mat."""
    y = np.linspace(-0.15, 0.15, 31)
    return np.column_stack((0.5 + 0.05 * np.sin(2.0 * np.pi * (y + 0.15) / 0.3), y, drawn_height(y)))


def define(session: Session) -> None:
    """Down to the mat, along the path, and up again."""
    force = Strategy("force", "force", inputs={"force": "watch.push_z"}, force=-FORCE, velocity=0.02)
    wait = Strategy("wait", "velocity", when=f"watch.push_z > -{ALMOST}", velocity=SLOW)
    down = Strategy("down", "velocity", velocity=-0.01)
    session.add(
        Action("watch", "watch_tool", parts={"sensor": "wrist", "arm": "arm"}),
        Action("ready", "hold", parts="arm", reactions=[Reaction("watch.is_ready", start="approach")]),
        Action(
            "approach",
            "govern_tool",
            parts="arm",
            strategies={"z": [down]},
            reactions=[Reaction(f"watch.push_z < -{TOUCH}", start="slide")],
        ),
        Action(
            "slide",
            "govern_path",
            parts="arm",
            points=curve().ravel().tolist(),
            strategies={"s": [wait, Strategy("follow", "velocity", velocity=SPEED)], "z": [force]},
            reactions=[
                Reaction("is_done", start="leave", event="at_the_end"),
                Reaction("norm(wrist.force) > 30", start="leave", event="too_much_force"),
            ],
        ),
        Action("leave", "velocity_move", parts="arm", linear=[0, 0, 0.1]),
    )


def main(client: Client, output: Path | str = "output/12_nominal_path") -> dict[str, float]:
    """Returns the results."""
    with client.session(["arm", "wrist"]) as session:
        define(session)
        with session.record(*RECORDED) as recording:
            session.start("ready", "watch")
            session.wait_until("slide.way > 0.15", timeout_s=PATIENCE)
            client.take_picture(copy_to=Path(output) / "scene.png")
            session.wait_for("at_the_end", timeout_s=PATIENCE)
            session.wait_until("arm.tool.z > 0.2", timeout_s=PATIENCE)
        plot(recording, curve(), FORCE, Path(output) / "path.png")
        return judge(recording, curve(), FORCE)


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/12_nominal_path"), description=__doc__))
