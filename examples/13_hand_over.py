"""Two arms hand a bar over, by motion groups alone (document 3: one computer moves a whole cell of robots).

    ./run shell python examples/13_hand_over.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell two_arms                     or: a workcell in real time, and beside it
    ./run shell python examples/13_hand_over.py

A picks the bar up. Both arms go to the meeting pose in one group: they begin in one tick, and arrive in one tick. B
closes its gripper, A opens its own, and both retreat together. Each group starts the next one by a reaction, in the
tick in which the arms are at rest at their goals, or the fingers press hard enough.
"""

from pathlib import Path

from judging.hand_over import AT_REST, RECORDED, WORKCELL, judge, plot

from robot_rt_control.client import Client, MotionCommand, MotionGroup, Reaction, Session
from robot_rt_control.testing.program_main import run_program

DOWN_A, DOWN_B = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)  # x y z w: both hands point down, A's x along world x
GRASP = 0.07  # [m] from the middle of the bar to each hand
STAND = (0.56, 0.0, 0.12)  # [m] the bar's middle at first
MEETING = (0.60, 0.0, 0.45)  # [m] and where it is handed over
OPEN = 0.04  # [m] of each finger
CLOSED = 0.014  # [m] the bar is 2 * 0.015 m thick: the fingers yield by 1 mm, or press as hard as they can
HOLDS = 8.0  # [N] of each finger
PATIENCE = 120.0  # [s] of simulated time: more than enough, on any machine


def tool(part: str, middle: tuple[float, float, float], *, above: float = 0.0, back: float = 0.0) -> MotionCommand:
    """Move a hand to its end of a bar with this middle [m], or above it, or back from it towards the arm's base."""
    x, y, z = middle
    x += -GRASP - back if part == "arm_a" else GRASP + back
    pose = (x, y, z + above), DOWN_A if part == "arm_a" else DOWN_B
    return MotionCommand(part=part, pose=pose, speed=0.4, acceleration_percent=30.0, jerk_percent=10.0)


def fingers(part: str, position: float) -> MotionCommand:
    """Open or close a gripper; its second finger follows the first one."""
    return MotionCommand(part=part, position=(position,), joint_speed=(0.05,))


def define(session: Session) -> None:
    """The groups in their order."""
    holds = {hand: f"is_done and fingers.{hand}_left > {HOLDS} and fingers.{hand}_right > {HOLDS}" for hand in "ab"}
    lost = Reaction(f"fingers.b_left < {HOLDS} or fingers.b_right < {HOLDS}", stop=True, event="lost")
    session.add(
        MotionGroup(
            "reach",
            tool("arm_a", STAND, above=0.1),
            tool("arm_a", STAND),
            reactions=[Reaction("is_settled", start="pick")],
        ),
        MotionGroup("pick", fingers("gripper_a", CLOSED), reactions=[Reaction(holds["a"], start="meet")]),
        MotionGroup(
            "meet",
            tool("arm_a", MEETING),
            tool("arm_b", MEETING, above=0.12),
            tool("arm_b", MEETING),
            finish="together",
            reactions=[Reaction("is_settled", start="take", event="met")],
        ),
        MotionGroup("take", fingers("gripper_b", CLOSED), reactions=[Reaction(holds["b"], start="give")]),
        MotionGroup(
            "give",
            fingers("gripper_a", OPEN),
            reactions=[Reaction("is_settled", start="retreat", event="handed_over")],
        ),
        MotionGroup(
            "retreat",
            tool("arm_a", MEETING, above=0.15),
            tool("arm_a", MEETING, above=0.15, back=0.15),
            tool("arm_b", MEETING, back=0.15),
            finish="together",
            reactions=[lost, Reaction("is_settled", event="apart", capture=["end.distance", "top.distance"])],
        ),
        reactions=[Reaction(when, event=name) for name, when in AT_REST.items()],
    )


def main(client: Client, output: Path | str = "output/13_hand_over") -> dict[str, float]:
    """Returns the results."""
    with client.session(["arm_a", "gripper_a", "arm_b", "gripper_b", "fingers", "end", "top"]) as session:
        define(session)
        with session.record(*RECORDED) as recording:
            session.start("reach")
            session.wait_for("handed_over", timeout_s=PATIENCE)
            client.take_picture(copy_to=Path(output) / "handed_over.png")
            session.wait_for("apart", timeout_s=PATIENCE)
            client.sleep(0.5)  # B alone holds the bar
        client.take_picture(copy_to=Path(output) / "apart.png")
        plot(recording, session.events, Path(output) / "hand_over.png")
        return judge(recording, session.events)


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/13_hand_over"), description=__doc__))
