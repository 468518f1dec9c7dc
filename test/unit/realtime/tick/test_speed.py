"""The override's way to what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.speed import advance_speed
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.defaults import ACCELERATION_MARGIN, JERK_MARGIN
from robot_rt_control.vocabulary.enums import OperationalState

FLOOR = 0.1
SAMPLED = 1.02
"""The bounds hold at one override; a tick goes from one to the next."""


def moving(workcell: Workcell, velocity: float = 0.3) -> Any:
    w = World(workcell).memory
    for tables in w.tables:
        tables.n_actions = 1
    w.parts_runtime[0].state, w.parts_runtime[0].active_action = int(OperationalState.ENABLED), 0
    w.parts[0].commanded_velocity[0] = velocity
    return w


def step(w: Any, advance: Callable[[Any], None] = advance_speed) -> None:
    """One tick of the override, and what the limit step remembers of it."""
    w.past_speeds[1:] = w.past_speeds[:2].copy()
    w.past_speeds[0] = w.speed
    advance(w)
    assert w.parts[0].dt == w.period * w.speed


def ramp(w: Any, target: float, advance: Callable[[Any], None] = advance_speed) -> list[float]:
    w.speed_target = target
    found = [float(w.speed)]
    while w.speed != target or w.speed_rate != 0.0:
        step(w, advance)
        found.append(float(w.speed))
        assert len(found) < 6000
    return found


def needed(w: Any, speeds: list[float]) -> np.ndarray:
    """Largest acceleration and jerk that a motion may need at these overrides, as fractions of what is allowed."""
    part, limits = w.parts[0], w.limits[0]
    n = part.dof
    v, a, jerk = (np.array(f[:n]) for f in (part.velocity_limit, part.acceleration_limit, part.jerk_limit))
    most = np.minimum(limits.acceleration[:n], ACCELERATION_MARGIN * a)
    system = np.where(limits.jerk[:n] > 0.0, limits.jerk[:n], np.inf)
    hardest = np.minimum(system, JERK_MARGIN * jerk)
    s = np.array(speeds)
    rate = np.diff(s, prepend=s[0]) / w.period
    change = np.diff(rate, prepend=0.0) / w.period
    s = np.minimum(s, np.roll(s, 1))[:, None]
    rate, change = np.abs(rate)[:, None], np.abs(change)[:, None]
    accelerations = (a * s**2 + v * rate) / np.maximum(most, a * s**2 + FLOOR * most)
    jerks = (jerk * s**3 + 3.0 * a * s * rate + v * change) / np.maximum(hardest, jerk * s**3 + FLOOR * hardest)
    return np.array([accelerations.max(), jerks.max()])


def test_the_override_takes_what_the_plan_leaves_of_acceleration_and_jerk(workcell: Workcell) -> None:
    w = moving(workcell)
    for target in (0.0, 1.0):
        speeds = ramp(w, target)
        assert (needed(w, speeds) <= SAMPLED).all()
        assert (np.diff(speeds)[:-1] * (1 if target else -1) > 0.0).all()
        assert 300 < len(speeds) < 500, "within half a second with the default limits"


def random_limits(w: Any, random: Random) -> None:
    part, limits = w.parts[0], w.limits[0]
    for j in range(part.dof):
        v = 10.0 ** random.uniform(-1.0, 1.0)
        a = v * 10.0 ** random.uniform(0.0, 1.2)
        part.velocity_limit[j], part.acceleration_limit[j] = v, a
        part.jerk_limit[j] = a * 10.0 ** random.uniform(0.5, 2.0)
        limits.acceleration[j] = a * random.choice((1.0, 1.2, 5.0))
        limits.jerk[j] = part.jerk_limit[j] * random.choice((0.0, 0.0, 1.0, 1.2, 3.0))


@pytest.mark.parametrize("seed", range(16))
def test_L24_the_bounds_hold_for_any_limits_and_whatever_is_asked_for_meanwhile(workcell: Workcell, seed: int) -> None:
    random = Random(seed)
    w = moving(workcell)
    random_limits(w, random)
    speeds = [1.0]
    often = random.choice((0.002, 0.02))
    for _ in range(3000):
        if random.random() < often:
            now = float(w.speed)
            w.speed_target = random.choice((0.0, 1.0, random.random(), random.random(), now, max(0.0, now - 0.01)))
        step(w)
        speeds.append(float(w.speed))
    assert (needed(w, speeds) <= SAMPLED).all()
    assert min(speeds) >= 0.0 and max(speeds) <= 1.0 and np.ptp(speeds) > 0.02
    assert ramp(w, 0.0)[-1] == 0.0


def test_L24_a_change_to_the_present_speed_while_it_changes_comes_back_to_it_smoothly(workcell: Workcell) -> None:
    w = moving(workcell)
    w.speed_target = 0.0
    for _ in range(200):
        step(w)
    turned = float(w.speed)
    speeds = ramp(w, turned)
    assert min(speeds) < turned - 0.01 and speeds[-1] == turned
    assert np.abs(np.diff(speeds, 2)).max() <= 60.0 * w.period**2 * SAMPLED


def test_at_once_where_nothing_moves_and_from_0_carefully(workcell: Workcell) -> None:
    w = moving(workcell, velocity=0.0)
    assert ramp(w, 0.25) == [1.0, 0.25]
    assert ramp(w, 0.0) == [0.25, 0.0]
    w.speed_target = 1.0
    first = []
    for _ in range(3):
        step(w)
        first.append(float(w.speed))
    assert 0.0 < first[0] < first[1] < first[2] < 1e-3, "what stands may be anywhere on its path"
    step(w)
    assert w.speed == 1.0, "nothing moves, as the ticks since have shown"


def test_a_joint_that_turns_round_is_on_its_way(workcell: Workcell) -> None:
    w = moving(workcell, velocity=0.0)
    w.parts[0].commanded_acceleration[0] = 1.0
    assert len(ramp(w, 0.0)) > 300


def test_what_the_loop_itself_or_a_safety_action_brakes_is_no_reason_to_wait(workcell: Workcell) -> None:
    w = moving(workcell)
    w.parts_runtime[0].active_action = -1
    assert ramp(w, 0.0) == [1.0, 0.0]
    w = moving(workcell)
    w.tables[w.active_tables].safety_action[0] = 0
    w.speed_target = 0.0
    advance_speed(w)
    assert w.speed == 0.0 and w.parts[0].dt == w.period


def test_a_part_that_begins_to_move_meanwhile_lowers_the_bounds_and_0_is_the_end_all_the_same(
    workcell: Workcell,
) -> None:
    w = moving(workcell)
    w.speed_target = 0.0
    for _ in range(350):
        step(w)
    w.parts[0].acceleration_limit[:] *= 0.1
    w.parts[0].jerk_limit[:] *= 0.1
    speeds = ramp(w, 0.0)
    assert min(speeds) == 0.0 and speeds[-1] == 0.0
    assert np.abs(np.diff(speeds, 2)).max() < 0.3 * np.abs(np.diff(speeds)).max(), "no step at the end"


def test_a_plan_that_may_need_all_that_the_system_gives_does_not_hold_it_up_for_ever(workcell: Workcell) -> None:
    w = moving(workcell)
    w.limits[0].acceleration[:] = w.parts[0].acceleration_limit
    w.limits[0].jerk[:] = w.parts[0].jerk_limit
    assert len(ramp(w, 0.0)) < 1100


@pytest.mark.parametrize("target", [0.0, 0.3])
def test_compiled_equals_interpreted(workcell: Workcell, target: float) -> None:
    twin = interpreted("robot_rt_control.realtime.tick.speed")
    for back in (target, 1.0):
        first, second = moving(workcell), moving(workcell)
        first.speed = second.speed = 1.0 if back == target else 0.2
        assert ramp(first, back) == ramp(second, back, twin.advance_speed)
