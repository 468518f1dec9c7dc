"""The subproblem against a second solver, on random problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from robot_rt_control.planning.optimise.cost import Quadratic
from robot_rt_control.planning.optimise.subproblem import Bounds, predicted_change, solve
from robot_rt_control.planning.optimise.trajectory import Linearization

STEPS, STATES, INPUTS = 3, 4, 2


def problem(seed, radius=0.3):
    random = np.random.default_rng(seed)
    roots = random.normal(size=(STEPS + 1, STATES, STATES))
    quadratic = Quadratic(
        z_gradient=random.normal(size=(STEPS + 1, STATES)),
        z_hessian=np.einsum("ijk,ilk->ijl", roots, roots),
        u_gradient=random.normal(size=(STEPS, INPUTS)),
        u_hessian=random.uniform(0.0, 2.0, size=(STEPS, INPUTS)),
    )
    linear = Linearization(
        A=random.normal(size=(STEPS, STATES, STATES)) * 0.5,
        B=random.normal(size=(STEPS, STATES, INPUTS)),
        phi_z=np.zeros((STEPS + 1, 1, STATES)),
    )
    bounds = Bounds(
        z_lower=np.tile([-0.1, -np.inf, -np.inf, -np.inf], (STEPS, 1)),
        z_upper=np.tile([np.inf, 0.2, np.inf, np.inf], (STEPS, 1)),
        u_lower=np.full((STEPS, INPUTS), -radius),
        u_upper=np.full((STEPS, INPUTS), radius),
    )
    return quadratic, linear, bounds


def states(linear, du):
    dz = np.zeros((STEPS + 1, STATES))
    for i in range(STEPS):
        dz[i + 1] = linear.A[i] @ dz[i] + linear.B[i] @ du[i]
    return dz


def second(quadratic, linear, bounds):
    """The same by SLSQP over the inputs alone, with the states eliminated."""

    def cost(x):
        du = x.reshape(STEPS, INPUTS)
        return predicted_change(quadratic, states(linear, du), du)

    def room(x):
        dz = states(linear, x.reshape(STEPS, INPUTS))[1:]
        both = np.concatenate([(dz - bounds.z_lower).ravel(), (bounds.z_upper - dz).ravel()])
        return both[np.isfinite(both)]

    box = list(zip(bounds.u_lower.ravel(), bounds.u_upper.ravel(), strict=True))
    found = minimize(
        cost, np.zeros(STEPS * INPUTS), bounds=box, constraints={"type": "ineq", "fun": room}, method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    return found.fun


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_it_finds_what_a_second_solver_finds(seed):
    quadratic, linear, bounds = problem(seed)
    step = solve(quadratic, linear, bounds)
    assert step is not None
    assert step.change == pytest.approx(second(quadratic, linear, bounds), rel=1e-3, abs=1e-4)
    # It keeps dynamics and bounds.
    assert step.dz == pytest.approx(states(linear, step.du), abs=1e-5)
    assert (step.dz[1:] >= bounds.z_lower - 1e-5).all() and (step.dz[1:] <= bounds.z_upper + 1e-5).all()
    assert (np.abs(step.du) <= 0.3 + 1e-6).all()


def test_twice_the_same_bits():
    first, again = solve(*problem(1)), solve(*problem(1))
    assert first is not None and again is not None
    assert (first.du == again.du).all() and (first.dz == again.dz).all()


def test_a_problem_that_is_not_finite_has_no_solution():
    quadratic, linear, bounds = problem(1)
    linear.A[1] = np.nan
    assert solve(quadratic, linear, bounds) is None
