"""What a command may use of the limits."""

import numpy as np
import pytest

from robot_rt_control.definitions.motion_command import MotionCommand
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.motion_group.limits import command_limits, part_limits

PART = PartFacts(sample_part(dof=3, name="arm"))  # 1.5 rad/s, 10 rad/s², 100 rad/s³


@pytest.mark.parametrize(
    "fractions, velocity, acceleration, jerk",
    [
        ({}, 1.5, 10.0, 100.0),
        ({"speed": 0.5}, 0.75, 10.0, 100.0),
        ({"acceleration_percent": 40}, 1.5, 4.0, 100.0),
        ({"jerk_percent": 10}, 1.5, 10.0, 10.0),
        ({"joint_speed": (0.2,)}, 0.2, 10.0, 100.0),
        ({"joint_speed": (0.2, 1.0, 0.75), "speed": 0.5}, [0.2, 0.75, 0.75], 10.0, 100.0),
    ],
)
def test_speed_acceleration_and_jerk_are_independent(fractions, velocity, acceleration, jerk):
    limits = command_limits(PART, MotionCommand(part="arm", **fractions))
    np.testing.assert_allclose(limits.velocity, np.broadcast_to(velocity, 3))
    np.testing.assert_allclose(limits.acceleration, acceleration)
    np.testing.assert_allclose(limits.jerk, jerk)


def test_the_range_and_the_names_are_those_of_the_part():
    limits = part_limits(PART)
    assert limits.names == ("arm_joint_1", "arm_joint_2", "arm_joint_3")
    np.testing.assert_array_equal([limits.lower, limits.upper], [[-2.9] * 3, [2.9] * 3])
