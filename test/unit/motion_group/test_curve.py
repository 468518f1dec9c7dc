"""Curves through points, beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly

from robot_rt_control.motion_group.curve import Curve, cubic, spline


@pytest.mark.parametrize("n", [2, 3, 4, 5, 200])
def test_they_are_those_of_scipy_also_beyond_their_ends(n: int) -> None:
    random = np.random.default_rng(n)
    times = np.concatenate([[0.0], np.cumsum(random.uniform(0.1, 1.0, n - 1))])
    q, v = random.normal(size=(2, n, 3))
    at = np.concatenate([times, np.linspace(-0.1, times[-1] + 0.1, 300)])
    for made, known in (
        (spline(times, q, v[0], v[1]), CubicSpline(times, q, bc_type=((1, v[0]), (1, v[1])))),
        (spline(times, q), CubicSpline(times, q, bc_type="clamped")),
        (cubic(times, q, v), CubicHermiteSpline(times, q, v)),
    ):
        for order in range(4):
            scale = max(float(np.abs(known(at, order)).max()), 1.0)
            np.testing.assert_allclose(made(at, order), known(at, order), atol=1e-11 * scale)
        assert made(0.3).shape == (3,) and made(at[:6].reshape(2, 3)).shape == (2, 3, 3)


def test_any_degree_is_evaluated() -> None:
    random = np.random.default_rng(1)
    c, x = random.normal(size=(6, 4, 2)), np.arange(5.0)
    at = np.linspace(0.0, 4.0, 50)
    for order in range(7):
        np.testing.assert_allclose(Curve(c, x)(at, order), PPoly(c, x)(at, order), atol=1e-9)
