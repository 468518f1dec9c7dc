"""The override's way to what was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.model.workcell import Workcell
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.speed import advance_speed
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.enums import OperationalState


def moving(workcell: Workcell, velocity: float = 0.3) -> Any:
    w = World(workcell).memory
    for tables in w.tables:
        tables.n_actions = 1
    w.parts_runtime[0].state, w.parts_runtime[0].active_action = int(OperationalState.ENABLED), 0
    w.parts[0].commanded_velocity[0] = velocity
    return w


def ramp(w: Any, target: float, advance: Any = advance_speed) -> list[float]:
    w.speed_target = target
    found = [float(w.speed)]
    while w.speed != target:
        advance(w)
        found.append(float(w.speed))
        assert len(found) < 5000 and w.parts[0].dt == w.period * w.speed
    return found


def test_the_rest_of_the_acceleration_is_what_the_override_may_take(workcell: Workcell) -> None:
    w = moving(workcell)
    part, limits = w.parts[0], w.limits[0]
    for target in (0.0, 1.0):
        speeds = np.array(ramp(w, target))
        change = np.abs(np.diff(speeds))[:-1] / w.period
        reached = np.maximum(speeds[:-1], speeds[1:])[:-1]
        needed = part.acceleration_limit[0] * reached**2 + part.velocity_limit[0] * change
        assert (needed <= limits.acceleration[0] * (1 + 1e-9)).all()
        assert (np.diff(speeds) * (1 if target else -1) > 0.0).all()


def test_at_once_where_nothing_moves_and_from_0_carefully(workcell: Workcell) -> None:
    w = moving(workcell, velocity=0.0)
    assert ramp(w, 0.25) == [1.0, 0.25]
    assert ramp(w, 0.0) == [0.25, 0.0]
    first, second = ramp(w, 1.0)[:2]
    assert (first, second) == (0.0, pytest.approx(0.0048, rel=1e-3)), "what stands may be anywhere on its path"


def test_what_the_loop_itself_brakes_is_no_reason_to_wait(workcell: Workcell) -> None:
    w = moving(workcell)
    w.parts_runtime[0].active_action = -1
    assert ramp(w, 0.0) == [1.0, 0.0]


def test_a_plan_that_may_need_all_the_acceleration_does_not_hold_it_up_for_ever(workcell: Workcell) -> None:
    w = moving(workcell)
    w.limits[0].acceleration[:] = w.parts[0].acceleration_limit
    assert len(ramp(w, 0.0)) < 3000


@pytest.mark.parametrize("target", [0.0, 0.3])
def test_compiled_equals_interpreted(workcell: Workcell, target: float) -> None:
    twin = interpreted("robot_rt_control.realtime.tick.speed")
    assert ramp(moving(workcell), target) == ramp(moving(workcell), target, twin.advance_speed)
