from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.controllers.trajectory.options import read_options
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

ARM = load_workcell(Path("config/iiwa.yaml"), "mock").part("arm")


def test_they_have_the_names_of_joint_trajectory_controller() -> None:
    joint = ARM.joint_names[2]
    constraints = {"goal_time": 0.5, "stopped_velocity_tolerance": 0.02, joint: {"trajectory": 0.05, "goal": 0.03}}
    given = {"joints": list(reversed(ARM.joint_names)), "constraints": constraints, "command_interfaces": ["position"]}
    options = read_options("c", given, ARM)
    assert options.constraints.goal_time == 0.5 and options.constraints.joints[joint].goal == 0.03
    assert read_options("c", {}, ARM).constraints.joints == {}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"allow_partial_joint_goal": True}, "c: .*allow_partial_joint_goal"),
        ({"constraints": {"elbow": {"goal": 0.1}}}, "c: constraints of 'elbow'; expected"),
        ({"constraints": {"goal_time": -1.0}}, "goal_time"),
        ({"constraints": {"lbr_iiwa_joint_1": {"gaol": 0.1}}}, "gaol"),
        ({"command_interfaces": ["velocity"]}, "command_interfaces"),
        ({"joints": ["lbr_iiwa_joint_1"]}, "c: joints; expected all of part 'arm': lbr_iiwa_joint_1, .*; got lbr"),
    ],
)
def test_a_wrong_one_is_named(given: dict[str, Any], text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        read_options("c", given, ARM)
