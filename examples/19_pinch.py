"""Two fingers pinch a cube by a plan; ordinary motions of the same robot then carry it on.

    ./run shell python examples/19_pinch.py --lockstep       alone, in simulated time
    ./run shell workcell --workcell pinch                    or: a workcell in real time, and beside it
    ./run shell python examples/19_pinch.py

The task says that the cube has to rest 15 cm to the left, and that both fingers may touch it. The planner finds
that they close on it and carry it there, so that in the end it is held. From there no plan is needed: the arm carries
it back by `move_joint`, while the gripper holds.
The planner needs `pip install "robot_rt_control[planning]"`.
"""

from pathlib import Path

from robot_rt_control.client import Action, Client
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planner.execution import measured, run_plan
from robot_rt_control.planning import plan_file
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "pinch.yaml"
BACK = 0.1  # [m]
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def carry(client: Client, workcell: Workcell, to_the_right: float) -> None:
    """Move the arm along y, and nothing else."""
    x, y, z = measured(client, workcell, ["arm"]).joints["arm"]
    with client.session(("arm", "gripper")) as session:
        session.add(Action("carry", "move_joint", parts="arm", position=[x, y - to_the_right, z], velocity_scale=0.2))
        session.start("carry")
        session.wait_until("carry.is_settled", timeout_s=PATIENCE)


def cube(client: Client) -> float:
    """[m] to the left."""
    return client.value("camera.y")


def main(client: Client, output: Path | str = "output/19_pinch") -> tuple[float, float]:
    """Returns where the cube is, to the left [m]: after the plan, and when it was carried back."""
    workcell = load_workcell(WORKCELL)
    pinch = plan_file("pinch_cube", left=0.15).solved()
    gaps = zip(pinch.header["pairs"], pinch.distance[-1], strict=True)
    print("distances at the end: " + ", ".join(f"{name} {1e3 * gap:.1f} mm" for name, gap in gaps))
    run_plan(client, pinch, workcell, pose="camera")
    pinched = cube(client)
    client.take_picture(copy_to=Path(output) / "pinched.png")
    carry(client, workcell, BACK)
    carried = cube(client)
    client.take_picture(copy_to=Path(output) / "carried.png")
    print(f"pinched {1e3 * pinched:.1f} mm to the left, carried back to {1e3 * carried:.1f} mm")
    return pinched, carried


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/19_pinch"), description=__doc__))
