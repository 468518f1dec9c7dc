"""A motion command as data."""

import pickle

import numpy as np
import pytest

from robot_rt_control.definitions.motion_command import MotionCommand, Trajectory, points_in_time
from robot_rt_control.vocabulary.errors import DefinitionError


def test_numbers_become_plain_tuples():
    command = MotionCommand(
        part="arm",
        position=np.array([0.0, 1.0]),
        via=[np.zeros(2), [1, 2]],
        joint_speed=1,
        duration=2,
    )
    assert command.position == (0.0, 1.0)
    assert command.via == ((0.0, 0.0), (1.0, 2.0))
    assert command.joint_speed == (1.0,)
    assert isinstance(command.duration, float)
    assert pickle.loads(pickle.dumps(command)) == command
    assert {command, command} == {command}


def test_a_pose_has_a_position_and_an_orientation():
    pose = (np.zeros(3), [0, 0, 0, 1])
    assert MotionCommand(part="arm", pose=pose).pose == ((0.0,) * 3, (0.0, 0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    "given, text",
    [
        ({"part": "no name!"}, "part of a motion command"),
        ({"position": "0 0"}, "motion command of 'arm': position; expected a list of numbers; got '0 0'"),
        ({"position": []}, "motion command of 'arm': position; expected a list of numbers"),
        ({"velocity": [0.0, "x"]}, "motion command of 'arm': velocity; expected a number; got 'x'"),
        ({"via": [[0.0], [None]]}, "motion command of 'arm': via point 2; expected a number; got None"),
        ({"pose": [[0, 0, 0]]}, r"motion command of 'arm': pose; expected position \(3 numbers\) and orientation"),
        ({"pose": [[0, 0], [0, 0, 0, 1]]}, "motion command of 'arm': position of the tool; expected 3 numbers; got 2"),
        ({"speed": True}, "motion command of 'arm': speed; expected a number; got True"),
        ({"trajectory": [0.0]}, "motion command of 'arm': trajectory; expected a Trajectory; got"),
    ],
)
def test_other_shapes_are_refused(given, text):
    with pytest.raises(DefinitionError, match=text):
        MotionCommand(**{"part": "arm", **given})


def test_a_trajectory_keeps_its_own_read_only_arrays():
    positions = np.zeros((2, 3))
    trajectory = Trajectory(times=[0, 1], positions=positions)  # type: ignore[arg-type]
    positions[:] = 1.0
    assert trajectory.positions is not None and not trajectory.positions.any()
    with pytest.raises(ValueError, match="read-only"):
        trajectory.positions[0] = 1.0
    again = pickle.loads(pickle.dumps(trajectory))
    assert again == trajectory and hash(again) == hash(trajectory)
    assert trajectory != Trajectory(times=trajectory.times, positions=positions)
    assert trajectory != Trajectory(times=trajectory.times)


def test_lists_of_numbers_are_points_in_time():
    given = {"positions": np.arange(6.0), "velocities": np.zeros(0), "accelerations": np.arange(8.0)}
    points = points_in_time("number of ", 3, given)
    assert {name: array.shape for name, array in points.items()} == {"positions": (3, 2), "accelerations": (4, 2)}
    trajectory = Trajectory(times=np.arange(3.0), **points)
    assert trajectory.accelerations is not None and trajectory.accelerations.shape == (4, 2)
    for wrong in ({"positions": np.zeros(7)}, {"positions": np.zeros(6), "accelerations": np.zeros(7)}):
        with pytest.raises(DefinitionError, match=r"number of \w+; expected a multiple of 3, .*; got 7"):
            points_in_time("number of ", 3, wrong)


@pytest.mark.parametrize(
    "given, text",
    [
        ({"times": []}, "times of a trajectory; expected numbers, n; got 0"),
        ({"times": 1.0}, "times of a trajectory; expected numbers, n; got one"),
        ({"positions": [[0, 0]]}, "positions of a trajectory of 2 points; expected numbers, 2 x n; got 1 x 2"),
        ({"velocities": [0, 0]}, "velocities of a trajectory of 2 points; expected numbers, 2 x n; got 2"),
        ({"poses": np.zeros((2, 6))}, "poses of a trajectory of 2 points; expected numbers, 2 x 7; got 2 x 6"),
        ({"positions": [["a"], ["b"]]}, "positions of a trajectory of 2 points; expected numbers, 2 x n; got could"),
    ],
)
def test_a_trajectory_of_another_shape_is_refused(given, text):
    with pytest.raises(DefinitionError, match=text):
        Trajectory(**{"times": [0.0, 1.0], **given})
