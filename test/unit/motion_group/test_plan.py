"""Plans one after the other, stretched, and braked anywhere."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion_group.plan import braking_rate, sequence, stretched
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.motion_group.trajectory import trajectory
from robot_rt_control.vocabulary.errors import DefinitionError

from .conftest import any_limits, check_plan, positions


@settings(max_examples=tries(15, whole=50), deadline=None, derandomize=True)
@given(st.lists(positions(), min_size=2, max_size=5), any_limits())
def test_a_sequence_keeps_ends_limits_and_times(points, limits):
    plans = [point_to_point(points[k], points[k + 1], limits) for k in range(len(points) - 1)]
    plan = sequence(plans)
    assert plan.duration == pytest.approx(sum(p.duration for p in plans), abs=1e-12)
    check_plan(plan, points[0], points[-1], limits)
    middle = plans[0].duration + np.array([0.0, 0.5 * (plans[1].duration if len(plans) > 1 else 0.0)])
    if len(plans) > 1:
        np.testing.assert_allclose(plan.sample(middle)[0], plans[1].sample(middle - plans[0].duration)[0], atol=1e-12)


def test_a_sequence_that_jumps_is_refused(limits):
    first = point_to_point(np.zeros(3), np.ones(3), limits)
    second = point_to_point([1.0, 1.0, 1.1], np.zeros(3), limits)
    text = "motion 2 of a sequence begins elsewhere than the one before ends: joint 2; expected 1; got 1.1"
    with pytest.raises(DefinitionError, match=text):
        sequence([first, second])
    fewer = replace(limits, **{name: getattr(limits, name)[:2] for name in ("velocity", "acceleration", "jerk")})
    with pytest.raises(DefinitionError, match="motion 2 of a sequence; expected 3 joints; got 2"):
        sequence([first, point_to_point(np.ones(2), np.zeros(2), fewer)])
    with pytest.raises(DefinitionError, match="a sequence of motions; expected at least one; got none"):
        sequence([])


@settings(max_examples=tries(15, whole=50), deadline=None, derandomize=True)
@given(positions(), positions(), any_limits(), st.floats(1.0, 50.0))
def test_a_stretched_plan_takes_the_same_path_within_limits(start, goal, limits, factor):
    plan = point_to_point(start, goal, limits)
    longer = stretched(plan, plan.duration * factor)
    assert longer.duration == plan.duration * factor
    check_plan(longer, start, goal, limits)
    fractions = np.linspace(0.0, 1.0, 50)
    np.testing.assert_allclose(
        longer.sample(fractions * longer.duration)[0], plan.sample(fractions * plan.duration)[0], atol=1e-9
    )


def test_a_plan_is_not_stretched_to_less(limits):
    plan = point_to_point(np.zeros(3), np.ones(3), limits)
    assert stretched(plan, plan.duration) is plan
    refusal = "motion through points: duration; expected at least 0.916667 s; got 0.5 s"
    with pytest.raises(DefinitionError, match=refusal):
        stretched(plan, 0.5)


def test_a_plan_that_rests_may_be_stretched(limits):
    plan = stretched(point_to_point(np.ones(3), np.ones(3), limits), 2.0)
    assert plan.duration == 2.0
    np.testing.assert_array_equal(plan.sample(np.array([0.0, 1.0, 2.0]))[0], np.ones((3, 3)))
    np.testing.assert_array_equal(plan.breaks(), [0.0, 2.0])


@settings(max_examples=tries(15, whole=50), deadline=None, derandomize=True)
@given(positions(), positions(), any_limits(), st.floats(0.0, 1.0))
def test_braking_at_the_rate_anywhere_keeps_the_acceleration(start, goal, limits, place):
    plan = point_to_point(start, goal, limits)
    system = 1.2 * limits.acceleration
    rate = braking_rate(plan, system)
    if math.isinf(rate):
        np.testing.assert_array_equal(start, goal)
        return
    t = np.linspace(0.0, 1.0 / rate, 2000)
    for r, sign in ((1.0 - rate * t, -1.0), (rate * t, 1.0)):  # brake, and go on
        tau = place * plan.duration + t + sign * rate * t * t / 2 - (t if sign > 0 else 0.0)
        _, v, a = plan.sample(np.clip(tau, 0.0, plan.duration))
        force = a * r[:, None] ** 2 + sign * rate * v
        floor = 0.1 * system  # where the plan itself needs more than 0.9 of the limit
        assert np.all(np.abs(force) <= np.maximum(system, limits.acceleration + floor) * 1.001)


def test_the_rate_is_that_of_the_hardest_moment(limits):
    # at 1 rad/s nothing else is needed there: 12 / 1; on the ramp, 10 of 12 at 0.5 rad/s leave 2 / 0.5
    plan = point_to_point(np.zeros(3), [0.8, 0.0, 0.0], replace(limits, velocity=np.ones(3)))
    assert braking_rate(plan, np.full(3, 12.0)) == pytest.approx(4.0, rel=0.01)
    # the floor, a tenth of 10, as long as the ramp needs more than 9: until 0.01 s after its middle, at 0.595 rad/s
    assert braking_rate(plan, np.full(3, 10.0)) == pytest.approx(1.0 / 0.595, rel=0.01)


def test_what_rests_may_be_braked_at_once(limits):
    assert braking_rate(point_to_point(np.ones(3), np.ones(3), limits), np.ones(3)) == math.inf


def test_plans_can_be_sent_to_another_process(limits):
    first = point_to_point(np.zeros(3), np.ones(3), limits)
    second = trajectory([0.0, 1.0], [[1.0, 1.0, 1.0], [0.5, 1.0, 1.2]], limits=limits)
    plan = stretched(sequence([first, second]), 4.0)
    again = pickle.loads(pickle.dumps(plan))
    times = np.linspace(0.0, 4.0, 100)
    for ours, theirs in zip(plan.sample(times), again.sample(times), strict=True):
        np.testing.assert_array_equal(ours, theirs)
