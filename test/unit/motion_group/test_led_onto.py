"""A plan that takes up a start beside its own."""

import numpy as np
import pytest

from robot_rt_control.motion_group.led_onto import led_onto
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.motion_group.trajectory import trajectory
from robot_rt_control.vocabulary.errors import DefinitionError

from .conftest import check_plan

POINTS = np.array([[0.0, 0.0, 0.0], [1.0, -0.5, 0.2]])


def test_the_difference_vanishes_smoothly_within_the_limits(limits):
    plan = trajectory([0.0, 2.0], POINTS, limits=limits)
    start = np.array([0.02, -0.02, 0.01])
    led = led_onto(plan, start, limits)
    check_plan(led, start, POINTS[-1], limits, jerk=False)
    t = np.linspace(0.25, 2.0, 50)
    for ours, theirs in zip(led.sample(t), plan.sample(t), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    _, v, a = led.sample(np.linspace(0.0, 0.25, 1001))
    np.testing.assert_allclose(np.diff(v, axis=0), 0.25e-3 * (a[1:] + a[:-1]) / 2.0, atol=1e-6)


def test_a_difference_that_needs_more_than_the_limits_is_refused(limits):
    plan = point_to_point(POINTS[0], POINTS[1], limits)
    with pytest.raises(
        DefinitionError,
        match=r"start beside the first point of the trajectory: velocity of joint 'joint_2' to get onto it; "
        r"expected at most 1\.5000; got .*\. Begin nearer to the first point, or more slowly",
    ):
        led_onto(plan, np.array([0.0, 0.3, 0.0]), limits)
