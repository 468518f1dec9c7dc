"""What every planned profile must fulfil, checked from its samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numba
import numpy as np
import pytest

from robot_rt_control.motion import sample_profile

NOTHING = 1e-30
"""A distance so small that its cube root, the duration, squares to numbers that floats do not resolve."""


@numba.njit
def _sample_all(profile, times, out):
    for i in range(len(times)):
        out[i, 0], out[i, 1], out[i, 2] = sample_profile(profile, times[i])


def sample_all(profile: np.record, times: np.ndarray) -> np.ndarray:
    """Position, velocity, acceleration at the times; shape (n, 3)."""
    out = np.empty((len(times), 3))
    _sample_all(profile, np.asarray(times, dtype=float), out)
    return out


def check_laws(profile, start, q1, v1, vmax, amax, jmax):
    """Start and end exact, limits kept as far as the start permits, no jump anywhere.

    Args:
        start: q0, v0, a0.
        q1: target, None if the profile has only a target velocity.
        vmax: None: velocity is not limited.
    """
    q0, v0, a0 = start
    total = float(profile.total)
    assert 0.0 <= total < math.inf
    assert 0 <= profile.n <= len(profile.duration)
    np.testing.assert_allclose(np.sum(profile.duration), total, rtol=1e-9, atol=1e-12)
    assert np.all(np.abs(profile.jerk) <= jmax)

    if total > 0.0:
        assert sample_profile(profile, 0.0) == (q0, v0, a0)
        assert sample_profile(profile, -1.0) == (q0, v0, a0)
    q_end, v_end, a_end = sample_profile(profile, total)
    assert (v_end, a_end) == (v1, 0.0)
    if q1 is not None:
        assert q_end == q1

    knots = np.cumsum(profile.duration[: profile.n])
    times = np.sort(np.concatenate([np.linspace(0.0, total, 301), knots, np.nextafter(knots, -1.0)]))
    times = times[(times >= 0.0) & (times <= total)]
    q, v, a = sample_all(profile, times).T
    released = v0 + a0 * abs(a0) / (2.0 * jmax)  # not even the fastest brake ends with less
    speeds = [abs(v0), abs(released), abs(v1), vmax if vmax is not None else 0.0]
    v_scale, a_scale, q_scale = max(speeds), max(amax, abs(a0)), np.ptp(q) + abs(q0) + abs(q_end)
    assert np.max(np.abs(a)) <= a_scale * (1.0 + 1e-9)
    assert np.max(np.abs(v)) <= v_scale * (1.0 + 1e-9) + 1e-12 * a_scale * total

    # No jump: between neighbours nothing changes by more than its derivative allows.
    h = np.diff(times)
    # The clock itself resolves no better than this, late in a long motion.
    resolution = 4e-16 * total
    assert np.all(np.abs(np.diff(a)) <= jmax * (h + 8.0 * resolution) * (1.0 + 1e-9) + 1e-12 * a_scale)
    assert np.all(np.abs(np.diff(v)) <= a_scale * (h + resolution) * (1.0 + 1e-9) + 1e-11 * v_scale)
    v_between = np.max(np.abs(v)) + a_scale * h
    assert np.all(np.abs(np.diff(q)) <= v_between * (h + resolution) * (1.0 + 1e-9) + 1e-11 * q_scale + NOTHING)
    # Nothing jumps at the end either: the error there, relative to the travel.
    if q1 is not None and total > 0.0:
        before_end = sample_profile(profile, np.nextafter(total, 0.0))
        assert abs(before_end[0] - q1) <= 1e-9 * np.ptp(q) + 4e-16 * (abs(q0) + abs(q1)) + NOTHING


@pytest.fixture(scope="session")
def laws() -> Callable[..., None]:
    return check_laws


@pytest.fixture(scope="session")
def sample() -> Callable[..., np.ndarray]:
    return sample_all
