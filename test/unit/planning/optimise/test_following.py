"""A planar arm of two joints follows a path."""

import numpy as np
import pytest

from robot_rt_control.planning.optimise.following import Placement, follow
from robot_rt_control.planning.optimise.scvx import Limits

START = np.array([0.5, 1.0])
LIMITS = Limits(lower=np.full(2, -3.0), upper=np.full(2, 3.0), velocity=np.full(2, 2.0))
STEPS, STEP = 20, 0.1


def place(q):
    a, b = q[0], q[0] + q[1]
    center = np.array([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b), 0.0])
    linear = np.array([[-center[1], -np.sin(b)], [center[0], np.cos(b)], [0, 0]])
    # Its orientation does not count here: a ball.
    return Placement(center=center, rotation=np.eye(3), linear=linear, angular=np.zeros((3, 2)))


def line(way, steps=STEPS):
    s = np.linspace(0.0, 1.0, steps + 1)[:, None]
    return place(START).center + (3 * s**2 - 2 * s**3) * np.array([*way, 0.0])


def run(centers, limits=LIMITS, acceleration=5.0, step=STEP):
    return follow(
        centers,
        place,
        velocities=np.gradient(centers, step, axis=0),
        start=START,
        acceleration=np.full(2, acceleration),
        limits=limits,
        step=step,
    )


def test_the_path_is_followed_and_the_motion_is_the_integral_of_its_inputs():
    centers = line((-0.4, 0.2))
    motion = run(centers)
    found = np.array([place(q).center for q in motion.joint_position])
    assert found == pytest.approx(centers, abs=2e-3)
    assert motion.joint_velocity[1:] == pytest.approx(np.cumsum(5.0 * STEP * motion.inputs, axis=0))


def test_limits_hold_where_the_path_is_too_fast():
    slow = Limits(lower=LIMITS.lower, upper=LIMITS.upper, velocity=np.full(2, 0.1))
    motion = run(line((-0.8, 0.4)), slow)
    assert (np.abs(motion.joint_velocity) <= 0.1 + 1e-6).all()
    assert (np.abs(motion.inputs) <= 1.0 + 1e-6).all()


def test_after_a_path_s_end_the_motion_rests_with_long_steps_as_well():
    """Positions at the ends of the steps alone would let the velocity alternate about the end."""
    share = np.array([0.0, 0.3, 1.0, 1.0, 1.0, 1.0, 1.0])[:, None]
    motion = run(place(START).center + share * np.array([-0.4, 0.2, 0.0]), step=0.5)
    assert (np.abs(motion.joint_velocity[3:]) < 0.3).all()
    assert (np.abs(motion.joint_velocity[5:]) < 0.05).all()
