"""The trust region, step by step, on a scripted model: one joint whose cost is not what the linearization says."""

import numpy as np
import pytest

from robot_rt_control.planning.optimise.cost import Cost
from robot_rt_control.planning.optimise.scvx import Limits, TrustRegion, optimize
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Linearization, Trajectory


@pytest.mark.parametrize(
    "ratio, radius",
    [(-1.0, 0.5), (0.0, 0.5), (0.24, 0.5), (0.25, 1.0), (0.89, 1.0), (0.9, 3.2), (5.0, 3.2), (float("nan"), 0.5)],
)
def test_the_radius_follows_the_ratio(ratio, radius):
    assert TrustRegion(largest=10.0).next_radius(1.0, ratio) == pytest.approx(radius)


def test_the_radius_has_a_largest_value():
    assert TrustRegion(largest=2.0).next_radius(1.0, 1.0) == 2.0


class Body:
    """One step; the body's x is `place(u)`, linearized with the slope that is given."""

    def __init__(self, place, slope):
        self.place, self.slope = place, slope
        self.rollouts, self.linearizations = [], 0

    def roll_out(self, inputs):
        u = float(inputs[0, 0])
        self.rollouts.append(u)
        x = self.place(u)
        return Trajectory(
            inputs=inputs,
            joint_position=np.zeros((2, 1)),
            joint_velocity=np.zeros((2, 1)),
            body_position=np.array([[0.0, 0, 0], [x, 0, 0]]),
            body_rotation=np.array([np.eye(3)] * 2),
            body_velocity=np.zeros((2, 6)),
            phi=np.ones((2, 0)),
            gamma=np.zeros((1, 0)),
            knots=np.full((2, 1), x),
            commands=np.zeros((2, 2)),
            touching=np.zeros(0, dtype=bool),
        )

    def linearize(self, about):
        self.linearizations += 1
        B = np.zeros((1, 2 + BODY_STATES, 1))
        B[0, 2, 0] = self.slope
        size = 2 + BODY_STATES
        return Linearization(A=np.zeros((1, size, size)), B=B, phi_z=np.zeros((2, 0, size)))


def search(body, **region):
    target = np.array([1.0, 0.0, 0.0]), np.eye(3)
    cost = Cost.of_task((np.zeros(3), np.eye(3)), target, time=1.0, velocity_limits=np.ones(1))
    limits = Limits(lower=-np.ones(1), upper=np.ones(1), velocity=np.ones(1))
    start = body.roll_out(np.zeros((1, 1)))
    body.rollouts.clear()
    return optimize(body, cost, limits, start, TrustRegion(**region))


def test_a_right_model_goes_to_the_target_in_growing_steps():
    body = Body(lambda u: 2.0 * u, 2.0)
    solution = search(body, radius=0.05)
    assert body.rollouts[:2] == pytest.approx([0.05, 0.05 + 0.16], rel=1e-3)
    assert solution.trajectory.body_position[-1, 0] == pytest.approx(1.0, abs=1e-3)
    assert all(found.accepted for found in solution.iterations)


def test_V7_a_wrong_direction_is_rejected_and_the_radius_halved_without_a_new_linearization():
    body = Body(lambda u: -2.0 * u, 2.0)
    solution = search(body, radius=0.4, smallest=0.06)
    assert body.rollouts == pytest.approx([0.4, 0.2, 0.1], rel=1e-3)
    assert body.linearizations == 1
    assert [found.accepted for found in solution.iterations] == [False, False, False]
    assert (solution.trajectory.inputs == 0.0).all()


def test_V22_a_simulation_that_diverges_is_rejected():
    body = Body(lambda u: float("nan") if u > 0.15 else u, 1.0)
    solution = search(body, radius=0.4, iterations=3)
    assert [found.accepted for found in solution.iterations] == [False, False, True]
    assert [found.trouble for found in solution.iterations] == ["the simulation diverged at 0.00 s"] * 2 + [""]
    assert body.rollouts == pytest.approx([0.4, 0.2, 0.1], rel=1e-3)


def test_the_cost_never_rises():
    body = Body(lambda u: u + 0.8 * np.sin(9.0 * u), 1.0)
    costs = [found.cost for found in search(body, radius=0.5).iterations]
    assert all(b <= a for a, b in zip(costs, costs[1:], strict=False))


def test_limits_hold_and_where_one_is_broken_it_may_stay():
    limits = Limits(lower=np.array([-1.0]), upper=np.array([1.0]), velocity=np.array([2.0]), stiffness=3.0)
    body = Body(lambda u: u, 1.0)
    about = body.roll_out(np.array([[0.9]]))
    bounds = limits.bounds(about, 0.5)
    assert bounds.u_upper[0] == pytest.approx([0.1]) and bounds.u_lower[0] == pytest.approx([-0.5])
    about.joint_position[1] = 1.5
    bounds = limits.bounds(about, 0.5)
    assert bounds.z_upper[0, 0] == 0.0 and bounds.z_lower[0, 0] == pytest.approx(-2.5)
