"""First motion of a robot of your own (docs/your_robot.md): each joint goes a little way and back, the tool goes up.

python examples/24_own_robot.py --workcell my_cell.yaml --simulator mujoco    # alone, in simulated time
python examples/24_own_robot.py                                               # on the workcell that is up, over ROS
"""

import argparse
import sys
from pathlib import Path

from robot_rt_control.client import Action, Client, End
from robot_rt_control.vocabulary.errors import RobotControlError

BY = 0.1  # [rad or m]
UP = 0.05  # [m] at as much in a second
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client, picture: Path | None = None) -> bool:
    """Returns whether the arm reached everything."""
    arm = next(part for part in client.parts() if part.kind == "arm")
    here = [client.value(f"{arm.name}.position[{j}]") for j in range(len(arm.joint_names))]
    with client.session(arm.name) as session:
        session.add(
            Action("there", "move_joint", position=[q + BY for q in here]),
            Action("back", "move_joint", position=here),
            Action("up", "velocity_move", linear=[0, 0, UP]),
        )
        higher = f"{arm.name}.tool.z > {client.value(f'{arm.name}.tool.z') + UP:.4f}"
        for name, until in (("there", ""), ("back", ""), ("up", higher)):
            ending = session.follow(name, until=until).wait(PATIENCE)
            print(f"{name}: {ending.end} in tick {ending.tick} {ending.reason}".rstrip())
            if ending.end != End.REACHED:
                return False
    if picture is not None:
        print(f"picture: {client.take_picture(copy_to=picture)}")
    return True


def command_line() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workcell", metavar="FILE", help="run it alone, in simulated time")
    parser.add_argument("--simulator", default="", help="mujoco or pybullet (default: the first that is installed)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="PNG to write at the end")
    given = parser.parse_args()
    try:
        if given.workcell is None:
            with Client() as client:
                return int(not main(client, given.picture))
        from robot_rt_control.testing.lockstep_client import LockstepClient

        with LockstepClient(given.workcell, hardware="simulator", simulator=given.simulator) as client:
            return int(not main(client, given.picture))
    except RobotControlError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(command_line())
