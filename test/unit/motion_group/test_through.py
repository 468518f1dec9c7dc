"""Through via points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries
from scipy.optimize import linprog
from scipy.sparse import csr_array, diags_array, vstack

from robot_rt_control.motion_group.path import Path, blended_path
from robot_rt_control.motion_group.plan import stretched
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.motion_group.through import PathPlan, constant_in_curves, through
from robot_rt_control.vocabulary.errors import DefinitionError

from .conftest import any_limits, check_plan, joint_limits, positions


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(st.lists(positions(), min_size=2, max_size=8), any_limits(), st.sampled_from([1e-3, 0.05, 0.3, 2.0]))
def test_constant_velocity_in_curves_keeps_the_limits(points, limits, blend):
    path = blended_path(np.array(points), blend)
    if path is not None:
        end = path.curve(path.curve.x[-1])
        check_plan(PathPlan(path.curve, constant_in_curves(path, limits), end), points[0], end, limits)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.lists(positions(), min_size=2, max_size=5), any_limits(), st.sampled_from([0.0, 1e-3, 0.05, 0.3, 2.0]))
def test_limits_hold_and_ends_are_exact(points, limits, blend):
    check_plan(through(points[0], points[1:-1], points[-1], limits, blend), points[0], points[-1], limits)


def test_a_longer_duration_is_kept_exactly(limits):
    points = [np.zeros(3), np.array([0.5, 0.0, 0.2]), np.ones(3)]
    plan = stretched(through(points[0], points[1:-1], points[-1], limits, 0.1), 4.0)
    assert plan.duration == 4.0
    check_plan(plan, points[0], points[-1], limits)


def test_without_via_points_it_is_straight_and_takes_as_long_as_the_slowest_joint(limits):
    start, goal = np.zeros(3), np.array([1.0, -0.5, 0.2])
    plan = through(start, [], goal, limits, 0.1)
    assert plan.duration == pytest.approx(point_to_point(start, goal, limits).duration, rel=1e-12)
    q, _, _ = plan.sample(np.linspace(0.0, plan.duration, 100))
    np.testing.assert_allclose(q, q[:, :1] * goal, atol=1e-12)


def test_without_blending_it_stops_at_each_point(limits):
    points = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.2], [0.5, -0.5, 0.0]])
    plan = through(points[0], points[1:-1], points[-1], limits, 0.0)
    first = through(points[0], [], points[1], limits, 0.0)
    q, v, a = plan.sample(np.array([first.duration]))
    np.testing.assert_array_equal(q[0], points[1])
    np.testing.assert_array_equal([v[0], a[0]], 0.0)
    blended = through(points[0], points[1:-1], points[-1], limits, 0.05)
    assert blended.duration < 0.9 * plan.duration
    _, v, _ = blended.sample(np.linspace(0.1, blended.duration - 0.1, 200))
    assert np.abs(v).max(axis=1).min() > 0.2


def test_all_points_the_same_take_no_time(limits):
    plan = through(np.ones(3), [np.ones(3)], np.ones(3), limits, 0.1)
    assert plan.duration == 0.0


@pytest.mark.parametrize(
    "blend, text",
    [
        (-0.1, "motion through via points; expected finite numbers, and a blend of at least 0; got blend -0.1"),
        (np.nan, "motion through via points; .* got blend nan"),
    ],
)
def test_what_cannot_be_is_refused(limits, blend, text):
    with pytest.raises(DefinitionError, match=text):
        through(np.zeros(3), [np.array([1.0, 0.0, 0.0])], np.ones(3), limits, blend)


def shortest_without_jerk(path: Path, limits, n: int = 400) -> float:
    """Duration of the time-optimal motion on a path within velocity and acceleration alone: a lower bound.

    Verscheure, D., et al.: Time-optimal path tracking for robots, a convex optimization approach (2009): with b = s'^2
    the limits are linear in b. The largest b is the fastest everywhere.
    """
    s = np.linspace(0.0, path.curve.x[-1], n + 1)
    h = s[1]
    half = (s[1:] + s[:-1]) / 2.0
    t, c = path.curve(half, 1), path.curve(half, 2)
    mean = (diags_array(np.ones(n), shape=(n, n + 1)) + diags_array(np.ones(n), offsets=1, shape=(n, n + 1))) / 2.0
    slope = (diags_array(np.ones(n), offsets=1, shape=(n, n + 1)) - diags_array(np.ones(n), shape=(n, n + 1))) / (
        2.0 * h
    )
    rows = [
        sign * (diags_array(c[:, j]) @ mean + diags_array(t[:, j]) @ slope) / limits.acceleration[j]
        for j in range(len(limits.velocity))
        for sign in (1.0, -1.0)
    ]
    top = ((limits.velocity / np.maximum(np.abs(path.curve(s, 1)), 1e-9)) ** 2).min(axis=1)
    top[[0, -1]] = 0.0
    a = csr_array(vstack(rows))
    b = linprog(-np.ones(n + 1), A_ub=a, b_ub=np.ones(a.shape[0]), bounds=np.column_stack([np.zeros(n + 1), top])).x
    return float((2.0 * h / (np.sqrt(b[1:]) + np.sqrt(b[:-1]))).sum())


@pytest.mark.parametrize("seed", range(3))
def test_little_is_lost_against_the_bound_without_jerk(seed):
    """The bound, which nothing can reach, leaves out the time in which the acceleration rises and falls."""
    points = np.random.default_rng(seed).uniform(-1.2, 1.2, (5, 3))
    limits = joint_limits(1.5, 6.0, 60.0)
    path = blended_path(points, 0.1)
    assert path is not None
    plan = through(points[0], points[1:-1], points[-1], limits, 0.1)
    ratio = plan.duration / shortest_without_jerk(path, limits)
    assert 1.0 < ratio < 1.08
