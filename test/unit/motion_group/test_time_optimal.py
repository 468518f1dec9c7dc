"""Plans made faster on their path."""

import numpy as np
import pytest

from robot_rt_control.motion_group import time_optimal
from robot_rt_control.motion_group.path import blended_path
from robot_rt_control.motion_group.plan import sequence, stretched
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.motion_group.through import PathPlan, constant_in_curves
from robot_rt_control.motion_group.time_optimal import faster, slowdown

from .conftest import check_plan, joint_limits

START, GOAL = np.zeros(3), np.array([1.0, -0.5, 0.2])


@pytest.fixture(scope="module")
def on_path(limits) -> PathPlan:
    """Through a narrow corner and a wide one, at constant velocity in the curves."""
    path = blended_path(np.array([[0, 0, 0], [0.5, 0, 0], [0.5, 0.5, 0.1], [0.6, 1.5, 0.1]]), 0.1)
    assert path is not None
    return PathPlan(path.curve, constant_in_curves(path, limits), np.array([0.6, 1.5, 0.1]))


def test_it_is_faster_on_the_same_path_and_the_same_each_time(on_path, limits):
    plan = faster(on_path, limits)
    assert plan.duration < 0.98 * on_path.duration
    check_plan(plan, np.zeros(3), [0.6, 1.5, 0.1], limits)
    path = on_path.sample(np.linspace(0.0, on_path.duration, 20_000))[0]
    for q in plan.sample(np.linspace(0.0, plan.duration, 50))[0]:
        assert np.abs(path - q).max(axis=1).min() < 2e-4
    times = np.linspace(0.0, plan.duration, 100)
    assert faster(on_path, limits).sample(times)[0].tobytes() == plan.sample(times)[0].tobytes()


def test_a_slow_plan_becomes_nearly_as_fast_as_the_fastest(limits):
    plan = point_to_point(START, GOAL, limits)
    again = faster(stretched(plan, 1.5 * plan.duration), limits)
    check_plan(again, START, GOAL, limits)
    assert plan.duration < again.duration < 1.03 * plan.duration


def test_what_cannot_be_faster_stays_the_same(limits):
    plan = point_to_point(START, [1.0, 0.0, 0.0], limits)
    assert faster(plan, limits) is plan
    resting = point_to_point(START, START, limits)
    assert faster(resting, limits) is resting


def test_too_long_a_plan_stays_as_it_is(limits):
    to, back = point_to_point(START, GOAL, limits), point_to_point(GOAL, START, limits)
    long = sequence([to, back] * 60)
    assert len(long.breaks()) > 500
    assert faster(long, limits) is long


@pytest.mark.parametrize(
    "velocity, acceleration, jerk, factor",
    [(1.5, 10.0, 100.0, 1.0), (0.75, 10.0, 100.0, 2.0), (1.5, 2.5, 100.0, 2.0), (1.5, 10.0, 12.5, 2.0)],
)
def test_by_how_much_a_plan_is_too_fast(limits, velocity, acceleration, jerk, factor):
    plan = point_to_point(START, [2.0, 0.0, 0.0], limits)  # reaches all its limits
    assert slowdown(plan, joint_limits(velocity, acceleration, jerk)) == pytest.approx(factor, rel=1e-9)


def test_a_program_without_solution_leaves_the_plan(on_path, limits, monkeypatch):
    class Nothing:
        x = None

    monkeypatch.setattr(time_optimal, "linprog", lambda *args, **kwargs: Nothing())
    assert faster(on_path, limits) is on_path
