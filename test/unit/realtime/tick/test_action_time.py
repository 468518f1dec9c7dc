"""Rule T5: the motion at the end of the last command, from the last commands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import limits_dtype, part_dtype
from robot_rt_control.realtime.tick.action_time import show_motion_of
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.enums import CommandMode

DT = 1e-3
POSITION, VELOCITY, EFFORT = (int(mode) for mode in (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT))
JERK = 50.0
EVEN = (1.0, 1.0, 1.0)

speeds = st.one_of(st.just(EVEN), st.tuples(*[st.floats(0.05, 1.0)] * 3))


def commanded(velocities: np.ndarray, dt: float = DT) -> tuple[Any, Any]:
    """A part after commands with these velocities (joints, 3), the newest last, and limits that are far away."""
    part, limits = np.zeros(1, part_dtype)[0], np.zeros(1, limits_dtype)[0]
    n = len(velocities)
    part.dof, part.dt = n, dt
    part.commanded_velocity[:n] = velocities[:, 2]
    part.commanded_acceleration[:n] = (velocities[:, 2] - velocities[:, 1]) / DT
    part.former_acceleration[:n] = (velocities[:, 1] - velocities[:, 0]) / DT
    part.jerk_limit[:] = JERK
    limits.velocity[:], limits.acceleration[:] = 100.0, 1000.0
    return part, limits


def shown(part: Any, limits: Any, mode: int = POSITION, past: tuple[float, ...] = EVEN) -> np.ndarray:
    """(2, joints): velocity, acceleration."""
    show_motion_of(part, limits, pack_modes([CommandMode(mode)] * int(part.dof)), DT, *past)
    return np.array([part.motion_velocity[: part.dof], part.motion_acceleration[: part.dof]])


def instants(past: tuple[float, ...]) -> np.ndarray:
    """When the last four commands ended in the action's time [s], the newest last, at 0."""
    return np.append(-np.cumsum(past)[::-1] * DT, 0.0)


@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(-10, 10), st.floats(-JERK, JERK)), min_size=1, max_size=3), speeds
)
def test_T5_a_motion_of_constant_jerk_is_found_exactly(
    motions: list[tuple[float, ...]], past: tuple[float, ...]
) -> None:
    v, a, jerk = np.array(motions).T[:, :, None]
    t = instants(past)
    q = v * t + a * t**2 / 2 + jerk * t**3 / 6
    dt = DT if past == EVEN else 0.3 * DT  # the override may be another one by now
    found = shown(*commanded(np.diff(q) / DT, dt), past=past)
    slowest = min(past)
    np.testing.assert_allclose(found[0], v[:, 0], atol=1e-10 / slowest)
    np.testing.assert_allclose(found[1], a[:, 0], atol=1e-8 / slowest**2)


def test_T5_measured_velocities_are_not_extrapolated() -> None:
    found = shown(*commanded(np.array([[0.1, 0.2, 0.201]])), EFFORT)
    np.testing.assert_allclose(found[:, 0], [0.201, 1.0])


@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_T5_a_step_of_acceleration_is_not_continued(mode: int) -> None:
    """A user's trapezoid, or the loop's own braking: it would count as a jerk for ever."""
    for before, after in ((0.0, 5.0), (5.0, 0.0), (-5.0, 5.0)):
        velocities = 1.0 + DT * np.array([[0.0, before, before + after]])
        found = shown(*commanded(velocities), mode)
        assert found[1, 0] == pytest.approx(after, abs=JERK * DT * 1.001)
        assert found[0, 0] == pytest.approx(velocities[0, 2] + 0.5 * after * DT, abs=JERK * DT**2)


def test_T5_rest_is_rest_soon_after_a_hard_stop() -> None:
    velocities = np.array([[4e-3, 0.0, 0.0]])
    v, a = shown(*commanded(velocities))[:, 0]
    assert abs(a) <= JERK * DT * 1.001 and abs(v) <= JERK * DT**2
    assert not shown(*commanded(np.zeros((2, 3)))).any()


@pytest.mark.parametrize("dt", [DT, 0.25 * DT])
def test_T5_it_is_within_the_system_limits(dt: float) -> None:
    part, limits = commanded(np.array([[0.9, 0.95, 1.0], [-0.9, -0.95, -1.0]]), dt)
    limits.velocity[:], limits.acceleration[:] = 0.8, 30.0
    past = EVEN if dt == DT else (0.25, 0.25, 0.25)
    assert shown(part, limits, past=past).tolist() == [[0.8, -0.8], [30.0, -30.0]]


def test_T5_it_is_at_rest_where_time_stands_still() -> None:
    moving = np.full((1, 3), 0.5)
    assert not shown(*commanded(moving, dt=0.0)).any()
    assert not shown(*commanded(moving, dt=0.1 * DT), past=(0.0, 0.1, 0.2)).any()


def test_T5_what_was_before_a_standstill_does_not_count() -> None:
    # In the action's time: 0.4 after one tick; after two, 0.4 and 0.5 in the middles of ticks of 0.1 and 0.2 ms.
    found = shown(*commanded(np.array([[7.0, 0.0, 0.04]]), dt=0.1 * DT), past=(0.1, 0.0, 0.3))
    np.testing.assert_allclose(found[:, 0], [0.4, 0.0], atol=1e-12)
    a = 0.1 / 0.15e-3
    found = shown(*commanded(np.array([[0.0, 0.04, 0.1]]), dt=0.1 * DT), past=(0.2, 0.1, 0.0))
    np.testing.assert_allclose(found[:, 0], [0.5 + a * 0.1e-3, a], rtol=1e-9)


@given(
    st.lists(st.floats(-3, 3), min_size=3, max_size=3),
    st.sampled_from([0.0, 0.5 * DT, DT]),
    st.sampled_from([POSITION, VELOCITY, EFFORT]),
    st.one_of(speeds, st.just((0.1, 0.0, 0.0)), st.just((0.0, 0.0, 0.0))),
)
def test_T5_compiled_equals_interpreted(v: list[float], dt: float, mode: int, past: tuple[float, ...]) -> None:
    found = shown(*commanded(np.array([v]), dt), mode, past)
    part, limits = commanded(np.array([v]), dt)
    interpreted("robot_rt_control.realtime.tick.action_time").show_motion_of(part, limits, mode, DT, *past)
    assert found.tobytes() == np.array([part.motion_velocity[:1], part.motion_acceleration[:1]]).tobytes()
