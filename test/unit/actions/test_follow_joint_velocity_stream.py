"""Jogging joints: the velocity is met, the watchdog brings to rest, limits hold whatever comes."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.follow_joint_velocity_stream import FollowJointVelocityStream
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm

DT = 0.001
TIMEOUT = 0.1


@pytest.fixture
def jog(bent):
    parameters = {"goal_timeout": TIMEOUT}
    arm = FakeArm(position=bent)
    made = ActionHarness(FollowJointVelocityStream, parts={"part": arm}, parameters=parameters, compiled=True)
    made.start()
    return made


def write(h, ticks: int, *velocity: float) -> np.ndarray:
    """Stream this velocity each 10 ms; returns the commanded positions."""
    positions = []
    for k in range(ticks):
        if k % 10 == 0:
            h.stream("goal").write([*velocity, *[0.0] * (7 - len(velocity))])
        assert h.step() == 0
        positions.append(np.array(h.part("part").commanded_position[:7]))
    return np.array(positions)


def check_limits(positions: np.ndarray, part) -> None:
    for order, limit in ((1, part.velocity_limit), (2, part.acceleration_limit), (3, part.jerk_limit)):
        highest = np.abs(np.diff(positions, order, axis=0)).max(axis=0) / DT**order
        assert (highest <= limit[:7] * (1 + 1e-3) + 1e-6).all(), (order, highest / limit[:7])


def test_the_velocity_is_met_and_the_other_joints_stay(jog, bent):
    positions = write(jog, 600, 0.3, -0.2)
    part = jog.part("part")
    np.testing.assert_allclose(part.commanded_velocity[:2], [0.3, -0.2], atol=1e-9)
    np.testing.assert_array_equal(positions[-1, 2:], bent[2:])
    assert jog.state.is_following == 1.0 and jog.state.velocity_error < 1e-9
    check_limits(positions, part)


def test_it_comes_to_rest_by_the_time_out_and_goes_on_when_samples_come_again(jog):
    positions = [write(jog, 400, 0.5, 0.5)]
    for _ in range(600):
        jog.step()
        positions.append(np.array(jog.part("part").commanded_position[:7])[None])
    part = jog.part("part")
    assert jog.state.is_following == 0.0 and jog.state.goal.timed_out == 1.0
    assert not part.commanded_velocity[:7].any()
    rested = np.concatenate(positions)
    speed = np.abs(np.diff(rested[:, 0])) / DT
    assert speed[400 + 80] == pytest.approx(0.5, rel=1e-6), "up to the time-out it goes on"
    assert speed[400 + 95 : 400 + 120].min() < 0.5, "from then on it brakes"
    positions.append(write(jog, 400, -0.5))
    assert part.commanded_velocity[0] == pytest.approx(-0.5)
    check_limits(np.concatenate(positions), part)


def test_before_the_end_of_its_range_a_joint_is_braked_and_nothing_is_beyond_a_limit(jog):
    positions = write(jog, 9000, 99.0, -99.0, 0.5)
    part = jog.part("part")
    check_limits(positions, part)
    assert (positions <= part.position_upper[:7] + 1e-12).all() and (positions >= part.position_lower[:7] - 1e-12).all()
    np.testing.assert_allclose(positions[-1, 0], part.position_upper[0], atol=0.01)
    np.testing.assert_allclose(positions[-1, 1], part.position_lower[1], atol=0.01)
    back = write(jog, 500, -0.3, 0.3)
    assert part.commanded_velocity[0] == pytest.approx(-0.3), "from there it goes back"
    check_limits(np.concatenate([positions, back]), part)


def test_random_velocities_keep_all_limits(jog):
    rng = np.random.default_rng(5)
    positions = np.concatenate([write(jog, int(rng.integers(1, 120)), *rng.normal(0.0, 2.0, 7)) for _ in range(80)])
    check_limits(positions, jog.part("part"))


def test_without_a_sample_nothing_moves(jog, bent):
    jog.step(300)
    np.testing.assert_array_equal(jog.part("part").commanded_position[:7], bent)
    assert jog.state.is_following == 0.0 and np.isnan(jog.state.velocity_error)
