"""Mistakes of a command that show without a plan."""

import re

import numpy as np
import pytest

from robot_rt_control.definitions.motion_command import MotionCommand, Trajectory
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.motion_group.check import command_mistakes
from robot_rt_control.vocabulary.enums import PartKind

ARM = PartFacts(sample_part(dof=3, name="arm"))
TIMED = Trajectory(times=np.array([0.0, 1.0]), positions=np.zeros((2, 3)))
POSED = Trajectory(times=np.array([0.0, 1.0]), poses=np.zeros((2, 7)))


def texts(part: PartFacts = ARM, **given) -> list[str]:
    return [str(mistake) for mistake in command_mistakes("c", MotionCommand(part="arm", **given), part)]


@pytest.mark.parametrize(
    "given",
    [
        {"position": [0.1, 0.2, 0.3]},
        {"position": [0.1, 0.2, 0.3], "via": [[0, 0, 0]], "blend": 0.1, "duration": 5.0, "start": [0, 0, 0]},
        {"pose": ([0, 0, 0.5], [0, 0, 0, 1]), "speed": 0.01, "acceleration_percent": 1, "jerk_percent": 0.5},
        {"velocity": [0.1, 0.2, 0.3], "time": 1.0, "joint_speed": 1.5},
        {"trajectory": TIMED, "duration": 2.0},
        {"trajectory": POSED},
    ],
)
def test_a_command_that_is_right(given):
    assert texts(**given) == []


@pytest.mark.parametrize(
    "given, text",
    [
        ({}, "c: target; expected exactly one of position, pose, velocity, trajectory; got none"),
        (
            {"position": [0, 0, 0], "trajectory": TIMED},
            "c: target; expected exactly one of position, pose, velocity, trajectory; got position, trajectory",
        ),
        ({"velocity": [0, 0, 0]}, "c: time; expected velocity and time together; got only one of them"),
        ({"position": [0, 0, 0], "time": 1.0}, "c: velocity; expected velocity and time together; got only one of"),
        (
            {"velocity": [0, 0, 0], "time": 1, "duration": 1},
            "c: duration; expected `time` alone for a velocity; got both",
        ),
        ({"trajectory": TIMED, "via": [[0, 0, 0]]}, "c: via points; expected a position or a pose as target; got traj"),
        (
            {"trajectory": Trajectory(times=np.array([0.0, 1.0]))},
            "c: trajectory; expected either positions or poses; got both or none",
        ),
        (
            {"trajectory": TIMED, "jerk_percent": 50},
            "c: jerk_percent; expected none: the points of a trajectory say its jerk; got a value",
        ),
        ({"position": [0, 0]}, "c: position; expected 3 numbers, one for each joint; got 2"),
        ({"position": [0, 0, 0], "start": [0]}, "c: start; expected 3 numbers, one for each joint; got 1"),
        ({"position": [0, 0, 0], "via": [[0, 0, 0], [0]]}, "c: via point 2; expected 3 numbers, one for each joint"),
        (
            {"position": [0, 0, 0], "joint_speed": [1, 1]},
            "c: joint_speed; expected 3 numbers, one for each joint; got 2",
        ),
        (
            {"trajectory": Trajectory(times=np.array([0.0, 1.0]), positions=np.zeros((2, 2)))},
            "c: positions of the trajectory; expected 3 numbers, one for each joint; got 2",
        ),
        (
            {"position": [0, 3, 0]},
            "c: position of joint 'arm_joint_2' is outside its limits; expected -2.9000 to 2.9000; got 3.0000",
        ),
        ({"position": [0, 0, float("nan")]}, "c: position of joint 'arm_joint_3' is outside its limits; .* got nan"),
        ({"position": [0, 0, 0], "via": [[-3, 0, 0]]}, "c: via point 1 of joint 'arm_joint_1' is outside its limits"),
        ({"position": [0, 0, 0], "start": [-3, 0, 0]}, "c: start of joint 'arm_joint_1' is outside its limits"),
        (
            {"position": [0, 0, 0], "speed": 0},
            "c: speed; expected a fraction above 0, at most 1; got 0. For a speed in",
        ),
        ({"position": [0, 0, 0], "speed": 1.01}, "c: speed; expected a fraction above 0, at most 1; got 1.01"),
        ({"position": [0, 0, 0], "jerk_percent": 0}, "c: jerk_percent; expected above 0, at most 100; got 0"),
        ({"position": [0, 0, 0], "jerk_percent": 101}, "c: jerk_percent; expected above 0, at most 100; got 101"),
        (
            {"position": [0, 0, 0], "acceleration_percent": float("nan")},
            "c: acceleration_percent; .* at most 100; got nan",
        ),
        (
            {"position": [0, 0, 0], "joint_speed": [1, 1, 1.6]},
            "c: joint_speed of joint 'arm_joint_3'; expected above 0, at most 1.5; got 1.6",
        ),
        (
            {"position": [0, 0, 0], "start_tolerance": -1},
            "c: start_tolerance; expected a finite number, at least 0; got -1",
        ),
        ({"position": [0, 0, 0], "blend": float("inf")}, "c: blend; expected a finite number, at least 0; got inf"),
        ({"position": [0, 0, 0], "duration": 0}, "c: duration; expected a number of seconds above 0; got 0"),
        ({"velocity": [0, 0, 0], "time": float("inf")}, "c: time; expected a number of seconds above 0; got inf"),
    ],
)
def test_a_mistake_is_named(given, text):
    found = texts(**given)
    assert len(found) == 1
    assert re.search(text, found[0]), found[0]


def test_a_joint_speed_for_all_joints_is_compared_with_each():
    assert len(texts(position=[0, 0, 0], joint_speed=2.0)) == 3


def test_a_gripper_has_no_pose():
    gripper = PartFacts(sample_part(PartKind.GRIPPER, name="gripper", dof=1))
    gripper.description.initial_record.chain.n_joints = 0
    assert texts(gripper, pose=([0, 0, 0], [0, 0, 0, 1])) == ["c: pose; expected an arm; got a gripper without a chain"]


def test_all_mistakes_are_found_at_once():
    found = texts(position=[3, 0, 3], speed=2, jerk_percent=0, blend=-1, duration=-1)
    assert [text.split(";")[0] for text in found] == [
        "c: position of joint 'arm_joint_1' is outside its limits",
        "c: position of joint 'arm_joint_3' is outside its limits",
        "c: speed",
        "c: jerk_percent",
        "c: blend",
        "c: duration",
    ]
