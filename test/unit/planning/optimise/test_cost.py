"""The cost's gradient against differences, its parts, and its scales."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries
from scipy.spatial.transform import Rotation

from robot_rt_control.model.rotation_formulas import vector_of_rotation
from robot_rt_control.planning.optimise.cost import Cost, Weights, needed_stiffness
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Linearization, Trajectory

STEPS, JOINTS, PAIRS = 3, 2, 2
STATES, INPUTS = 2 * JOINTS + BODY_STATES, JOINTS + PAIRS


def rotation(v):
    return Rotation.from_rotvec(v).as_matrix()


def trajectory(random, link=False):
    """`link`: the body is a link, whose twist goes on changing as the joints stop."""
    recoil = random.normal(size=(6, JOINTS)) if link else None
    made = Trajectory(
        inputs=random.uniform(0.1, 1.0, size=(STEPS, INPUTS)),
        joint_position=random.normal(size=(STEPS + 1, JOINTS)),
        joint_velocity=random.normal(size=(STEPS + 1, JOINTS)),
        body_position=random.normal(size=(STEPS + 1, 3)),
        body_rotation=np.array([rotation(random.normal(size=3)) for _ in range(STEPS + 1)]),
        body_velocity=random.normal(size=(STEPS + 1, 6)),
        phi=random.uniform(0.01, 0.2, size=(STEPS + 1, PAIRS)),
        gamma=np.zeros((STEPS, PAIRS)),
        knots=np.zeros((STEPS + 1, 1)),
        commands=np.zeros((STEPS + 1, 2 * JOINTS)),
        touching=np.zeros(0, dtype=bool),
    )
    return with_recoil(made, recoil)


def with_recoil(t, recoil):
    if recoil is None:
        return t
    return replace(t, recoil=recoil, kept=t.body_velocity[-1] + recoil @ t.joint_velocity[-1])


def moved(t, dz, du, phi_z):
    """The trajectory with deviations of the reduced states and inputs."""
    b = 2 * JOINTS
    made = Trajectory(
        inputs=t.inputs + du,
        joint_position=t.joint_position + dz[:, :JOINTS],
        joint_velocity=t.joint_velocity + dz[:, JOINTS:b],
        body_position=t.body_position + dz[:, b : b + 3],
        body_rotation=np.array(
            [R @ rotation(v) for R, v in zip(t.body_rotation, dz[:, b + 3 : b + 6], strict=True)]
        ),
        body_velocity=t.body_velocity + dz[:, b + 6 :],
        phi=t.phi + np.einsum("ipz,iz->ip", phi_z, dz),
        gamma=t.gamma,
        knots=t.knots,
        commands=t.commands,
        touching=np.zeros(0, dtype=bool),
    )
    return with_recoil(made, t.recoil)


def cost(random, **changes):
    target = random.normal(size=3), rotation(random.normal(size=3))
    limits, weights = np.array([1.0, 2.0]), Weights(gentle=0.5)
    start = np.zeros(3), np.eye(3)
    made = Cost.of_task(start, target, time=2.0, velocity_limits=limits, weights=weights, **changes)
    return made.with_penalty(0.7, random.uniform(0.0, 2.0, size=(STEPS + 1, PAIRS)))


@settings(max_examples=tries(15, whole=50), deadline=None)
@given(st.integers(0, 2**31), st.booleans(), st.booleans())
def test_the_gradient_is_that_of_differences(seed, at_rest, link):
    random = np.random.default_rng(seed)
    t, J = trajectory(random, link), cost(random, at_rest=at_rest)
    linear = Linearization(
        A=np.zeros((STEPS, STATES, STATES)),
        B=np.zeros((STEPS, STATES, INPUTS)),
        phi_z=random.normal(size=(STEPS + 1, PAIRS, STATES)),
    )
    if np.linalg.norm(vector_of_rotation(t.body_rotation[-1].T @ J.target_rotation)) > 3.0:
        return  # the error jumps at half a turn
    model = J.quadratic(t, linear)
    dz, du = random.normal(size=(STEPS + 1, STATES)), random.normal(size=(STEPS, INPUTS))
    dz[0] = 0.0  # the start does not move
    h = 1e-6
    rate = J.value(moved(t, h * dz, h * du, linear.phi_z)) - J.value(moved(t, -h * dz, -h * du, linear.phi_z))
    expected = float(np.sum(model.z_gradient * dz) + np.sum(model.u_gradient * du))
    assert rate / (2.0 * h) == pytest.approx(expected, rel=1e-4, abs=1e-3)
    assert (np.linalg.eigvalsh(model.z_hessian) > -1e-6).all()
    assert (model.u_hessian >= 0.0).all()


@pytest.mark.parametrize("free", [("x",), ("z", "rz"), ("rx", "ry", "rz"), ("x", "y", "z")])
def test_V6_free_coordinates_of_the_target_do_not_count(free):
    random = np.random.default_rng(3)
    t, target = trajectory(random), (np.array([0.3, -0.2, 0.1]), np.eye(3))
    start = np.zeros(3), np.eye(3)
    J = Cost.of_task(start, target, time=1.0, velocity_limits=np.ones(2), free=free)
    model = J.quadratic(
        t, Linearization(A=np.zeros((STEPS, STATES, STATES)), B=np.zeros((STEPS, STATES, INPUTS)), phi_z=np.zeros(0))
    )
    body = 2 * JOINTS
    for i, name in enumerate(("x", "y", "z")):
        assert (J.position_error(t, -1)[i] == 0.0) == (name in free)
        assert (model.z_gradient[-1, body + i] == 0.0) == (name in free)
    far = t.body_position.copy()
    far[-1] += [float(name in free) for name in ("x", "y", "z")]
    assert J.value(replace(t, body_position=far)) == pytest.approx(J.value(t))
    assert J.error(t).orientation == 0.0 or not {"rx", "ry", "rz"} <= set(free)


def test_residuals_are_the_final_state_s_part_of_the_cost():
    random = np.random.default_rng(4)
    t, J = trajectory(random), replace(cost(random).with_penalty(0.0), draw=None)
    ends = SimpleNamespace(
        body_position=t.body_position[-1:], body_rotation=t.body_rotation[-1:],
        body_velocity=t.body_velocity[-1:], joint_velocity=t.joint_velocity[-1:], kept=None,
    )  # fmt: skip
    still = replace(J, weights=replace(J.weights, motion=0.0, inputs=0.0, gentle=0.0))
    assert 0.5 * np.sum(J.residuals(ends) ** 2) == pytest.approx(still.value(t))


def test_a_trajectory_that_diverged_costs_infinitely_much():
    random = np.random.default_rng(0)
    t = trajectory(random)
    t.knots[-1] = np.nan
    assert cost(random).value(t) == math.inf


def test_a_short_way_is_scaled_by_a_centimetre():
    target = np.array([0.001, 0, 0]), np.eye(3)
    made = Cost.of_task((np.zeros(3), np.eye(3)), target, time=1.0, velocity_limits=np.ones(1))
    assert made.distance == 0.01
    assert made.angle == 0.5


def test_the_needed_stiffness_overcomes_friction_from_where_the_pair_is():
    k = needed_stiffness(
        mass=2.0, friction=0.5, gravity=10.0, distance=1.0, time=2.0, curvature=np.array([10.0]), phi=np.array([0.1])
    )
    assert k * math.exp(-1.0) == pytest.approx([2.0 * (5.0 + 1.0)])
