from __future__ import annotations

import pytest

from robot_rt_control.motion.path_time import FASTEST_FALL, possible_fall


@pytest.mark.parametrize(
    ("velocity", "acceleration", "rate", "expected"),
    [
        (0.0, 5.0, 1.0, FASTEST_FALL),  # a joint that stands allows any
        (0.5, 0.0, 1.0, 4.0 / 0.5),
        (-0.5, 0.0, 1.0, 4.0 / 0.5),
        (0.5, 2.0, 1.0, 6.0 / 0.5),  # the path speeds up: its acceleration is given back
        (0.5, -2.0, 0.5, 3.5 / 0.5),  # it brakes already, at half the rate with a quarter
        (0.5, -9.0, 1.0, 0.4 / 0.5),  # a tenth is left, so that a stop ends
    ],
)
def test_the_rate_falls_as_fast_as_the_joint_can(velocity, acceleration, rate, expected):
    assert possible_fall(FASTEST_FALL, velocity, acceleration, rate, 4.0) == pytest.approx(expected)


def test_the_slowest_joint_decides():
    assert possible_fall(1.0, 0.5, 0.0, 1.0, 4.0) == 1.0
