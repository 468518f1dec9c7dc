"""A push that nobody wrote: the planner finds where and how to touch a box; then run, measure, and plan again.

    ./run shell python examples/15_push.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell push                    or: a workcell in real time, and beside it
    ./run shell python examples/15_push.py

The box shall go 20 cm forward. What is measured after a push is where the next plan begins: two corrections at most.
The planner needs `pip install "robot_rt_control[planning]"`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robot_rt_control.client import Client, Reaction, Session
from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.again import plan_again
from robot_rt_control.planning.plan import Plan, PoseDifference
from robot_rt_control.planning.planner import Result, plan
from robot_rt_control.planning.task import PairGroup, Task
from robot_rt_control.testing.program_main import run_program
from robot_rt_control.vocabulary.errors import RobotControlError

WORKCELL = Path(__file__).parent.parent / "config" / "push.yaml"
TASK = Task(
    name="push_box",
    workcell=WORKCELL,
    body="box",
    target=Pose(position=(0.8, 0.0, 0.04)),
    pairs=(PairGroup(robot="arm.peg", faces=("back", "front", "left", "right")),),
    time=1.5,
    steps=30,
)
CLOSE, ALIKE = 0.02, 0.05  # of the way; [rad]
CORRECTIONS = 2
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def measured_box(client: Client) -> Pose:
    """X_WB, from the sensor part that a camera would fill."""
    x, y, z, qx, qy, qz, qw = (client.value(f"camera.{name}") for name in ("x", "y", "z", "qx", "qy", "qz", "qw"))
    return Pose(position=(x, y, z), orientation=(qx, qy, qz, qw))


def measured_arm(client: Client) -> list[float]:
    return [client.value(f"arm.position[{joint}]") for joint in range(7)]


def solved(result: Result) -> Plan:
    """The plan of a result, in a line. Only one that reaches the target is carried out."""
    if result.plan is None or not result.success:
        raise RobotControlError(f"no plan: {result.message}")
    left = result.plan.header["position_error"]
    print(f"planned by {result.start!r} in {result.elapsed:.1f} s: {1e3 * left:.1f} mm would be left")
    return result.plan


def push(client: Client, session: Session, its: Plan, id: str) -> None:
    """Start it from where it was planned for, and wait until the box has come to rest."""
    its.check_start(joints={"arm": measured_arm(client)}, body=measured_box(client), speed=client.value("speed"))
    session.add(*its.actions(id), reactions=[Reaction(f"{id}.is_settled", event=f"{id}_ended")])
    session.start(*its.first(id))
    session.wait_for(f"{id}_ended", timeout_s=PATIENCE)
    client.sleep(0.5)


def back(session: Session, its: Plan, id: str) -> None:
    """The arm the way that it came."""
    session.add(*its.retreat(id), reactions=[Reaction(f"{id}.is_settled", event=f"{id}_ended")])
    session.start(*its.first(id))
    session.wait_for(f"{id}_ended", timeout_s=PATIENCE)


def main(
    client: Client, output: Path | str = "output/15_push", disturb: Callable[[], object] = lambda: None
) -> list[PoseDifference]:
    """Returns how far the box was from its target after each push.

    Args:
        disturb: called after the first push, to move the box.
    """
    with client.session("arm") as session:
        first = its = solved(plan(TASK))
        errors: list[PoseDifference] = []
        for attempt in range(1 + CORRECTIONS):
            push(client, session, its, f"push_{attempt}")
            back(session, its, f"back_{attempt}")  # out of the way of a camera
            if attempt == 0:
                disturb()
            box = measured_box(client)
            error = first.error_of(np.array(box.position), box.matrix[:3, :3])
            errors.append(error)
            print(f"push {attempt + 1}: {1e3 * error.position:.1f} mm and {error.orientation:.3f} rad are left")
            if error.normalized <= CLOSE and error.orientation <= ALIKE or attempt == CORRECTIONS:
                break
            its = solved(plan_again(TASK, its, joints={"arm": measured_arm(client)}, body=box, way=first.way))
        its.save(Path(output) / "last.plan")
        client.take_picture(Path(output) / "scene.png")
        return errors


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/15_push"), description=__doc__))
