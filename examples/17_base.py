"""A mobile base pushes a box, by a program that its own computer runs without the planner: each end has its exit.

    ./run shell python examples/17_base.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell base_push               or: a workcell in real time, and beside it
    ./run shell python examples/17_base.py

The plan becomes a file of text: approach, push, judge. It needs no planner and no connection any more. It ends with
`done` or `missed`, as the base's own camera sees the box, and with `object_moved` before anything is pushed if the box
is not where it was planned to be, as on the second run here. The base is commanded in velocity, x, y and yaw.
The planner needs `pip install "robot_rt_control[planning]"`.
"""

from pathlib import Path

from robot_rt_control.client import Client
from robot_rt_control.planning import plan_file
from robot_rt_control.planning.plan.program_export import export_program
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "base_push.yaml"
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client, output: Path | str = "output/17_base") -> list[str]:
    """Returns the exit of each run."""
    push = plan_file("push_box_by_base", forward=0.5).solved()
    file = Path(output) / "push.yaml"
    file.write_text(export_program(push, name="push_box_by_base", sensor="camera"))
    for warning in client.programs.check(file):
        print(warning)
    exits = []
    for run in ("first", "second"):
        ended = client.programs.run(file, timeout_s=PATIENCE)
        x, y = client.value("camera.x"), client.value("camera.y")
        print(f"{run} run: {ended.last_event or ended.message}; the box is at ({x:.3f}, {y:.3f}) m")
        exits.append(ended.last_event)
    client.take_picture(copy_to=Path(output) / "scene.png")
    return exits


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/17_base"), description=__doc__))
