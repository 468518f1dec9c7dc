"""Through points in time."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.motion_group.trajectory import curve_through, positions_of_poses, trajectory
from robot_rt_control.vocabulary.errors import DefinitionError

from .conftest import check_plan, joint_limits, positions

FAST = joint_limits(1e4, 1e8)


def random_points(seed: int, n: int = 6) -> tuple[np.ndarray, ...]:
    """times (n,); positions, velocities, accelerations (n, 3) that rest at both ends."""
    rng = np.random.default_rng(seed)
    times = np.concatenate(([0.0], np.cumsum(rng.uniform(0.1, 1.0, n - 1))))
    q, v, a = rng.uniform(-1.0, 1.0, (3, n, 3))
    v[[0, -1]] = 0.0
    return times, q, v, a


@pytest.mark.parametrize("n_given", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_it_meets_what_is_given_at_each_point(n_given, seed):
    times, *given_ = random_points(seed)
    plan = trajectory(times, *given_[:n_given], limits=FAST)
    assert plan.duration == times[-1]
    for ours, wanted in zip(plan.sample(times[1:-1]), given_[:n_given], strict=False):
        np.testing.assert_allclose(ours, wanted[1:-1], atol=1e-9)
    before_end = plan.sample(np.array([np.nextafter(times[-1], 0.0)]))
    np.testing.assert_allclose(before_end[0][0], given_[0][-1], atol=1e-12)
    check_plan(plan, given_[0][0], given_[0][-1], FAST, jerk=False)


def test_the_quintic_of_a_quintic_is_itself():
    rng = np.random.default_rng(3)
    times = np.cumsum(rng.uniform(0.2, 1.0, 5))
    quintics = [np.polynomial.Polynomial(rng.normal(size=6)) for _ in range(3)]
    derivatives = [np.column_stack([p.deriv(k)(times) for p in quintics]) for k in range(3)]
    curve = curve_through(times, *derivatives)
    t = np.linspace(times[0], times[-1], 200)
    np.testing.assert_allclose(curve(t), np.column_stack([p(t) for p in quintics]), atol=1e-9)


def test_the_points_of_a_plan_give_the_plan_again(limits):
    plan = point_to_point(np.zeros(3), [1.0, -0.5, 0.2], limits)
    times = np.linspace(0.0, plan.duration, 400)
    again = trajectory(times, *plan.sample(times), limits=joint_limits(1.6, 11.0))
    t = np.linspace(0.0, plan.duration, 1500)
    np.testing.assert_allclose(again.sample(t)[0], plan.sample(t)[0], atol=1e-6)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(positions(), min_size=2, max_size=6), st.floats(0.05, 3.0))
def test_what_is_accepted_keeps_the_limits_everywhere(points, step):
    limits = joint_limits(1.5, 10.0, 1e4)
    times = step * np.arange(len(points))
    try:
        plan = trajectory(times, points, limits=limits)
    except DefinitionError as error:
        moment = re.search(r"the (velocity|acceleration|position) of joint 'joint_\d' at ([0-9.]+) s", error.what)
        assert moment, error
        return
    check_plan(plan, points[0], points[-1], limits, jerk=False)


def test_accelerations_may_differ_at_a_point_and_it_may_begin_in_motion():
    times, q, v, _ = random_points(1)
    v[0] = 0.4
    pieces = np.random.default_rng(2).uniform(-1.0, 1.0, (2, 5, 3))
    plan = trajectory(times, q, v, pieces.reshape(10, 3), limits=FAST)
    np.testing.assert_allclose(plan.sample(times[:1])[1], [v[0]])
    inside = 1e-9
    np.testing.assert_allclose(plan.sample(times[:-1] + inside)[2], pieces[0], atol=1e-4)
    np.testing.assert_allclose(plan.sample(times[1:] - inside)[2], pieces[1], atol=1e-4)


def test_many_points_are_planned():
    n = 100_000
    times = 0.01 * np.arange(n)
    phase = 2.0 * np.pi * np.arange(n) / (n - 1)
    q = np.cos(phase)[:, None] * [1.0, 2.0, -1.0]
    plan = trajectory(times, q, limits=joint_limits())
    np.testing.assert_allclose(plan.sample(times)[0], q, atol=1e-12)
    q[77_777, 1] += 0.1
    with pytest.raises(DefinitionError, match=r"the velocity of joint 'joint_2' at 777\.7\d\d s is outside its limits"):
        trajectory(times, q, limits=joint_limits())


ZERO = np.zeros((2, 3))


@pytest.mark.parametrize(
    "given, text",
    [
        ({"times": [0.0]}, "trajectory: times; expected at least two, from 0 on, each above the one before"),
        ({"times": [0.1, 1.0]}, "trajectory: times"),
        ({"times": [0.0, 0.0]}, "trajectory: times"),
        ({"times": [0.0, np.nan]}, "trajectory: times"),
        ({"times": [0.0, np.inf]}, "trajectory: times"),
        ({"positions": np.zeros((2, 2))}, "trajectory: positions; expected 2 points of 3 joints; got 2 x 2"),
        ({"velocities": np.zeros((3, 3))}, "trajectory: velocities; expected 2 points of 3 joints; got 3 x 3"),
        (
            {"velocities": [[0, 0, 0], [0, np.nan, 0]]},
            "trajectory: velocities of joint 'joint_2' at point 2; expected a finite number; got nan",
        ),
        ({"accelerations": ZERO}, "trajectory: accelerations; expected velocities with them; got none"),
        (
            {"velocities": [[0, 0, 0], [0.2, 0, 0]]},
            "velocity of joint 'joint_1' at the last point; expected 0: a command ends at rest; got 0.2",
        ),
        (
            {"positions": [[0, 0, 0], [0, 3, 0]], "times": [0, 10]},
            r"trajectory: the position of joint 'joint_2' at 9\.000 s is outside its limits; expected -2\.9000 to",
        ),
        (
            {"positions": [[0, 0, 0], [0, 0, 1.5]]},
            r"the velocity of joint 'joint_3' at 0\.\d\d\d s is outside.* expected -1\.5000 to 1\.5000; .* Slow the",
        ),
        (
            {"positions": ZERO, "velocities": ZERO, "accelerations": [[0, 0, 0], [0, -10.1, 0]]},
            r"the acceleration of joint 'joint_2' at 1\.000 s is outside its limits; .* got -10\.1000",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(limits, given, text):
    with pytest.raises(DefinitionError, match=text):
        trajectory(**{"times": [0.0, 1.0], "positions": ZERO, **given}, limits=limits)


def test_rounding_of_the_velocity_at_the_ends_is_no_mistake(limits):
    plan = trajectory([0.0, 1.0], ZERO, [[1e-8] * 3, [-1e-8] * 3], limits=limits)
    np.testing.assert_array_equal(plan.sample(np.array([0.0, 1.0]))[1], 0.0)


def posed(part: PartFacts, q: np.ndarray) -> np.ndarray:
    return np.array([np.concatenate(part.forward(x)) for x in q])


def test_poses_of_the_tool_become_joint_positions():
    part = PartFacts(sample_part(dof=7))
    start = np.array([0.1, 0.6, -0.2, 0.9, 0.3, 0.7, 0.0])
    times = np.linspace(0.0, 2.0, 41)
    s = 0.5 - 0.5 * np.cos(np.pi * times / 2.0)
    path = start + 0.4 * s[:, None] * [1.0, -1.0, 0.5, 0.2, 0.0, 1.0, -0.5]
    found = positions_of_poses(part, times, posed(part, path), start)
    np.testing.assert_allclose(posed(part, found), posed(part, path), atol=3e-6)
    assert np.abs(np.diff(found, axis=0)).max() < 0.05


def test_a_pose_out_of_reach_and_a_jump_are_refused_with_their_point():
    part = PartFacts(sample_part(dof=7))
    start = np.array([0.1, 0.6, -0.2, 0.9, 0.3, 0.7, 0.0])
    poses = posed(part, np.array([start, start + 0.01]))
    far = poses.copy()
    far[1, :3] = [9.0, 0.0, 0.0]
    with pytest.raises(
        DefinitionError, match=r"pose 2 of the trajectory, at 0\.500 s: part 'part': inverse kinematics"
    ):
        positions_of_poses(part, [0.0, 0.5], far, start)
    poses = posed(part, np.array([start, -start]))
    text = (
        r"pose 2 of the trajectory, at 0\.100 s: part 'part' cannot get there in time, or only by another configuration"
    )
    with pytest.raises(DefinitionError, match=text):
        positions_of_poses(part, [0.0, 0.1], poses, start)
