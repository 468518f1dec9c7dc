"""Several joints that arrive together."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion import (
    plan_position,
    plan_position_in,
    plan_position_synchronized,
    plan_stop,
    profile_dtype,
    sample_profile,
)
from robot_rt_control.vocabulary.enums import Status

N = 4
signed = st.lists(st.floats(-2.0, 2.0), min_size=N, max_size=N).map(np.array)
fractions = st.lists(st.floats(-1.2, 1.2), min_size=N, max_size=N).map(np.array)
limits = st.lists(st.floats(-1.0, 1.2).map(lambda x: 10.0**x), min_size=N, max_size=N).map(np.array)


def new_profiles() -> np.ndarray:
    return np.zeros(N, profile_dtype)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(signed, fractions, fractions, signed, limits, limits, limits)
def test_laws_and_arriving_together(laws, q0, v0, a0, q1, vmax, amax, jmax):
    v0, a0 = v0 * vmax, a0 * amax
    profiles, single = new_profiles(), np.zeros(1, profile_dtype)[0]
    assert plan_position_synchronized(profiles, N, q0, v0, a0, q1, vmax, amax, jmax) == Status.OK
    slowest = 0.0
    for j in range(N):
        laws(profiles[j], (q0[j], v0[j], a0[j]), q1[j], 0.0, vmax[j], amax[j], jmax[j])
        plan_position(single, q0[j], v0[j], a0[j], q1[j], 0.0, vmax[j], amax[j], jmax[j])
        slowest = max(slowest, single.total)
        if profiles[j].total < slowest:
            # Free to finish early only if braking now meets the target.
            assert profiles[j].total == single.total
    assert profiles["total"].max() == slowest
    resting = (q0 == q1) & (v0 == 0.0) & (a0 == 0.0)
    together = profiles["total"] == slowest
    braking_meets_target = np.array([p.n <= 3 for p in profiles])
    assert np.all(together | resting | braking_meets_target)


def test_from_rest_all_joints_take_the_time_of_the_slowest():
    profiles = new_profiles()
    q1 = np.array([1.0, -0.5, 0.01, 1e-9])
    one = np.ones(N)
    plan_position_synchronized(profiles, N, 0.0 * one, 0.0 * one, 0.0 * one, q1, one, 2.0 * one, 5.0 * one)
    assert list(profiles["total"]) == [profiles[0].total] * N
    assert profiles[0].total == pytest.approx(1.9)
    for j in range(N):
        q, dq, _ = sample_profile(profiles[j], 0.95)
        assert q == pytest.approx(0.5 * q1[j], rel=1e-6)
        assert dq * q1[j] > 0.0


def test_a_joint_that_moves_away_is_stretched_too():
    profiles = new_profiles()
    one = np.ones(N)
    v0 = np.array([0.0, -0.8, 0.9, 0.9])
    a0 = np.array([0.0, -1.0, 1.0, -1.5])
    q1 = np.array([5.0, 0.5, 0.1, 0.35])
    plan_position_synchronized(profiles, N, 0.0 * one, v0, a0, q1, one, 2.0 * one, 5.0 * one)
    assert list(profiles["total"]) == [profiles[0].total] * N


def test_a_joint_that_only_brakes_to_its_target_arrives_early():
    profiles, stop = new_profiles(), np.zeros(1, profile_dtype)[0]
    one = np.ones(N)
    plan_stop(stop, 0.0, 0.8, 0.0, 2.0, 5.0)
    v0 = np.array([0.0, 0.8, 0.0, 0.0])
    q1 = np.array([3.0, stop.end_position, 0.0, 0.0])
    plan_position_synchronized(profiles, N, 0.0 * one, v0, 0.0 * one, q1, one, 2.0 * one, 5.0 * one)
    assert profiles[1].total == stop.total < profiles[0].total


def test_only_the_first_n_are_planned():
    profiles = new_profiles()
    one = np.ones(16)
    assert plan_position_synchronized(profiles, 2, one, 0 * one, 0 * one, 2 * one, one, one, one) == Status.OK
    assert profiles[1].total > 0.0
    assert profiles[2:].tobytes() == bytes(profiles[2:].nbytes)


def test_one_bad_joint_is_reported_and_rests():
    profiles = new_profiles()
    one = np.ones(N)
    q1 = np.array([1.0, math.nan, 2.0, 3.0])
    status = plan_position_synchronized(profiles, N, 0 * one, 0 * one, 0 * one, q1, one, one, one)
    assert status == Status.PLANNING_FAILED
    assert sample_profile(profiles[1], 1.0) == (0.0, 0.0, 0.0)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(*[st.lists(st.floats(), min_size=N, max_size=N).map(np.array)] * 7, st.floats(-1e3, 1e3))
def test_nothing_but_finite_numbers_comes_out(q0, v0, a0, q1, vmax, amax, jmax, t):
    profiles = new_profiles()
    status = plan_position_synchronized(profiles, N, q0, v0, a0, q1, vmax, amax, jmax)
    assert status in (Status.OK, Status.PLANNING_FAILED)
    for j in range(N):
        assert all(map(math.isfinite, sample_profile(profiles[j], t)))


magnitudes = st.lists(st.floats(-30.0, 30.0).map(lambda x: 10.0**x), min_size=N, max_size=N).map(np.array)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(*[magnitudes] * 6)
def test_any_magnitude_is_planned_or_refused(v0, a0, q1, vmax, amax, jmax):
    profiles = new_profiles()
    status = plan_position_synchronized(profiles, N, np.zeros(N), -v0, a0, q1, vmax, amax, jmax)
    for j in range(N):
        for s in np.linspace(0.0, 1.1, 12):
            assert all(map(math.isfinite, sample_profile(profiles[j], s * profiles[j].total)))
        if status == Status.OK:
            assert sample_profile(profiles[j], profiles[j].total) == (q1[j], 0.0, 0.0)


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(signed, signed, limits, limits, limits, st.floats(1.0, 30.0))
def test_all_arrive_at_a_later_time(laws, q0, q1, vmax, amax, jmax, factor):
    profiles, zero = new_profiles(), np.zeros(N)
    plan_position_synchronized(profiles, N, q0, zero, zero, q1, vmax, amax, jmax)
    later = factor * profiles["total"].max()
    assert plan_position_in(profiles, N, q0, zero, zero, q1, vmax, amax, jmax, later) == Status.OK
    for j in range(N):
        laws(profiles[j], (q0[j], 0.0, 0.0), q1[j], 0.0, vmax[j], amax[j], jmax[j])
        assert profiles[j].total == (0.0 if q0[j] == q1[j] else later)
