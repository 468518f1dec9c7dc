"""Limits to plan with, and what every plan must fulfil, checked from its samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.plan import Plan, dense_times

SLACK = 1e-6
"""Relative."""


def joint_limits(velocity: Any = 1.5, acceleration: Any = 10.0, jerk: Any = 100.0, *, dof: int = 3) -> PlanLimits:
    return PlanLimits(
        names=tuple(f"joint_{j + 1}" for j in range(dof)),
        lower=np.full(dof, -2.9),
        upper=np.full(dof, 2.9),
        velocity=np.broadcast_to(np.asarray(velocity, float), dof).copy(),
        acceleration=np.broadcast_to(np.asarray(acceleration, float), dof).copy(),
        jerk=np.broadcast_to(np.asarray(jerk, float), dof).copy(),
    )


def check_plan(plan: Plan, start: Any, goal: Any, limits: PlanLimits, *, jerk: bool = True) -> None:
    """Ends exact and at rest; derivatives belong together; velocity, acceleration, jerk within limits."""
    q, v, a = plan.sample(np.array([-1.0, 0.0, plan.duration, plan.duration + 1.0]))
    assert q.shape == v.shape == a.shape == (4, plan.dof)
    np.testing.assert_array_equal(q[:2], [start, start])
    np.testing.assert_array_equal(q[2:], [goal, goal])
    np.testing.assert_array_equal(v, 0.0)
    t = dense_times(plan)
    t = np.concatenate((t[:-1][np.diff(t) > 1e-6 * plan.duration], t[-1:]))
    q, v, a = plan.sample(t)
    assert np.all(np.abs(v) <= limits.velocity * (1.0 + SLACK))
    assert np.all(np.abs(a) <= limits.acceleration * (1.0 + SLACK))
    h = np.diff(t)[:, None]
    change_of_a = limits.jerk * h if jerk else 2.0 * np.abs(a).max()  # it may jump
    for rate, change, slack in ((v, np.diff(q, axis=0), h * h), (a, np.diff(v, axis=0), h)):
        assert np.all(np.abs(change - h * (rate[1:] + rate[:-1]) / 2) <= 1e-9 + slack * change_of_a)
    if jerk:
        assert np.all(np.abs(np.diff(a, axis=0)) <= h * limits.jerk * (1.0 + SLACK) + 1e-11 * limits.acceleration)


def positions(dof: int = 3) -> st.SearchStrategy[np.ndarray]:
    """Differences below 1e-9 take no time that a clock resolves."""
    return st.lists(st.floats(-2.9, 2.9).map(lambda x: round(x, 9)), min_size=dof, max_size=dof).map(np.array)


def any_limits(dof: int = 3) -> st.SearchStrategy[PlanLimits]:
    one = st.lists(st.floats(-1.0, 1.5).map(lambda x: 10.0**x), min_size=dof, max_size=dof)
    return st.builds(lambda v, a, j: joint_limits(v, a, j, dof=dof), one, one, one)


@pytest.fixture(scope="session")
def check() -> Callable[..., None]:
    return check_plan


@pytest.fixture(scope="session")
def limits() -> PlanLimits:
    return joint_limits()
