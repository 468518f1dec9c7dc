"""Efforts near a limit: bounded, fading towards it, and never stronger than what was asked for without need."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.memory.layout import limits_dtype
from robot_rt_control.realtime.tick.effort_barrier import approach_speed, bounded_effort, braking_effort

DT = 1e-3
finite = st.floats(-1e6, 1e6)


def make_limits() -> Any:
    limits = np.zeros(1, limits_dtype)[0]
    limits.position_lower[:], limits.position_upper[:] = -1.0, 1.0
    limits.velocity[:], limits.acceleration[:] = 1.0, 4.8
    limits.effort[:], limits.effort_rate[:] = 100.0, 2000.0
    return limits


@settings(deadline=None)  # the first call compiles
@given(finite, finite, finite)
def test_it_is_finite_within_the_limit_and_on_the_side_that_is_safe(q: float, v: float, asked: float) -> None:
    limits = make_limits()
    effort = bounded_effort(limits, 0, q, v, asked)
    assert math.isfinite(effort) and (abs(effort) <= 100.0 or effort == asked)
    if v > 1.0:
        assert effort <= 0.0
    if v < -1.0 and not v > 1.0:
        assert effort >= 0.0
    if q >= 1.0 and v >= 0.0:
        assert effort <= 0.0
    if q <= -1.0 and v <= 0.0:
        assert effort >= 0.0


def test_far_from_everything_it_is_what_was_asked_for() -> None:
    for asked in (-100.0, -3.0, 0.0, 1e-300, 100.0):
        assert bounded_effort(make_limits(), 0, 0.0, 0.0, asked) == asked


@pytest.mark.parametrize(("q", "v"), [(math.nan, 0.0), (0.0, math.nan), (math.inf, 0.0)])
def test_what_is_not_measured_bounds_nothing(q: float, v: float) -> None:
    assert bounded_effort(make_limits(), 0, q, v, 42.0) == 42.0
    assert braking_effort(make_limits(), 0, math.nan) == 0.0


def test_the_speed_of_approach_leaves_half_of_the_deceleration() -> None:
    for room in (0.05, 0.2, 0.5):
        assert approach_speed(room, 10.0, 4.8) == pytest.approx(min(2.5 * room, math.sqrt(4.8 * room)))
    assert approach_speed(100.0, 1.0, 4.8) == 1.0 and approach_speed(-0.1, 1.0, 4.8) == -0.25


@pytest.mark.parametrize("load", [0.0, 20.0])
@pytest.mark.parametrize("inertia", [20.0, 4.0, 2.0])
def test_an_inertia_that_is_pushed_stops_at_its_end(inertia: float, load: float) -> None:
    """Also under a load that pushes it on: then it is held a little behind its end."""
    limits, q, v, e = make_limits(), 0.0, 0.0, 0.0
    for _ in range(8000):
        wanted = bounded_effort(limits, 0, q, v, 100.0)
        e = min(max(wanted, e - 2.0), e + 2.0)
        v += (e + load) / inertia * DT
        q += v * DT
        assert q < 1.0 + (0.045 if load else 1e-3) and v < 1.5
    assert abs(v) < 1e-3 and q > 0.99
