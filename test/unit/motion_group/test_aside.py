"""What limits leave for a tool that is moved aside of a trajectory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from robot_rt_control.motion_group.aside import Bounds, along, exceeded
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.trajectory import curve_through

STEP, STEPS = 0.1, 10
LEAD = np.stack([np.linspace(1.0, 1.5, STEPS + 1) ** 2, np.full(STEPS + 1, -2.0)], axis=1)[:, :, None]
Array = NDArray[np.float64]
BOUNDS = Bounds(most=0.02, speed=0.05, acceleration=0.5)
LIMITS = PlanLimits(
    names=("j",), lower=np.array([-1.0]), upper=np.array([1.0]), velocity=np.array([1.0]),
    acceleration=np.array([6.0]), jerk=np.array([np.inf]),
)  # fmt: skip
CURVE = curve_through(np.array([0.0, 1.0]), np.array([[0.0], [0.3]]), np.zeros((2, 1)))


def test_cubics_go_through_the_rows_and_their_derivatives_are_those_of_the_table() -> None:
    rows, _, _ = along(LEAD, STEP, np.linspace(0.0, STEP * STEPS, STEPS + 1))
    np.testing.assert_allclose(rows, LEAD, atol=1e-12)
    t: Array = np.linspace(0.01, 1.2, 90)
    G, dG, ddG = along(LEAD, STEP, t)
    e = 1e-6
    more, less = (along(LEAD, STEP, t + d) for d in (e, -e))
    np.testing.assert_allclose(dG, (more[0] - less[0]) / (2 * e), atol=1e-5)
    at_rows = np.abs(t / STEP - np.round(t / STEP)) < 1e-3
    np.testing.assert_allclose(ddG[~at_rows], ((more[1] - less[1]) / (2 * e))[~at_rows], atol=1e-3)
    assert (G[t > 1.0] == LEAD[-1]).all()


def test_within_limits_nothing_is_said() -> None:
    assert exceeded(CURVE, LIMITS, LEAD, STEP, BOUNDS) == ""


@pytest.mark.parametrize(
    ("bounds", "limits", "said"),
    [
        (replace(BOUNDS, most=0.3), LIMITS, "position"),
        (replace(BOUNDS, speed=0.3), LIMITS, "velocity"),
        (replace(BOUNDS, acceleration=1.5), LIMITS, "acceleration"),
        (BOUNDS, replace(LIMITS, upper=np.array([0.31])), "position"),
        (BOUNDS, replace(LIMITS, velocity=np.array([0.5])), "velocity"),
        (BOUNDS, replace(LIMITS, acceleration=np.array([2.0])), "acceleration"),
    ],
)
def test_what_is_exceeded_is_said_with_the_joint(bounds: Bounds, limits: PlanLimits, said: str) -> None:
    found = exceeded(CURVE, limits, LEAD, STEP, bounds)
    assert found.startswith("joint 'j' at ") and found.endswith(f"its limit of {said}")


def test_no_motion_within_the_bounds_exceeds_what_is_not_said() -> None:
    """Random displacements at their bounds: no joint is faster than foretold."""
    random = np.random.default_rng(1)
    t = np.linspace(0.0, 1.0, 501)
    G, dG, _ = along(LEAD, STEP, t)
    v = CURVE(t, 1)
    fastest = 0.0
    for _ in range(200):
        w, dw = BOUNDS.most * random.choice([-1, 1], 2), BOUNDS.speed * random.choice([-1, 1], 2)
        fastest = max(fastest, float(np.abs(v + np.einsum("icn,c->in", G, dw) + np.einsum("icn,c->in", dG, w)).max()))
    assert exceeded(CURVE, replace(LIMITS, velocity=np.array([1.001 * fastest])), LEAD, STEP, BOUNDS) == ""
    assert exceeded(CURVE, replace(LIMITS, velocity=np.array([0.99 * fastest])), LEAD, STEP, BOUNDS) != ""


def test_a_table_is_looked_at_between_its_rows_however_long_the_trajectory_is() -> None:
    curve = curve_through(np.array([0.0, 1000.0]), np.zeros((2, 1)), np.zeros((2, 1)))
    lead = np.array([[[0.0], [0.0]], [[70.0], [0.0]], [[0.0], [0.0]]])
    assert "velocity" in exceeded(curve, LIMITS, lead, 1.0, Bounds(most=0.01, speed=0.001, acceleration=0.01))


def test_what_is_no_number_is_no_motion_within_the_limits() -> None:
    lead = np.resize([1e308, -1e308], LEAD.shape)
    assert exceeded(CURVE, LIMITS, lead, STEP, BOUNDS) != ""
