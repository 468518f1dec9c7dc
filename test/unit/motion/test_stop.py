"""Stopping, alone and together."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion import plan_stop, plan_stop_synchronized, profile_dtype, sample_profile
from robot_rt_control.motion import synchronize as synchronize_module
from robot_rt_control.vocabulary.enums import Status

N = 4
signed = st.lists(st.floats(-3.0, 3.0), min_size=N, max_size=N).map(np.array)
limits = st.lists(st.floats(-1.0, 1.5).map(lambda x: 10.0**x), min_size=N, max_size=N).map(np.array)


def new_profiles() -> np.ndarray:
    return np.zeros(N, profile_dtype)


def test_a_stop_comes_to_rest(laws):
    profile = np.zeros(1, profile_dtype)[0]
    assert plan_stop(profile, 1.0, 0.8, 0.5, 2.0, 10.0) == Status.OK
    laws(profile, (1.0, 0.8, 0.5), None, 0.0, None, 2.0, 10.0)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(signed, signed, signed, limits, limits)
def test_laws(laws, q0, v0, a0, amax, jmax):
    profiles = new_profiles()
    assert plan_stop_synchronized(profiles, N, q0, v0, a0, amax, jmax) == Status.OK
    for j in range(N):
        laws(profiles[j], (q0[j], v0[j], a0[j]), None, 0.0, None, amax[j], jmax[j])


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(signed, signed, limits, limits)
@example(np.array([0.0, 0.0, 0.125, 5e-324]), np.zeros(N), np.ones(N), np.ones(N))
def test_all_are_at_rest_when_the_slowest_is(v0, a0, amax, jmax):
    profiles, single = new_profiles(), np.zeros(1, profile_dtype)[0]
    plan_stop_synchronized(profiles, N, np.zeros(N), v0, a0, amax, jmax)
    slowest = 0.0
    for j in range(N):
        plan_stop(single, 0.0, v0[j], a0[j], amax[j], jmax[j])
        slowest = max(slowest, single.total)
    assert profiles["total"].max() == slowest
    for j in range(N):
        released = v0[j] + a0[j] * abs(a0[j]) / (2.0 * jmax[j])
        if abs(released) > 1e-9:
            assert profiles[j].total == slowest
        else:
            assert profiles[j].total <= slowest


def test_a_joint_at_rest_stays():
    profiles = new_profiles()
    v0 = np.array([1.0, 0.0, 0.2, -0.5])
    plan_stop_synchronized(profiles, N, np.arange(4.0), v0, np.zeros(N), np.ones(N), np.ones(N))
    assert profiles[1].total == 0.0
    assert sample_profile(profiles[1], 0.5) == (1.0, 0.0, 0.0)
    assert profiles[3].total == pytest.approx(profiles[0].total)


def test_the_faster_joint_brakes_more_gently():
    profiles = new_profiles()
    v0 = np.array([1.0, 0.1, 0.0, 0.0])
    plan_stop_synchronized(profiles, N, np.zeros(N), v0, np.zeros(N), np.full(N, 2.0), np.full(N, 10.0))
    gentle = [sample_profile(profiles[1], t)[2] for t in np.linspace(0.0, profiles[1].total, 200)]
    assert -0.2 < min(gentle) < 0.0


def test_the_synchronizing_module_offers_the_stops_too():
    assert synchronize_module.plan_stop is plan_stop
    assert synchronize_module.plan_stop_synchronized is plan_stop_synchronized


def test_one_bad_joint_is_reported_and_the_others_still_stop():
    profiles = new_profiles()
    amax = np.array([1.0, 0.0, 1.0, 1.0])
    status = plan_stop_synchronized(profiles, N, np.zeros(N), np.ones(N), np.zeros(N), amax, np.ones(N))
    assert status == Status.PLANNING_FAILED
    assert profiles[1].total == 0.0
    assert profiles[2].total == pytest.approx(2.0)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(*[st.lists(st.floats(), min_size=N, max_size=N).map(np.array)] * 5, st.floats(-1e3, 1e3))
def test_nothing_but_finite_numbers_comes_out(q0, v0, a0, amax, jmax, t):
    profiles = new_profiles()
    assert plan_stop_synchronized(profiles, N, q0, v0, a0, amax, jmax) in (Status.OK, Status.PLANNING_FAILED)
    for j in range(N):
        assert all(map(math.isfinite, sample_profile(profiles[j], t)))
