"""What Python calls gives what compiled code computes, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.motion.calls import change_of_velocity, planned, planned_between, sampled
from robot_rt_control.motion.position import plan_position
from robot_rt_control.motion.profile import OK, profile_dtype, sample_profile
from robot_rt_control.motion.ramp import ramp_displacement, ramp_duration, velocity_ramp
from robot_rt_control.motion.synchronize import plan_position_in


def motions(n: int, count: int) -> list[list[np.ndarray]]:
    """Start, goal, and limits of velocity, acceleration and jerk."""
    rng = np.random.default_rng(5)
    ranges = [(-2.0, 2.0), (-2.0, 2.0), (0.1, 3.0), (0.1, 20.0), (1.0, 1000.0)]
    return [[rng.uniform(*bounds, n) for bounds in ranges] for _ in range(count)]


@pytest.mark.parametrize("n", [1, 7, 16])
@pytest.mark.parametrize("duration", [0.0, 20.0])
def test_a_motion_and_its_samples_are_those_of_the_tick(n: int, duration: float) -> None:
    zero, times = np.zeros(n), np.linspace(-0.5, 25.0, 60)
    for q0, q1, vmax, amax, jmax in motions(n, 20):
        expected = np.zeros(n, profile_dtype)
        assert plan_position_in(expected, n, q0, zero, zero, q1, vmax, amax, jmax, duration) == OK
        found = planned(q0, q1, vmax, amax, jmax, duration)
        assert found is not None and found.tobytes() == expected.tobytes()
        samples = sampled(found, times)
        assert [s.shape for s in samples] == [(60, n)] * 3
        by_tick = np.array([[sample_profile(p, t) for p in expected] for t in times])
        np.testing.assert_array_equal(np.stack(samples, axis=-1), by_tick)


def test_a_motion_between_velocities_and_their_change_are_those_of_the_tick() -> None:
    for q0, q1, vmax, amax, jmax in motions(1, 50):
        v0, v1 = 0.3 * vmax[0], 0.7 * vmax[0]
        ramp = velocity_ramp(v0, 0.0, v1, amax[0], jmax[0])
        assert change_of_velocity(v0, v1, amax[0], jmax[0]) == (ramp_duration(ramp), ramp_displacement(ramp, v0, 0.0))
        expected: np.record = np.zeros(1, profile_dtype)[0]
        limits = float(vmax[0]), float(amax[0]), float(jmax[0])
        assert plan_position(expected, q0[0], v0, 0.0, q1[0], v1, *limits) == OK
        found = planned_between((q0[0], v0), (q1[0], v1), *limits)
        assert found is not None and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_cannot_be_planned_is_none(wrong: float) -> None:
    one = np.ones(2)
    assert planned(np.array([0.0, wrong]), one, one, one, one) is None
    assert planned(one, one, one, one, np.array([1.0, np.nan])) is None
    assert planned_between((0.0, 0.0), (wrong, 0.0), 1.0, 1.0, 1.0) is None
