"""The time-optimal way to a velocity."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion import plan_velocity, profile_dtype, sample_profile
from robot_rt_control.vocabulary.enums import Status

ordinary = st.floats(-5.0, 5.0)
limit = st.floats(0.05, 50.0)
finite = st.floats(allow_nan=False, allow_infinity=False)
anything = st.floats()


def new_profile() -> np.record:
    return np.zeros(1, profile_dtype)[0]


@settings(max_examples=tries(100, whole=400), deadline=None, derandomize=True)
@given(ordinary, ordinary, ordinary, ordinary, limit, limit)
def test_laws(laws, q0, v0, a0, v1, amax, jmax):
    profile = new_profile()
    assert plan_velocity(profile, q0, v0, a0, v1, amax, jmax) == Status.OK
    laws(profile, (q0, v0, a0), None, v1, None, amax, jmax)


def test_trapezoid_of_acceleration():
    profile = new_profile()
    plan_velocity(profile, 0.0, 0.0, 0.0, 3.0, 2.0, 4.0)
    # 0.5 s up, 1 s hold, 0.5 s down; by symmetry the mean velocity is half of the end's.
    assert profile.total == pytest.approx(2.0)
    assert sample_profile(profile, 2.0) == pytest.approx((3.0, 3.0, 0.0))
    assert list(profile.jerk[:3]) == [4.0, 0.0, -4.0]


def test_triangle_of_acceleration():
    profile = new_profile()
    plan_velocity(profile, 0.0, 0.0, 0.0, 1.0, 9.0, 4.0)
    assert profile.n == 2
    assert profile.total == pytest.approx(1.0)


def test_an_acceleration_beyond_the_limit_is_first_reduced_with_full_jerk():
    profile = new_profile()
    plan_velocity(profile, 0.0, 0.0, 5.0, 10.0, 2.0, 4.0)
    assert list(profile.jerk[:3]) == [-4.0, 0.0, -4.0]
    assert sample_profile(profile, 0.75)[2] == pytest.approx(2.0)


def test_overshoot_that_cannot_be_avoided_is_the_smallest():
    profile = new_profile()
    plan_velocity(profile, 0.0, 0.0, 2.0, 0.0, 2.0, 4.0)
    highest = max(sample_profile(profile, t)[1] for t in np.linspace(0.0, profile.total, 1001))
    assert highest == pytest.approx(2.0**2 / (2.0 * 4.0), abs=1e-6)


def test_nothing_to_do_takes_no_time():
    profile = new_profile()
    assert plan_velocity(profile, 1.0, 0.5, 0.0, 0.5, 2.0, 4.0) == Status.OK
    assert (profile.n, profile.total) == (0, 0.0)
    assert sample_profile(profile, 2.0) == (2.0, 0.5, 0.0)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(ordinary, ordinary, ordinary, limit, limit, st.floats(0.0, 1.2))
def test_mirrored_input_gives_the_mirrored_motion(v0, a0, v1, amax, jmax, s):
    profile, mirror = new_profile(), new_profile()
    plan_velocity(profile, 0.0, v0, a0, v1, amax, jmax)
    plan_velocity(mirror, 0.0, -v0, -a0, -v1, amax, jmax)
    t = s * profile.total
    expected = [-x for x in sample_profile(profile, t)]
    assert sample_profile(mirror, t) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=tries(75, whole=300), deadline=None, derandomize=True)
@given(ordinary, ordinary, ordinary, limit, limit, st.floats(0.1, 0.95))
def test_lower_limits_never_make_it_faster(v0, a0, v1, amax, jmax, factor):
    fast, slow = new_profile(), new_profile()
    plan_velocity(fast, 0.0, v0, a0, v1, amax, jmax)
    plan_velocity(slow, 0.0, v0, a0, v1, amax * factor, jmax)
    assert slow.total >= fast.total * (1.0 - 1e-9)


def test_duration_is_that_of_ruckig():
    from ruckig import ControlInterface, InputParameter, Ruckig, Trajectory

    otg, motion, trajectory = Ruckig(1), InputParameter(1), Trajectory(1)
    motion.control_interface = ControlInterface.Velocity
    rng = np.random.default_rng(3)
    profile = new_profile()
    for v0, a0, v1, amax, jmax in np.c_[rng.normal(size=(2000, 3)), 10.0 ** rng.uniform(-1.0, 1.0, (2000, 2))].tolist():
        motion.current_position, motion.current_velocity, motion.current_acceleration = [0.0], [v0], [a0]
        motion.target_velocity, motion.target_acceleration = [v1], [0.0]
        motion.max_acceleration, motion.max_jerk = [amax], [jmax]
        otg.calculate(motion, trajectory)
        plan_velocity(profile, 0.0, v0, a0, v1, amax, jmax)
        assert profile.total == pytest.approx(trajectory.duration, rel=1e-6)


@pytest.mark.parametrize("amax, jmax", [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (math.inf, 1.0), (1.0, math.nan)])
def test_limits_that_are_none_are_refused(amax, jmax):
    profile = new_profile()
    assert plan_velocity(profile, 1.0, 1.0, 0.0, 0.0, amax, jmax) == Status.PLANNING_FAILED
    assert sample_profile(profile, 1.0) == (1.0, 0.0, 0.0)


@settings(max_examples=tries(125, whole=500), deadline=None, derandomize=True)
@given(anything, anything, anything, anything, anything, anything, st.floats(-1e3, 1e3))
def test_nothing_but_finite_numbers_comes_out(q0, v0, a0, v1, amax, jmax, t):
    profile = new_profile()
    status = plan_velocity(profile, q0, v0, a0, v1, amax, jmax)
    assert status in (Status.OK, Status.PLANNING_FAILED)
    if not all(map(math.isfinite, (q0, v0, a0, v1, amax, jmax))) or min(amax, jmax) <= 0.0:
        assert status == Status.PLANNING_FAILED
    assert all(map(math.isfinite, sample_profile(profile, t)))
    assert all(map(math.isfinite, sample_profile(profile, 0.5 * profile.total)))
