"""Strategies: into a corner in one state. For each axis, the first law whose circumstance holds governs.

    ./run shell python examples/10_corner.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell bench                     or: a workcell in real time, and beside it
    ./run shell python examples/10_corner.py

Along each axis the tool moves fast in the open, slowly near a wall, and presses with 5 N against a wall that it
touches. Nobody says in which order that happens. The library's program `move_to_corner` does the same, and gives up if
there is no corner, or too much force.
"""

from pathlib import Path

from judging.corner import AXES, WORKCELL, judge, plot

from robot_rt_control.client import Action, Client, Reaction, Strategy
from robot_rt_control.testing.program_main import run_program

FORCE = 5.0  # [N] to press with
TOUCH = 3.0  # [N] of push that count as contact
NEAR = 0.03  # [m] to a wall
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def strategies(push: str, distance: str) -> list[Strategy]:
    """Of one axis, in order of priority. Without a distance, the careful law governs: it is the last."""
    return [
        Strategy("force", "force", when=f"{push} > {TOUCH}", inputs={"force": push}, force=FORCE, velocity=0.02),
        Strategy("velocity", "velocity", when=f"{distance} >= {NEAR}", velocity=0.1),
        Strategy("distance", "distance", inputs={"distance": distance}, distance=0.0, velocity=0.02),
    ]


def main(client: Client, output: Path | str = "output/10_corner") -> dict[str, float]:
    """Returns the results."""
    touches_both = f"watch.push_x > {TOUCH} and watch.push_y > {TOUCH}"
    axes = {"x": strategies("watch.push_x", "ahead.distance"), "y": strategies("watch.push_y", "beside.distance")}
    with client.session(["arm", "wrist"]) as session:
        session.add(
            Action("watch", "watch_tool", parts={"sensor": "wrist", "arm": "arm"}),
            Action("ready", "hold", parts="arm", reactions=[Reaction("watch.is_ready", start="corner")]),
            Action(
                "corner",
                "govern_tool",
                parts="arm",
                linear_acceleration=1.0,
                strategies=axes,
                reactions=[Reaction(touches_both, start="there", event="in_corner", capture=["corner.elapsed"])],
            ),
            Action("there", "hold", parts="arm"),
        )
        with session.record(*AXES, "watch.push_x", "watch.push_y", "corner.elapsed") as recording:
            session.start("ready", "watch")
            session.wait_for("in_corner", timeout_s=PATIENCE)
        plot(recording, FORCE, Path(output) / "corner.png")
        return judge(recording, FORCE)


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/10_corner"), description=__doc__))
