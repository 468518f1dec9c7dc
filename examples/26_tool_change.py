"""A tool change in a program: put a tool into the rack, let go of it, take another one. Contact leads on, not places.

python examples/26_tool_change.py --lockstep    # alone, in simulated time; a few lines below play the rack
python examples/26_tool_change.py               # on the workcell that is up, over ROS, which has rack and sensors

The arm goes down with its gripper until the rack holds it, and opens the coupling. Once the sensors say that the
coupling is empty, `change_tool` tells the loop; only then does the arm leave, and its pose and weight are those of the
bare flange. In the same way it takes the driver, on the next place.
"""

import argparse
import sys

from robot_rt_control.client import Action, Client, Reaction
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

WORKCELL = "tool_change"
PLACES = {"gripper": (0.45, -0.15), "driver": (0.45, 0.15)}  # [m] x, y of the flange where the rack holds the tool
SEAT = 0.40  # [m] height of the flange, on a tool that lies in the rack
ABOVE = 0.47  # [m] from where the flange goes down
DOWN = (0.0, 1.0, 0.0, 0.0)  # the flange points down
TOUCH = 8.0  # [N] of push that count as contact
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def go(name: str, tool: str, place: str, then: str) -> Action:
    """Above a place of the rack, with the flange: the pose of another tool is asked for as if none were on."""
    reach = {"gripper": 0.12, "none": 0.0}[tool]
    position = (*PLACES[place], ABOVE - reach)
    return Action(
        name,
        "move_joint",
        parts="arm",
        tool=tool,
        tool_position=position,
        tool_orientation=DOWN,
        velocity_scale=0.3,
        reactions=[Reaction(f"{name}.is_settled", start=then)],
    )


def down(name: str, then: list[str], event: str) -> Action:
    """Down until contact; the watch tells what the tool pushes with since its zero."""
    touch = Reaction(f"watch.push > {TOUCH}", start=then, event=event)
    return Action(name, "velocity_move", parts="arm", linear=(0.0, 0.0, -0.02), reactions=[touch])


def change(name: str, tool: str, then: str) -> Action:
    """Hold until the sensors confirm the tool; within 5 s, or the program ends."""
    late = Reaction(f"{name}.timed_out", event="no_tool", stop=True)
    done = Reaction(f"{name}.is_done", start=then, event=f"{tool}_is_on")
    return Action(name, "change_tool", parts="arm", tool=tool, wait=True, time_limit=5.0, reactions=[done, late])


def up(name: str, then: str, seconds: float, event: str = "") -> Action:
    """Up from the rack."""
    leave = Reaction(f"{name}.elapsed > {seconds}", start=then, event=event)
    return Action(name, "velocity_move", parts="arm", linear=(0.0, 0.0, 0.05), reactions=[leave])


def actions() -> list[Action]:
    """The program, in the order in which its reactions go on."""
    return [
        Action("watch", "watch_tool", parts={"sensor": "wrist", "arm": "arm"}),
        Action("ready", "hold", parts="arm", reactions=[Reaction("watch.is_ready", start="to_rack")]),
        go("to_rack", "gripper", "gripper", "lower"),
        down("lower", ["let_go", "open"], "old_tool_in_rack"),
        Action("open", "set_output", parts="coupling", outputs="lock", values=[0]),
        change("let_go", "none", "rise"),
        up("rise", "settle", 1.0),
        # The zero of the force is void, as it held the gripper's weight: another one, at rest and free.
        Action(
            "settle",
            "hold",
            parts="arm",
            reactions=[
                Reaction("settle.is_holding", signal="watch.zero", name="zero"),
                Reaction("settle.elapsed > 0.5 and watch.is_ready", start="over"),
            ],
        ),
        go("over", "none", "driver", "reach"),
        down("reach", ["take", "close"], "flange_on_new_tool"),
        Action("close", "set_output", parts="coupling", outputs="lock", values=[1]),
        change("take", "driver", "lift"),
        up("lift", "done", 1.0, event="done"),
        Action("done", "hold", parts="arm"),
    ]


def main(client: Client) -> list[str]:
    """Returns the tools that were on, in their order."""
    client.enable("arm")
    seen = [next(part.tool for part in client.parts() if part.name == "arm")]
    with client.session(["arm", "wrist", "coupling"]) as session:
        session.add(*actions())
        session.start("ready", "watch")
        for _ in range(2):
            changed = session.wait_for("none_is_on" if len(seen) == 1 else "driver_is_on", timeout_s=PATIENCE)
            seen.append(next(part.tool for part in client.parts() if part.name == "arm"))
            print(f"tick {changed.tick}: {seen[-1]} is on, {client.value('arm.tool.z'):.3f} m high")
        session.wait_for("done", timeout_s=PATIENCE)
    return seen


class Rack:
    """Plays rack, coupling and wrist sensor on mock hardware, which has none. Heights are those of the flange."""

    STIFFNESS = 20e3  # [N/m]
    WEIGHTS = {"none": 0.0, "gripper": 8.8, "driver": 24.5}  # [N]

    def __init__(self, client: LockstepClient) -> None:
        self.cell, self.held = client.cell, "gripper"
        for axis in ("force.x", "force.y", "torque.x", "torque.y", "torque.z"):
            self.cell.set_sensor(f"wrist/{axis}", 0.0)
        self.cell.drive_sensor("wrist/force.z", self.force)
        self.cell.drive_sensor("coupling/gripper_on", lambda: float(self.held == "gripper"))
        self.cell.drive_sensor("coupling/driver_on", lambda: float(self.held == "driver"))
        self.cell.part("coupling").commanded_outputs[0] = 1.0  # it is closed
        self.cell.step(2)

    def force(self) -> float:
        """[N] along the sensor's z, which points down; in passing, what the coupling holds."""
        arm, lock = self.cell.part("arm"), self.cell.part("coupling").commanded_outputs[0]
        described = self.cell.workcell.part("arm")
        pose = described.tools[int(arm.tool_number)].pose
        x, y, height = arm.tool_position  # of the tool, which the loop believes to be on
        height += pose.position[2]
        x += pose.position[0]  # the flange points down, turned about y
        over = [tool for tool, place in PLACES.items() if abs(x - place[0]) < 0.02 and abs(y - place[1]) < 0.02]
        deep = max(0.0, SEAT - height) if over and (self.held in ("none", over[0])) else 0.0
        if deep > 0.0 and self.held == over[0] and lock < 0.5:
            self.held = "none"
        elif deep > 0.0 and self.held == "none" and lock > 0.5:
            self.held = over[0]
        return self.WEIGHTS[self.held] - self.STIFFNESS * deep


def command_line() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lockstep", action="store_true", help="run it alone, in simulated time")
    given = parser.parse_args()
    try:
        if given.lockstep:
            with LockstepClient(WORKCELL) as client:
                Rack(client)
                main(client)
        else:
            with Client() as client:
                main(client)
    except RobotControlError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(command_line())
