"""To a position, and at a velocity for a time."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruckig import InputParameter, Ruckig
from ruckig import Trajectory as RuckigTrajectory
from samples import tries

from robot_rt_control.motion import plan_position_synchronized, profile_dtype, sample_profile
from robot_rt_control.motion_group.point_to_point import point_to_point, velocity_for_time
from robot_rt_control.vocabulary.errors import DefinitionError

from .conftest import any_limits, check_plan, joint_limits, positions


def shortest_in(error: DefinitionError) -> float:
    """The duration that an error names."""
    found = re.search(r"at least ([0-9.]+) s", error.expected)
    assert found, error
    return float(found[1])


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(positions(), positions(), any_limits())
def test_limits_hold_and_ends_are_exact(start, goal, limits):
    check_plan(point_to_point(start, goal, limits), start, goal, limits)


def test_to_the_bit_what_the_loop_plans_and_samples():
    rng = np.random.default_rng(1)
    start, goal = rng.uniform(-2, 2, (2, 3))
    limits = joint_limits([1.0, 2.0, 0.5], [5.0, 4.0, 9.0], [50.0, 20.0, 90.0])
    plan = point_to_point(start, goal, limits)
    profiles, zero = np.zeros(3, profile_dtype), np.zeros(3)
    plan_position_synchronized(profiles, 3, start, zero, zero, goal, limits.velocity, limits.acceleration, limits.jerk)
    times = np.arange(0.0, plan.duration + 0.01, 0.001)
    loop = np.array([[sample_profile(profiles[j], t) for j in range(3)] for t in times])
    for ours, theirs in zip(plan.sample(times), np.moveaxis(loop, 2, 0), strict=True):
        assert ours.tobytes() == theirs.tobytes()
    # one at a time, as a loop asks, is the same
    assert plan.sample(times[7:8])[0].tobytes() == plan.sample(times)[0][7:8].tobytes()


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(positions(), positions(), any_limits())
def test_as_fast_as_ruckig(start, goal, limits):
    ruckig, given_, found = Ruckig(3), InputParameter(3), RuckigTrajectory(3)
    given_.current_position, given_.target_position = start.tolist(), goal.tolist()
    given_.max_velocity, given_.max_acceleration = limits.velocity.tolist(), limits.acceleration.tolist()
    given_.max_jerk = limits.jerk.tolist()
    ruckig.calculate(given_, found)
    assert point_to_point(start, goal, limits).duration == pytest.approx(found.duration, rel=1e-6, abs=1e-6)


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(positions(), positions(), any_limits(), st.floats(1.0, 20.0))
def test_a_longer_duration_is_kept_exactly(start, goal, limits, factor):
    shortest = point_to_point(start, goal, limits)
    plan = point_to_point(start, goal, limits, shortest.duration * factor)
    assert plan.duration == shortest.duration * factor
    check_plan(plan, start, goal, limits)


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(positions(), positions(), any_limits())
def test_the_shortest_duration_that_an_error_names_is_enough(start, goal, limits):
    if point_to_point(start, goal, limits).duration < 1e-6:
        return
    with pytest.raises(DefinitionError, match=r"motion to a position: duration; expected at least") as refused:
        point_to_point(start, goal, limits, 0.0)
    shortest = shortest_in(refused.value)
    assert point_to_point(start, goal, limits, shortest).duration == shortest
    with pytest.raises(DefinitionError):
        point_to_point(start, goal, limits, 0.99 * (shortest - 1e-6))


@pytest.mark.parametrize("duration", [float("nan"), float("inf"), -1.0])
def test_a_duration_that_is_none_is_refused(limits, duration):
    with pytest.raises(DefinitionError, match=rf"motion to a position: duration; .*got {duration:g} s"):
        point_to_point(np.zeros(3), np.ones(3), limits, duration)


def test_a_goal_that_is_no_number_is_refused(limits):
    with pytest.raises(
        DefinitionError, match=r"motion from .* expected finite numbers and limits above 0; got no plan"
    ):
        point_to_point(np.zeros(3), [1.0, np.nan, 0.0], limits)


def test_nothing_to_do_takes_no_time_or_the_given_one(limits):
    start = np.array([0.1, 0.2, 0.3])
    assert point_to_point(start, start, limits).duration == 0.0
    plan = point_to_point(start, start, limits, 2.0)
    assert plan.duration == 2.0
    np.testing.assert_array_equal(plan.sample(np.array([0.0, 1.0, 2.0]))[0], [start] * 3)


def at_velocity(start, velocity, time, limits):
    end, own = velocity_for_time(start, velocity, time, limits)
    return point_to_point(start, end, own, time)


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(positions(), st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3), any_limits(), st.floats(1.0, 5.0))
def test_a_velocity_is_kept_for_a_time(start, fractions, limits, factor):
    wide = joint_limits(limits.velocity, limits.acceleration, limits.jerk)
    wide.lower[:], wide.upper[:] = -np.inf, np.inf
    velocity = np.array(fractions) * limits.velocity
    if np.abs(velocity).max() < 1e-6:
        return
    with pytest.raises(DefinitionError, match="motion at a velocity: time") as refused:
        velocity_for_time(start, velocity, 0.0, wide)
    time = shortest_in(refused.value) * factor
    plan = at_velocity(start, velocity, time, wide)
    assert plan.duration == pytest.approx(time, rel=1e-12)
    np.testing.assert_allclose(plan.sample(np.array([time / 2]))[1][0], velocity, rtol=1e-9, atol=1e-9)
    # Its end is what its duration gives, which is the time but for rounding: then it is sampled exactly.
    check_plan(plan, start, plan.sample(np.array([plan.duration]))[0][0], wide)


def test_the_end_of_a_velocity_follows_from_time_and_ramps(limits):
    # ramps to 1 with 10/s² and 100/s³: 0.2 s each
    velocity = np.array([1.0, -0.5, 0.0])
    plan = at_velocity(np.zeros(3), velocity, 1.2, limits)
    np.testing.assert_allclose(plan.sample(np.array([1.2]))[0][0], velocity, atol=1e-12)
    _, v, _ = plan.sample(np.linspace(0.0, 1.2, 50))
    np.testing.assert_allclose(v, v[:, :1] * velocity, atol=1e-9, err_msg="the joints keep their ratio")
    np.testing.assert_allclose(plan.sample(np.array([0.2, 0.6, 1.0]))[1], [velocity] * 3, atol=1e-9)


@pytest.mark.parametrize("slow", [1e-3, 1e-5, 1e-6, 3e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("time", [0.24, 1.5])
def test_rounding_does_not_refuse_a_slow_joint(limits, slow, time):
    for k in range(20):
        start, velocity = np.array([0.1, 0.6 + 0.01 * k, -0.2]), np.array([0.3, slow * (1 + k / 7), 0.1])
        plan = at_velocity(start, velocity, time, limits)
        assert plan.duration == time


@pytest.mark.parametrize(
    "velocity, time, text",
    [
        ([0.0, 1.6, 0.0], 1.0, r"velocity of joint 'joint_2'; expected at most 1\.5; got 1\.6"),
        ([0.0, np.nan, 0.0], 1.0, r"velocity of joint 'joint_2'; expected at most 1\.5; got nan"),
        ([1.0, 0.0, 0.0], 0.39, r"motion at a velocity: time; expected at least 0\.400000 s, to reach .* got 0\.39 s"),
        ([1.0, 0.0, 0.0], np.inf, r"motion at a velocity: time; .* got inf s"),
        (
            [0.0, 0.0, -1.0],
            3.5,
            r"the end of joint 'joint_3' is outside its limits; expected -2\.9000 to 2\.9000; got -3\.3000\. Give less",
        ),
    ],
)
def test_a_velocity_that_cannot_be_is_refused(limits, velocity, time, text):
    with pytest.raises(DefinitionError, match=text):
        velocity_for_time(np.zeros(3), np.array(velocity), time, limits)


def test_a_velocity_of_zero_rests(limits):
    plan = at_velocity(np.ones(3), np.zeros(3), 0.5, limits)
    assert plan.duration == 0.5
    np.testing.assert_array_equal(plan.sample(np.linspace(0, 0.5, 3))[0], np.ones((3, 3)))
