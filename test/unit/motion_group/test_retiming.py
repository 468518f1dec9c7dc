from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.retiming import Retimed, Slowing, describe, keep_limits, retimed
from robot_rt_control.motion_group.trajectory import curve_through, find_excess, states_of
from robot_rt_control.vocabulary.errors import DefinitionError

LIMITS = PlanLimits(
    names=tuple(f"joint_{j + 1}" for j in range(3)),
    lower=np.full(3, -2.9),
    upper=np.full(3, 2.9),
    velocity=np.full(3, 1.5),
    acceleration=np.full(3, 6.0),
    jerk=np.full(3, 100.0),
)


def curve_of(made: Retimed) -> Any:
    return curve_through(made.times, made.q, made.v, made.a)


def slowed(curve: Any, limits: PlanLimits = LIMITS, **options: Any) -> Retimed:
    made = retimed(curve.x, *states_of(curve), limits, **{"keeps_start": False, **options})
    assert made is not None
    assert find_excess(curve_of(made), limits) is None
    return made


def farthest_from_path(curve: Any, made: Retimed) -> float:
    """[rad] Largest distance of a joint from the point of the curve that is nearest to the same path time."""
    after = curve_of(made)
    times = np.linspace(0.0, made.times[-1], 2000)
    u = np.interp(times, made.times, made.planned)
    for _ in range(20):  # to the foot of the perpendicular
        q, dq = curve(u), curve(u, 1)
        step = ((after(times) - q) * dq).sum(axis=1) / np.maximum((dq**2).sum(axis=1), 1e-9)
        u = np.clip(u + np.clip(step, -1e-3, 1e-3), 0.0, curve.x[-1])
    return float(np.abs(after(times) - curve(u)).max())


def random_curve(seed: int) -> Any:
    """Points at random times, some of them with velocities and accelerations that jump between the pieces."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    times = np.concatenate([[0.0], np.cumsum(random.uniform(0.02, 0.6, n - 1))])
    q = np.cumsum(random.normal(0.0, 0.1, (n, 3)), axis=0)
    v, a = random.normal(0.0, 0.7, (n, 3)), random.normal(0.0, 5.0, (n, 3))
    v[0] = v[-1] = 0.0
    kind = random.integers(0, 3)
    return curve_through(times, q, v if kind else None, a if kind == 2 else None)


@given(st.integers(0, 10**6))
@settings(max_examples=tries(15, whole=60), deadline=None)
def test_limits_are_kept_on_the_same_path_and_never_faster(seed: int) -> None:
    curve = random_curve(seed)
    limits = replace(LIMITS, lower=np.full(3, -99.0), upper=np.full(3, 99.0))
    made = slowed(curve, limits)
    assert (np.diff(made.times) >= np.diff(made.planned) * (1.0 - 1e-9)).all()
    assert np.isin(curve.x, made.planned).all(), "the points stay"
    np.testing.assert_allclose(made.q[-1], curve(curve.x[-1]), atol=1e-12)
    assert not made.v[0].any() and np.abs(made.v[-1]).max() < 1e-9
    assert farthest_from_path(curve, made) < 2e-5


def test_only_what_exceeds_a_limit_is_slowed() -> None:
    """A fast wave in the middle of a rest: before and after it the times are those of the plan."""
    t = np.linspace(0.0, 8.0, 81)
    wave = np.where(abs(t - 4.0) < 0.5, 0.3 * np.cos(np.pi * (t - 4.0)) ** 4, 0.0)
    curve = curve_through(t, wave[:, None] * np.ones(3))
    made = slowed(curve)
    (slowing,) = made.slowings
    assert 3.2 < slowing.begin < 3.7 and 4.3 < slowing.end < 4.8 and 0.5 < slowing.rate < 0.95
    assert made.slowest == slowing.rate
    early, late = made.planned <= slowing.begin, made.planned >= slowing.end
    np.testing.assert_allclose(made.times[early], made.planned[early], atol=1e-12)
    delay = (made.times - made.planned)[late]
    np.testing.assert_allclose(delay, delay[0], atol=1e-9)
    assert 0.0 < delay[0] < 0.6


def test_from_rest_to_rest_a_whole_slowing_is_near_the_least() -> None:
    curve = curve_through(np.array([0.0, 0.5]), np.array([[0.0] * 3, [1.0, 0.5, 0.0]]))
    made = slowed(curve)
    assert made.times[-1] == pytest.approx(1.0, rel=0.03)  # 6 x / T² = 6 rad/s²


def test_a_start_in_motion_is_kept_or_refused() -> None:
    times = np.array([0.0, 1.0, 1.4, 2.4])
    q, v = np.array([[0.0], [0.8], [0.5], [0.5]]) * np.ones(3), np.array([[0.9], [0.2], [-0.3], [0.0]]) * np.ones(3)
    curve = curve_through(times, q, v)
    assert find_excess(curve, LIMITS) is not None
    made = slowed(curve, keeps_start=True)
    np.testing.assert_allclose(made.v[0], 0.9, atol=1e-12)
    abrupt = curve_through(times / 8.0, q / 8.0, v)
    assert retimed(abrupt.x, *states_of(abrupt), LIMITS, keeps_start=True) is None


def test_the_number_of_points_may_be_limited() -> None:
    t = np.linspace(0.0, 20.0, 201)
    curve = curve_through(t, np.sin(3.0 * t)[:, None] * np.ones(3))
    free, few = slowed(curve), slowed(curve, most_points=230)
    assert len(free.times) > 230 >= len(few.times)
    assert len(slowed(curve, most_points=201).times) == 201


def test_what_cannot_be_slowed_is_an_error() -> None:
    def of(target: float, slowest: float) -> Retimed:
        curve = curve_through(np.array([0.0, 0.5]), np.array([[0.0] * 3, [target, 0.0, 0.0]]))
        return keep_limits("the curve", curve, LIMITS, slowest=slowest)

    with pytest.raises(DefinitionError, match="the curve: the position of joint 'joint_1' at .* is outside its limits"):
        of(3.0, 0.1)
    with pytest.raises(DefinitionError, match="the curve: the velocity of joint 'joint_1' at .*Slow the tr"):
        of(1.0, 1.0)
    with pytest.raises(DefinitionError, match=r"it would be slowed to 0\.49.* between 0.00 and 0.50 s; .* least 0.8"):
        of(1.0, 0.8)
    assert of(1.0, 0.4).slowest > 0.48 and of(0.2, 0.4).slowings == ()
    with np.errstate(all="ignore"), pytest.raises(DefinitionError, match="is outside its limits"):
        curve = curve_through(np.array([0.0, 0.5]), np.zeros((2, 3)), np.array([[0.0] * 3, [1e308] * 3]))
        keep_limits("the curve", curve, LIMITS, slowest=0.1)


def test_places_are_described() -> None:
    places = [Slowing(rate=r, begin=b, end=b + 0.25) for r, b in ((0.93, 1.2), (0.5, 2.0), (0.8, 3.0), (0.7, 4.0))]
    assert describe([]) == ""
    assert describe(places[:1]) == "slowed to 0.93 between 1.20 and 1.45 s"
    assert describe(places, 2) == (
        "slowed to 0.93 between 1.20 and 1.45 s, to 0.5 between 2.00 and 2.25 s "
        "and at 2 more places, to 0.5 at the least"
    )
