"""A bound on jerk: from whatever state it leads to, the joint still comes to rest within its range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.hardware.jerk_limit import jerk_limited_velocity, stop_reach
from robot_rt_control.memory.layout import limits_dtype

DT = 1e-3
LOWER, UPPER = -0.5, 1.0
any_number = st.one_of(
    st.floats(-10.0, 10.0), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([math.inf, -math.inf])
)


def make_limits(velocity: float, acceleration: float, jerk: float) -> Any:
    limits = np.zeros(1, limits_dtype)[0]
    limits.position_lower[:], limits.position_upper[:] = LOWER, UPPER
    limits.velocity[:], limits.acceleration[:], limits.jerk[:] = velocity, acceleration, jerk
    return limits


def farthest(v: float, a: float, most: float, jerk: float) -> float:
    """How far the three pieces of the stop lead, by small steps (an oracle that knows no closed form)."""
    dt, q, reach = 2e-5, 0.0, 0.0
    for _ in range(400_000):
        # the deceleration from which it can just be released as the velocity becomes 0
        release = a < 0.0 and v <= a * a / (2.0 * jerk)
        j = jerk if release else (-jerk if a > -most else 0.0)
        a = min(max(a + j * dt, -most), max(a, most))
        v += a * dt
        q += v * dt
        reach = max(reach, q)
        if (v <= 0.0 and a <= 0.0) or (release and abs(v) < 1e-6 and abs(a) < jerk * dt * 2):
            break
    return reach


@pytest.mark.parametrize(
    ("v", "a"), [(1.0, 0.0), (1.0, 4.0), (1.0, -4.0), (0.02, 0.0), (0.0, 3.0), (-0.05, 4.0), (0.1, -5.0), (0.02, -3.0)]
)
def test_the_reach_of_a_stop_is_that_of_its_three_pieces(v: float, a: float) -> None:
    assert stop_reach(v, a, 5.0, 60.0) == pytest.approx(farthest(v, a, 5.0, 60.0), abs=2e-4)


@settings(deadline=None)  # the first call compiles
@given(
    st.lists(st.tuples(any_number, st.integers(1, 60)), min_size=1, max_size=40),
    st.sampled_from([(0.3, 2.0, 30.0), (1.2, 6.0, 60.0), (5.0, 20.0, 6000.0)]),
)
def test_whatever_is_asked_all_limits_hold(asked: list[tuple[float, int]], given_limits: tuple[float, ...]) -> None:
    limits = make_limits(*given_limits)
    top, most, jerk = given_limits
    q = v = a = 0.0
    for wanted, ticks in asked:
        for _ in range(ticks):
            new = jerk_limited_velocity(limits, 0, q, v, a, wanted, False, DT)
            acceleration = (new - v) / DT
            assert abs(new) <= top * (1 + 1e-12)
            assert abs(acceleration) <= most * (1 + 1e-9)
            assert abs(acceleration - a) <= jerk * DT * (1 + 1e-6) + 1e-9
            q, v, a = q + new * DT, new, acceleration
            assert LOWER - 1e-9 <= q <= UPPER + 1e-9


@settings(deadline=None)  # the first call compiles
@given(st.floats(-1.2, 1.2), st.floats(-0.1, 0.1))
def test_to_settle_means_to_rest_without_acceleration(v: float, q: float) -> None:
    limits = make_limits(1.2, 6.0, 60.0)
    a, ticks = 0.0, 0
    while (v != 0.0 or a != 0.0) and ticks < 400:
        new = jerk_limited_velocity(limits, 0, q, v, a, 0.0, True, DT)
        assert abs((new - v) / DT - a) <= 60.0 * DT * (1 + 1e-6) + 1e-9
        assert abs(new) <= abs(v) + 1e-12 or abs(new) < 1e-3
        a, v = (new - v) / DT, new
        q += v * DT
        ticks += 1
    assert (v, a) == (0.0, 0.0)


@settings(deadline=None)  # the first call compiles
@given(st.floats(-0.9, 0.9), st.floats(-0.95, 0.95))
def test_what_keeps_the_limits_is_not_touched(v: float, part: float) -> None:
    limits = make_limits(1.2, 6.0, 60.0)
    wanted = v + part * 60.0 * DT * DT
    assert jerk_limited_velocity(limits, 0, 0.0, v * 0.1, 0.0, v * 0.1 + (wanted - v), False, DT) == v * 0.1 + (
        wanted - v
    )


def test_beyond_its_range_a_joint_may_come_back_and_need_not() -> None:
    limits = make_limits(1.2, 6.0, 60.0)
    assert jerk_limited_velocity(limits, 0, UPPER + 0.1, 0.0, 0.0, 0.0, False, DT) == 0.0
    assert jerk_limited_velocity(limits, 0, UPPER + 0.1, 0.0, 0.0, -1.0, False, DT) < 0.0
    assert jerk_limited_velocity(limits, 0, UPPER + 0.1, 0.0, 0.0, 1.0, False, DT) <= 1e-9
