"""Figure 4: a hand with two sprung digits grasps a block in one state, and drops it off at a new place.

    ./run shell python examples/11_two_digit_grasp.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell two_digits                         or: a workcell in real time, and beside it
    ./run shell python examples/11_two_digit_grasp.py

The hand moves ahead (x) and up (z) at the same time. The first digit meets the block's side, the second one its bottom.
Along each axis the hand moves fast until its digit touches; then slowly, and more slowly the harder the digit is
pressed, while its spring gives way. Once the spring is at its stop, the force rises to 4 N, and the hand moves no
further this way while it lasts. In the tick in which both digits hold, the hand lifts the block.
"""

from pathlib import Path

from judging.two_digits import RECORDED, WORKCELL, judge, plot

from robot_rt_control.client import Action, Client, Reaction, Session, Strategy
from robot_rt_control.testing.program_main import run_program

FORCE = 4.0  # [N] with which a digit holds
TOUCH = 0.3  # [N] that count as contact
MOST = 10.0  # [N] that a digit may ever press with
AHEAD, UP, SLOW = 0.05, 0.025, 0.02  # [m/s]
NEW_PLACE = [0.0, -0.35, 0.0]  # [m] from the old one
PATIENCE = 60.0  # [s] of simulated time: more than enough, on any machine


def strategies(force: str, speed: float) -> list[Strategy]:
    """Of one axis, in order of priority. If the force is unknown, the last one governs: it stands still then."""
    return [
        Strategy("stop", "stop_at", when=f"{force} >= {FORCE}", direction="forward", capture=[force]),
        Strategy("velocity", "velocity", when=f"{force} <= {TOUCH}", velocity=speed),
        Strategy("soft", "force", inputs={"force": force}, force=1.25 * FORCE, velocity=SLOW, compliance=0.006),
    ]


def define(session: Session) -> None:
    """The grasp in one state; then straight up, to the new place, down until the stand carries the block, and away."""
    first, second = "digits.first", "digits.second"
    hold = f"{first} >= {FORCE} and {second} >= {FORCE}"
    loose = f"{first} < {FORCE / 2} or {second} < {FORCE / 2} or is_unknown({first}) or is_unknown({second})"
    holds = Reaction(hold, start="lift", event="held", capture=[first, second])
    lost = Reaction(loose, start="give_up", event="lost")
    blocked = Reaction("is_blocked", start="give_up", event="blocked")
    too_hard = Reaction(f"{first} > {MOST} or {second} > {MOST}", start="give_up", event="pressed_too_hard")
    session.add(
        Action(
            "grasp",
            "govern_tool",
            linear_acceleration=1.0,
            strategies={"x": strategies(first, AHEAD), "z": strategies(second, UP)},
            time_limit=20.0,
            reactions=[holds, Reaction("timed_out", start="give_up", event="missed")],
        ),
        Action(
            "lift",
            "move_linear",
            offset=[0, 0, 0.06],
            speed=0.05,
            acceleration=0.2,
            reactions=[lost, blocked, Reaction("is_settled", start="carry", event="lifted")],
        ),
        Action(
            "carry",
            "move_linear",
            offset=NEW_PLACE,
            speed=0.4,
            acceleration=1.0,
            reactions=[lost, blocked, Reaction("is_settled", start="lower")],
        ),
        Action(
            "lower",
            "velocity_move",
            linear=[0, 0, -0.06],
            linear_acceleration=0.5,
            time_limit=20.0,
            reactions=[
                Reaction(f"{second} <= {TOUCH}", start="leave", event="set_down"),
                Reaction(f"timed_out or is_unknown({second})", start="give_up", event="no_ground"),
            ],
        ),
        Action(
            "leave",
            "move_linear",
            offset=[-0.08, 0, -0.03],
            speed=0.2,
            reactions=[blocked, Reaction("is_settled", start="there", event="dropped_off")],
        ),
        Action("there", "hold"),
        Action("give_up", "stop"),
        reactions=[too_hard],
    )


def main(client: Client, output: Path | str = "output/11_two_digit_grasp") -> dict[str, float]:
    """Returns the results."""
    with client.session("arm") as session:
        define(session)
        with session.record(*RECORDED) as recording:
            session.start("grasp")
            session.wait_for("lifted", timeout_s=PATIENCE)
            client.take_picture(copy_to=Path(output) / "lifted.png")
            session.wait_for("dropped_off", timeout_s=PATIENCE)
        client.take_picture(copy_to=Path(output) / "dropped_off.png")
        plot(recording, session.events, FORCE, Path(output) / "grasp.png")
        return judge(recording, session.events, FORCE)


if __name__ == "__main__":
    out = Path("output/11_two_digit_grasp")
    raise SystemExit(run_program(main, workcell=WORKCELL, output=out, description=__doc__))
