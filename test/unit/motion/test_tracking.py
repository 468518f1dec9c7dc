"""Following a moving goal: limits on random goals, and how well smooth ones are followed."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import come_to_rest, speed_before_stop, stops_inside, track
from robot_rt_control.testing.interpreted_tick import interpreted

DT = 1e-3
VMAX, AMAX, JMAX = 1.5, 6.0, 60.0


@numba.njit
def run(goals, velocities, q, low, high, horizon, out):
    """States (n, 3) of a joint that starts at rest at q."""
    profile = np.zeros(1, profile_dtype)[0]
    v = a = 0.0
    for i in range(len(goals)):
        q, v, a, status = track(profile, q, v, a, goals[i], velocities[i], low, high, VMAX, AMAX, JMAX, horizon, DT)
        if status != 0:
            return status
        out[i, 0], out[i, 1], out[i, 2] = q, v, a
    return 0


def follow(goals, velocities, *, start=0.0, low=-np.inf, high=np.inf, horizon=0.05):
    out = np.zeros((len(goals), 3))
    assert run(np.asarray(goals, float), np.asarray(velocities, float), start, low, high, horizon, out) == 0
    return out


def check_limits(out, start=0.0):
    positions = np.concatenate([np.full(3, start), out[:, 0]])
    for order, limit in ((1, VMAX), (2, AMAX), (3, JMAX)):
        assert np.abs(np.diff(positions, order)).max() / DT**order <= limit * (1 + 1e-4) + 1e-5, order


goals_and_rates = st.lists(
    st.tuples(st.floats(-3.0, 3.0), st.floats(-4.0, 4.0), st.integers(1, 150)), min_size=1, max_size=12
)


@settings(max_examples=tries(15, whole=60), deadline=None)
@given(goals_and_rates, st.booleans(), st.sampled_from([0.01, 0.05, 0.3]))
def test_limits_and_range_are_kept_whatever_the_goal_does(pieces, moving, horizon):
    goals, rates = [], []
    for goal, rate, ticks in pieces:
        for k in range(ticks):
            goals.append(goal + (rate * k * DT if moving else 0.0))
            rates.append(rate)
    out = follow(goals, rates, low=-1.0, high=0.8, horizon=horizon)
    assert np.isfinite(out).all()
    check_limits(out)
    assert out[:, 0].min() >= -1.0 - 1e-9 and out[:, 0].max() <= 0.8 + 1e-9


def test_a_goal_that_stands_still_is_reached_and_kept():
    out = follow(np.full(3000, 1.0), np.zeros(3000))
    check_limits(out)
    np.testing.assert_allclose(out[1500:], [[1.0, 0.0, 0.0]] * 1500, atol=1e-9)
    assert out[:, 0].max() < 1.0 + 1e-5, "no overshoot"


def test_a_goal_of_constant_velocity_is_met_without_a_lag():
    t = np.arange(1, 4001) * DT
    out = follow(0.5 + 0.3 * t, np.full(4000, 0.3))
    check_limits(out)
    np.testing.assert_allclose(out[2000:, 0], 0.5 + 0.3 * t[2000:], atol=1e-7)


@pytest.mark.parametrize("horizon", [0.02, 0.05, 0.1])
def test_a_smooth_goal_is_followed_as_close_as_the_horizon_says(horizon):
    t = np.arange(1, 6001) * DT
    w, amplitude = 2 * np.pi * 0.5, 0.3
    out = follow(amplitude * np.sin(w * t), amplitude * w * np.cos(w * t), horizon=horizon)
    check_limits(out)
    bound = 0.15 * horizon**2 * amplitude * w**2
    assert np.abs(out[2500:, 0] - amplitude * np.sin(w * t[2500:])).max() < 1.2 * bound


def test_from_outside_its_range_it_comes_back_in():
    out = follow(np.full(2000, 0.0), np.zeros(2000), start=1.2, low=-1.0, high=1.0)
    check_limits(out, start=1.2)
    assert out[:, 0].max() <= 1.2 + 1e-12 and abs(out[-1, 0]) < 1e-6


def test_without_time_the_state_stays():
    profile = np.zeros(1, profile_dtype)[0]
    state = (0.3, 0.2, -1.0)
    assert track(profile, *state, 1.0, 0.0, -9.0, 9.0, VMAX, AMAX, JMAX, 0.05, 0.0) == (*state, 0)
    assert come_to_rest(profile, *state, AMAX, JMAX, 0.0) == (*state, 0)


def test_a_goal_that_is_no_number_is_refused_and_the_state_stays():
    profile = np.zeros(1, profile_dtype)[0]
    *state, status = track(profile, 0.3, 0.2, -1.0, math.nan, 0.0, -9.0, 9.0, VMAX, AMAX, JMAX, 0.05, DT)
    assert status != 0 and state == [0.3, 0.2, -1.0]


def test_it_comes_to_rest():
    profile = np.zeros(1, profile_dtype)[0]
    q, v, a = 0.0, 1.2, 3.0
    positions = [-v * DT, q]
    for _ in range(800):
        q, v, a, status = come_to_rest(profile, q, v, a, AMAX, JMAX, DT)
        assert status == 0
        positions.append(q)
    assert abs(v) < 1e-12 and abs(a) < 1e-9
    assert np.abs(np.diff(positions[1:], 3)).max() / DT**3 <= JMAX * (1 + 1e-4)


@settings(max_examples=tries(15, whole=50), deadline=None)
@given(st.floats(0.0, 3.0))
def test_speed_before_stop_is_what_a_stop_takes(distance):
    v = speed_before_stop(distance, AMAX, JMAX)
    profile = np.zeros(1, profile_dtype)[0]
    assert stops_inside(profile, 0.0, v * (1 - 1e-9), 0.0, -1.0, distance + 1e-9, AMAX, JMAX)
    if v > AMAX**2 / JMAX:  # below, the full acceleration is not reached and a stop takes less
        assert not stops_inside(profile, 0.0, v * 1.01, 0.0, -1.0, distance, AMAX, JMAX)


def test_compiled_equals_interpreted():
    twin = interpreted("robot_rt_control.motion.tracking")
    random = np.random.default_rng(5)
    profile, other = np.zeros(2, profile_dtype)
    for _ in range(300):
        q, v, a = random.uniform([-1, -1.5, -6], [1, 1.5, 6])
        arguments = (q, v, a, random.uniform(-1, 1), random.uniform(-1, 1), -1.1, 1.1, VMAX, AMAX, JMAX, 0.05, DT)
        np.testing.assert_allclose(twin.track(other, *arguments), track(profile, *arguments), rtol=0, atol=1e-12)
