"""Commands as motions of their parts."""

from typing import Any

import numpy as np
import pytest

from robot_rt_control.definitions.motion_command import MotionCommand, Trajectory
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.motion_group.limits import command_limits
from robot_rt_control.motion_group.move import move_of
from robot_rt_control.motion_group.plan import sequence
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.vocabulary.errors import DefinitionError

from .conftest import check_plan

HOME = np.array([0.1, 0.6, -0.2, 0.9, 0.3, 0.7, 0.0])
GOAL = HOME + [0.5, -0.3, 0.2, 0.1, -0.4, 0.2, 0.3]


def motion(part: str, **given: Any) -> MotionCommand:
    """A command, of lists and arrays."""
    return MotionCommand(part=part, **given)


@pytest.fixture(scope="module")
def parts() -> dict[str, PartFacts]:
    return {
        "left": PartFacts(sample_part(dof=7, name="left", position=HOME.tolist())),
    }


def planned(parts, before=None, **given):
    return move_of(parts["left"], motion("left", **given), before).plan(None)


def test_a_command_begins_where_the_one_before_ends(parts):
    first = move_of(parts["left"], motion("left", position=GOAL), None)
    second = move_of(
        parts["left"],
        motion("left", position=HOME, via=[GOAL - 0.2], blend=0.1, start=GOAL, duration=3.0),
        first.end,
    )
    limits = command_limits(parts["left"], motion("left"))
    whole = sequence([first.plan(None), second.plan(None)])
    check_plan(whole, HOME, HOME, limits)
    there = point_to_point(HOME, GOAL, limits).duration
    assert whole.duration == pytest.approx(there + 3.0)
    np.testing.assert_array_equal(whole.sample(np.array([there]))[0][0], GOAL)


def test_a_velocity_is_a_motion_from_point_to_point(parts):
    velocity = np.array([0.3, -0.2, 0.0, 0.1, 0.25, 0.3, -0.3])
    move = move_of(parts["left"], motion("left", velocity=velocity, time=1.5), None)
    plan = move.plan(None)
    assert plan.duration == 1.5
    np.testing.assert_allclose(plan.sample(np.array([0.75]))[1][0], velocity, atol=1e-9)
    check_plan(plan, HOME, move.end, command_limits(parts["left"], motion("left")))
    assert move.checks_start


def test_a_first_command_begins_at_its_own_start(parts):
    move = move_of(parts["left"], motion("left", position=GOAL, start=HOME + 0.5), None)
    np.testing.assert_array_equal(move.start, HOME + 0.5)
    assert move.checks_start
    assert not move_of(parts["left"], motion("left", position=GOAL), None).checks_start


def test_a_pose_is_reached(parts):
    pose = parts["left"].forward(GOAL)
    end = planned(parts, pose=pose).sample(np.array([1e9]))[0][0]
    np.testing.assert_allclose(np.concatenate(parts["left"].forward(end)), np.concatenate(pose), atol=1e-5)


def test_a_trajectory_of_poses_is_followed(parts):
    times = np.linspace(0.0, 2.0, 21)
    path = HOME + (0.5 - 0.5 * np.cos(np.pi * times / 2.0))[:, None] * (GOAL - HOME)
    poses = np.array([np.concatenate(parts["left"].forward(q)) for q in path])
    plan = planned(parts, trajectory=Trajectory(times=times, poses=poses), duration=4.0)
    assert plan.duration == 4.0
    q, _, _ = plan.sample(2.0 * times)
    np.testing.assert_allclose(np.array([np.concatenate(parts["left"].forward(x)) for x in q]), poses, atol=1e-5)


def test_a_trajectory_that_begins_beside_the_end_of_the_one_before_is_led_onto(parts):
    points = np.array([HOME + 0.01, GOAL])
    given = Trajectory(times=np.array([0.0, 2.0]), positions=points)
    plan = planned(parts, HOME, trajectory=given)
    check_plan(plan, HOME, GOAL, command_limits(parts["left"], motion("left")), jerk=False)
    on_it = planned(parts, trajectory=given)
    np.testing.assert_allclose(on_it.sample(np.array([0.25]))[0], plan.sample(np.array([0.25]))[0])
    far = Trajectory(times=np.array([0.0, 2.0]), positions=np.array([HOME + 0.3, GOAL]))
    with pytest.raises(DefinitionError, match=r"start, joint 'left_joint_1'; expected within 0\.02 of 0\.1000"):
        planned(parts, HOME, trajectory=far)
    with pytest.raises(DefinitionError, match=r"velocity of joint 'left_joint_1' to get onto it"):
        planned(parts, HOME, trajectory=far, start_tolerance=0.5)


@pytest.mark.parametrize(
    "given, text",
    [
        (
            {"position": GOAL, "duration": 0.1},
            r"motion to a position: duration; expected at least 0\.\d{6} s; got 0\.1 s",
        ),
        (
            {"position": GOAL, "via": [HOME + 0.2], "blend": 0.1, "duration": 0.1},
            r"motion through points: duration; expected at least 0\.\d{6} s; got 0\.1 s",
        ),
        ({"velocity": [0.3] * 7, "time": 0.1}, r"motion at a velocity: time; expected at least 0\.\d{6} s, to reach"),
        (
            {"pose": ([9, 0, 0], [0, 0, 0, 1])},
            r"part 'left': inverse kinematics: no joint positions found .* within reach",
        ),
    ],
)
def test_what_only_a_plan_shows_is_refused(parts, given, text):
    with pytest.raises(DefinitionError, match=text):
        planned(parts, **given)
