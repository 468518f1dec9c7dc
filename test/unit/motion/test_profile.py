"""Sampling a profile, and its progress."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.motion import (
    MAX_SEGMENTS,
    plan_position,
    plan_velocity,
    profile_dtype,
    progress,
    sample_profile,
)
from robot_rt_control.motion.profile import append_segment, begin_profile, finish_profile
from robot_rt_control.vocabulary.enums import Status


@pytest.fixture
def profile() -> np.record:
    return np.zeros(1, profile_dtype)[0]


def test_an_empty_profile_rests_at_zero(profile):
    assert sample_profile(profile, 0.5) == (0.0, 0.0, 0.0)
    assert progress(profile, 0.5) == 1.0


def test_samples_agree_with_the_hand_calculation(profile):
    # 0 to 1.0 with vmax 10, amax 10, jmax 32: four equal pieces of (1 / (2 * 32)) ** (1 / 3) = 0.25 s.
    plan_position(profile, 0.0, 0.0, 0.0, 1.0, 0.0, 10.0, 10.0, 32.0)
    assert profile.total == pytest.approx(1.0, abs=1e-12)
    assert sample_profile(profile, 0.25) == pytest.approx((32.0 * 0.25**3 / 6.0, 1.0, 8.0), abs=1e-11)
    assert sample_profile(profile, 0.5) == pytest.approx((0.5, 2.0, 0.0), abs=1e-11)
    assert sample_profile(profile, 0.75) == pytest.approx((1.0 - 32.0 * 0.25**3 / 6.0, 1.0, -8.0), abs=1e-11)
    assert sample_profile(profile, 1.0) == pytest.approx((1.0, 0.0, 0.0), abs=1e-11)


def test_before_the_start_the_start_state_holds(profile):
    plan_position(profile, 0.3, 0.1, 0.2, 1.0, 0.0, 1.0, 2.0, 5.0)
    for t in (-math.inf, -1.0, 0.0, math.nan):
        assert sample_profile(profile, t) == (0.3, 0.1, 0.2)


def test_after_the_end_a_position_target_rests(profile):
    plan_position(profile, 0.3, 0.1, 0.2, 1.0, 0.0, 1.0, 2.0, 5.0)
    for t in (profile.total, profile.total + 1.0, math.inf):
        assert sample_profile(profile, t) == (1.0, 0.0, 0.0)


def test_after_the_end_a_velocity_target_goes_on(profile):
    plan_velocity(profile, 0.0, 0.0, 0.0, 0.5, 2.0, 5.0)
    q_end, _, _ = sample_profile(profile, profile.total)
    assert sample_profile(profile, profile.total + 2.0) == pytest.approx((q_end + 1.0, 0.5, 0.0))


def test_sampling_with_a_scaled_clock_is_the_same_path_at_scaled_speed(profile):
    plan_position(profile, 0.0, 0.2, -0.4, 1.0, 0.0, 1.0, 2.0, 5.0)
    scale, h = 0.3, 1e-5
    for t in np.linspace(0.01, profile.total / scale - 0.01, 50):
        before, after = sample_profile(profile, scale * (t - h))[0], sample_profile(profile, scale * (t + h))[0]
        assert (after - before) / (2.0 * h) == pytest.approx(scale * sample_profile(profile, scale * t)[1], abs=1e-8)


@settings(deadline=None, derandomize=True)
@given(st.floats(-3.0, 3.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_progress_grows_from_0_to_1(q1, s, t):
    profile = np.zeros(1, profile_dtype)[0]
    plan_position(profile, 0.0, 0.3, 0.1, q1, 0.0, 1.0, 2.0, 5.0)
    low, high = sorted((s * profile.total, t * profile.total))
    assert 0.0 <= progress(profile, low) <= progress(profile, high) <= 1.0
    assert progress(profile, -1.0) == 0.0
    assert progress(profile, profile.total) == progress(profile, math.inf) == 1.0
    assert progress(profile, math.nan) == 0.0


def test_segments_of_equal_jerk_merge_and_empty_ones_vanish(profile):
    begin_profile(profile, 0.0, 0.0, 0.0)
    append_segment(profile, 0.0, 0.0, 0.0, 2.0, 0.25)
    append_segment(profile, 0.0, 0.0, 0.0, 3.0, 0.0)
    append_segment(profile, 0.1, 0.1, 0.5, 2.0, 0.5)
    assert (profile.n, profile.duration[0], profile.total) == (1, 0.75, 0.75)


def test_more_segments_than_fit_do_not_write_beyond_the_record():
    profiles = np.zeros(2, profile_dtype)
    for i in range(MAX_SEGMENTS + 3):
        append_segment(profiles[0], 0.0, 0.0, 0.0, float(i), 1.0)
    assert profiles[0].n == MAX_SEGMENTS
    assert profiles[1] == np.zeros(1, profile_dtype)[0]


@pytest.mark.parametrize("end", [math.nan, math.inf, 1e200])
def test_a_profile_that_cannot_be_sampled_is_rejected_and_rests(profile, end):
    begin_profile(profile, 0.7, 0.1, 0.0)
    append_segment(profile, 0.0, 0.1, 0.0, 1.0, 1.0)
    assert finish_profile(profile, end, 0.0) == Status.PLANNING_FAILED
    assert sample_profile(profile, 0.5) == (0.7, 0.0, 0.0)
