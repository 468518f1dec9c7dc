"""Exact ranges of a profile, against dense samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion import (
    acceleration_range,
    plan_position,
    plan_velocity,
    position_range,
    profile_dtype,
    velocity_range,
)

value = st.floats(-3.0, 3.0)
limit = st.floats(0.1, 20.0)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(value, value, value, value, limit, limit, limit)
def test_ranges_enclose_the_samples_tightly(sample, q0, v0, a0, q1, vmax, amax, jmax):
    profile = np.zeros(1, profile_dtype)[0]
    plan_position(profile, q0, v0, a0, q1, 0.0, vmax, amax, jmax)
    states = sample(profile, np.linspace(0.0, profile.total, 4001))
    step = profile.total / 4000.0
    slopes = (np.abs(states[:, 1]).max(), np.abs(states[:, 2]).max(), jmax)
    for column, (low, high) in enumerate(
        (position_range(profile), velocity_range(profile), acceleration_range(profile))
    ):
        sampled = states[:, column]
        slack = step * slopes[column] + 1e-9
        assert low - 1e-9 <= sampled.min() <= low + slack
        assert high + 1e-9 >= sampled.max() >= high - slack


def test_turning_point_between_the_knots():
    profile = np.zeros(1, profile_dtype)[0]
    plan_position(profile, 0.0, 1.0, 0.0, -5.0, 0.0, 10.0, 100.0, 6.0)
    # Jerk -6 from velocity 1: turns at t = sqrt(1/3), at 1 * t - t^3.
    assert position_range(profile)[1] == pytest.approx((1.0 / 3.0) ** 0.5 * (2.0 / 3.0), abs=1e-9)
    assert velocity_range(profile)[1] == 1.0


def test_a_profile_without_duration_has_one_state():
    profile = np.zeros(1, profile_dtype)[0]
    plan_velocity(profile, 2.0, 0.5, 0.0, 0.5, 1.0, 1.0)
    assert position_range(profile) == (2.0, 2.0)
    assert velocity_range(profile) == (0.5, 0.5)
    assert acceleration_range(profile) == (0.0, 0.0)
