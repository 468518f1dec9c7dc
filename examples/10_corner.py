"""Strategies: into a corner in one state. For each axis, the first law whose circumstance holds governs.

    ./run shell python examples/10_corner.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell bench                     or: a workcell in real time, and beside it
    ./run shell python examples/10_corner.py

Along each axis the tool moves fast in the open, slowly near a wall, and presses with 5 N against a wall that it
touches. Nobody says in which order that happens. In the corner it keeps pressing for ten seconds. The library's program
`move_to_corner` does the same, and gives up if there is no corner, or too much force.
"""

from pathlib import Path

from judging.corner import AXES, WORKCELL, judge, plot

from robot_rt_control.client import Action, Client, Reaction, Strategy
from robot_rt_control.testing.program_main import run_program

FORCE = 5.0  # [N] to press with
TOUCH = 3.0  # [N] of push that count as contact
NEAR = 0.03  # [m] to a wall
PRESSED = 10.0  # [s] for which the force is kept in the corner
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def press(push: str, **when: str) -> Strategy:
    """Press against a wall. Both fingers together give way by 20 kN/m: so the law checks that its loop is stable."""
    return Strategy("force", "force", **when, inputs={"force": push}, force=FORCE, velocity=0.02, stiffness=2e4)


def strategies(push: str, distance: str) -> list[Strategy]:
    """Of one axis, in order of priority. Without a distance, the careful law governs: it is the last."""
    return [
        press(push, when=f"{push} > {TOUCH}"),
        Strategy("velocity", "velocity", when=f"{distance} >= {NEAR}", velocity=0.1),
        Strategy("distance", "distance", inputs={"distance": distance}, distance=0.0, velocity=0.02),
    ]


def main(client: Client, output: Path | str = "output/10_corner") -> dict[str, float]:
    """Returns the results."""
    in_corner = " and ".join(f"approx(watch.push_{axis}, {FORCE}, {0.05 * FORCE})" for axis in "xy")
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
                reactions=[Reaction(in_corner, start="press", event="in_corner", capture=["corner.elapsed"])],
            ),
            Action(
                "press",
                "govern_tool",
                parts="arm",
                linear_acceleration=1.0,
                strategies={axis: [press(f"watch.push_{axis}")] for axis in "xy"},
                reactions=[Reaction(f"elapsed > {PRESSED}", start="there", event="done")],
            ),
            Action("there", "hold", parts="arm"),
        )
        with session.record(*AXES, "watch.push_x", "watch.push_y", "corner.elapsed", "press.elapsed") as recording:
            session.start("ready", "watch")
            session.wait_for("done", timeout_s=PATIENCE)
        plot(recording, FORCE, Path(output) / "corner.png")
        return judge(recording, FORCE)


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/10_corner"), description=__doc__))
