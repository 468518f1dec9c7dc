"""Real-time code in C++: the functions of 25_c_action.cpp run in every tick (docs/c_actions.md).

./run shell python examples/25_c_action.py          # alone, in the harness
./run shell python examples/25_c_action.py --ros    # on the workcell that is up, over ROS
"""

import argparse
import math
import sys

from robot_rt_control.actions.authoring import PER_JOINT, ActionType, DefinitionError, Parameter, PartKind, Slot
from robot_rt_control.actions.authoring import StateVariable as Variable
from robot_rt_control.client import Action, Client
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.vocabulary.errors import RobotControlError

JOINT, ANGLE = 3, 0.2  # [rad]


class Sway(ActionType):
    """One joint sways about where it is: the swings grow in the first period, and fade in the last. From rest."""

    name = "sway"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (
        Parameter(name="joint", type="int", default=JOINT, minimum=0, maximum=PER_JOINT - 1, description="Which."),
        Parameter(name="angle", unit="rad", default=ANGLE, minimum=0.0, maximum=1.0, description="Largest swing."),
        Parameter(name="period", unit="s", default=2.0, minimum=0.2, maximum=100.0, description="Of one swing."),
        Parameter(name="count", type="int", default=3, minimum=2, maximum=1000, description="Number of periods."),
    )
    state_variables = (
        Variable(name="elapsed", unit="s", description="Time since the start."),
        Variable(name="offset", unit="rad", description="Of the joint from where it was."),
        Variable(name="is_done", type="bool", description="All periods are over."),
    )
    State = {"center": (float, PER_JOINT)}
    realtime_source = "25_c_action.cpp"

    def prepare_parameters(self, values, params):
        arm, joint = self.parts["arm"], int(values["joint"])
        if joint >= arm.dof:
            raise DefinitionError("parameter 'joint'", expected=f"0 to {arm.dof - 1}", got=str(joint))
        fastest = 2.0 * math.pi * values["angle"] / values["period"]
        if fastest > (limit := arm.limits("velocity_limit")[joint]):
            raise DefinitionError("sway", expected=f"at most {limit:.3g} rad/s", got=f"{fastest:.3g} rad/s")
        super().prepare_parameters(values, params)


def alone() -> None:
    harness = ActionHarness(Sway, compiled=True)
    harness.start()
    highest = 0.0
    while not harness.state.is_done:
        if harness.step() != 0:
            raise RobotControlError(f"sway failed with status {harness.status}")
        highest = max(highest, harness.part("arm").commanded_position[JOINT])
    print(f"after {harness.state.elapsed:.1f} s joint {JOINT} has swayed up to {highest:.3f} rad")


def main(client: Client) -> bool:
    """Returns whether the arm did all swings."""
    with client.session("arm") as session:
        session.add(Action("sway", Sway))
        ending = session.follow("sway", until="sway.is_done").wait(300.0)
    print(f"sway: {ending.end} in tick {ending.tick} {ending.reason}".rstrip())
    return ending.end == "reached"


def command_line() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ros", action="store_true", help="on the workcell that is up, over ROS")
    try:
        if not parser.parse_args().ros:
            alone()
            return 0
        with Client() as client:
            return int(not main(client))
    except RobotControlError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(command_line())
