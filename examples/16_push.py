"""A push that nobody wrote: the planner finds where and how to touch a box; then run, measure, and plan again.

    ./run shell python examples/16_push.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell push                    or: a workcell in real time, and beside it
    ./run shell python examples/16_push.py

The box is to go 20 cm forward. What is measured after a push is where the next plan begins: two corrections at most.
The planner needs `pip install "robot_rt_control[planning]"`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robot_rt_control.client import Client
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planner.execution import measured, retreat, run_plan
from robot_rt_control.planning.files.from_file import prepared
from robot_rt_control.planning.plan.plan import PoseDifference
from robot_rt_control.planning.solve import verified
from robot_rt_control.planning.solve.again import plan_again
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "push.yaml"
CLOSE, ALIKE = 0.02, 0.05  # of the way; [rad]
CORRECTIONS = 2


def main(
    client: Client, output: Path | str = "output/16_push", disturb: Callable[[], object] = lambda: None
) -> list[PoseDifference]:
    """Returns how far the box was from its target after each push.

    Args:
        disturb: called after the first push, to move the box.
    """
    workcell = load_workcell(WORKCELL)
    task, settings = prepared("push_box", {"distance": 0.2})
    result = verified.solve(task, settings)  # another engine has played it
    first = result.solved()
    errors: list[PoseDifference] = []
    for attempt in range(1 + CORRECTIONS):
        push = result.solved()  # only a plan that reaches the target is carried out
        left = 1e3 * push.header["position_error"]
        print(f"planned by {result.start!r} in {result.elapsed:.1f} s: {left:.1f} mm would be left")
        run_plan(client, push, workcell, pose="camera", unverified=attempt > 0)  # a correction is measured below
        client.sleep(0.5)  # the box comes to rest
        retreat(client, push)  # out of the way of a camera
        if attempt == 0:
            disturb()
        found = measured(client, workcell, push.parts, pose="camera")
        assert found.body is not None  # it was asked for
        error = first.error_of(np.array(found.body.position), found.body.matrix[:3, :3])
        errors.append(error)
        print(f"push {attempt + 1}: {1e3 * error.position:.1f} mm and {error.orientation:.3f} rad are left")
        if error.normalized <= CLOSE and error.orientation <= ALIKE or attempt == CORRECTIONS:
            break
        result = plan_again(task, push, joints=found.joints, body=found.body, way=first.way, settings=settings)
    push.save(Path(output) / "last.plan")
    client.take_picture(copy_to=Path(output) / "scene.png")
    return errors


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/16_push"), description=__doc__))
