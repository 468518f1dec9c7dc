"""A line of six arms in one loop of 500 µs: groups one after the other, beside each other, and all together.

    ./run shell python examples/14_line_of_six.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell six_arms                       or: a workcell in real time, and beside it
    ./run shell python examples/14_line_of_six.py

Arms 1 to 3 pass work on: they reach down together, turn to their neighbours, come back, and do it again. Meanwhile arms
4 to 6 work on something else, each as fast as it can. When both lines are ready, all six go home in one group: they
begin in one tick, and arrive in one tick.
"""

from pathlib import Path

import numpy as np

from robot_rt_control.client import Client, Event, MotionCommand, MotionGroup, Reaction, Session
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).resolve().parents[1] / "config" / "six_arms.yaml"
ARMS = tuple(f"arm_{i}" for i in range(1, 7))
FIRST, SECOND = ARMS[:3], ARMS[3:]
HOME = np.array([0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0])  # [rad]
DOWN = np.array([0.0, 0.25, 0.0, 0.1, 0.0, -0.35, 0.0])  # [rad] from there: the tool moves down
TURN = np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # [rad] to the neighbour
PATIENCE = 120.0  # [s] more than enough, on any machine


def place(change: np.ndarray) -> tuple[float, ...]:
    """Joint positions near home [rad]."""
    return tuple((HOME + change).tolist())


def together(name: str, arms: tuple[str, ...], change: np.ndarray, *, finish: str = "together") -> MotionGroup:
    """All arms go to a place near home; each further one has a little farther to go."""
    commands = [
        MotionCommand(part=arm, position=place((1.0 + 0.1 * i) * change), speed=0.5) for i, arm in enumerate(arms)
    ]
    return MotionGroup(name, *commands, finish=finish)


def follow(groups: list[MotionGroup]) -> list[MotionGroup]:
    """Each group starts the next one in the tick in which it has arrived."""
    for group, following in zip(groups, groups[1:], strict=False):
        group.reactions.append(Reaction("is_done", start=following))
    return groups


def first_line() -> list[MotionGroup]:
    """Groups of arms 1 to 3, one after the other."""
    steps = {"reach_1": DOWN, "turn_1": DOWN + TURN, "back": 0.0 * HOME, "reach_2": DOWN, "turn_2": DOWN + TURN}
    return follow([together(name, FIRST, change) for name, change in steps.items()])


def second_line() -> list[MotionGroup]:
    """Groups of arms 4 to 6: each arm does its own work, with two commands in a row."""
    work = MotionGroup("work", profile="async")
    for i, arm in enumerate(SECOND):
        work.add(
            MotionCommand(part=arm, position=place(-0.3 * (i + 1) * TURN), jerk_percent=30.0),
            MotionCommand(part=arm, position=place(DOWN), via=(place(0.5 * DOWN - 0.2 * TURN),), blend=0.05),
        )
    return follow([work, together("finish", SECOND, -0.5 * TURN, finish="own")])


def define(session: Session) -> None:
    """Both lines; whichever is ready later starts the last group, of all arms."""
    first, second = first_line(), second_line()
    ready = f"{first[-1].id}.is_done and {second[-1].id}.is_done"
    session.add(
        *first,
        *second,
        together("home", ARMS, 0.0 * HOME),
        reactions=[Reaction(ready, start="home")],
    )


def starts(events: list[Event]) -> dict[str, int]:
    """The tick in which each group began."""
    return {e.current_action: e.tick for e in events if e.kind == "action_started"}


def main(client: Client, output: Path | str = "") -> dict[str, int]:
    """Returns the tick in which each group began."""
    with client.session(ARMS) as session:
        define(session)
        session.start("reach_1", "work")
        session.wait_until("home.is_settled", timeout_s=PATIENCE)
        begun = starts(session.events)
        for name, tick in begun.items():
            print(f"{name:9} began in tick {tick - begun['reach_1']:5}")
        return begun


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/14_line_of_six"), description=__doc__))
