"""Levels of an executor's health, without DDS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from robot_rt_control.realtime.executor.devices import ForeignDriver
from robot_rt_control.realtime.executor.health import Reading, executor_health
from robot_rt_control.realtime.executor.tick_periods import LOOP
from robot_rt_control.vocabulary.enums import DriverMode, ImageError
from robot_rt_control.vocabulary.health import Health, Level


def of(what: str, now: Reading, before: Reading | None = None) -> Health:
    (found,) = [health for health in executor_health(now, before) if health.what == what]
    return found


def test_all_is_well(reading: Any) -> None:
    healths = executor_health(reading(1.0, 1000), reading(0.0, 0))
    assert [(h.what, h.level) for h in healths] == [
        ("loop", Level.OK),
        ("control server", Level.OK),
        ("protective stop", Level.OK),
        ("part arm", Level.OK),
    ]
    assert healths[0].message == "ticks every 1 ms (realtime)"
    assert healths[0].values == {
        "clock": "realtime",
        "period [s]": "0.001",
        "tick": "1000",
        "lateness p99 [s]": "2e-05",
        "deadline misses": "0",
    }


def test_periods_are_among_the_values(reading: Any) -> None:
    periods = {LOOP: {"period mean [s]": "0.001"}, "arm": {"ticks without new data": "3"}}
    loop, _, _, part = executor_health(reading(1.0, 1000), reading(0.0, 0), periods)
    assert loop.values["period mean [s]"] == "0.001" and part.values["ticks without new data"] == "3"


def test_misses_are_a_warning_while_they_grow(reading: Any) -> None:
    loop = of("loop", reading(1.0, 990, misses=10), reading(0.0, 0, misses=3))
    assert (loop.level, loop.message) == (Level.WARN, "7 deadlines missed since the last report")
    assert of("loop", reading(1.0, 990, misses=10), reading(0.0, 0, misses=10)).level == Level.OK


def test_a_loop_that_does_not_tick_is_an_error_unless_it_waits_for_steps(reading: Any) -> None:
    loop = of("loop", reading(1.0, 5), reading(0.0, 5))
    assert (loop.level, loop.message) == (Level.ERROR, "stands still at tick 5")
    assert of("loop", reading(1.0, 5, pace=0.0), reading(0.0, 5, pace=0.0)).level == Level.OK


def test_slow_simulated_time_and_two_clocks(reading: Any) -> None:
    assert of("loop", reading(shortfall="too slow")).message == "too slow"
    assert of("loop", reading(shortfall="too slow")).level == Level.WARN
    loop = of("loop", reading(clock_publishers=2))
    assert (loop.level, loop.message) == (
        Level.ERROR,
        "2 nodes publish /clock: simulated time jumps; see own_topics",
    )


@pytest.mark.parametrize(
    ("changes", "level", "message"),
    [
        ({}, Level.OK, "attached"),
        ({"server_attached": False, "server_epoch": 0}, Level.WARN, "none has attached yet"),
        ({"server_attached": False, "server_released": True}, Level.WARN, "detached"),
        ({"server_attached": False}, Level.ERROR, "lost"),
    ],
)
def test_the_control_server(changes: dict[str, Any], level: Level, message: str, reading: Any) -> None:
    server = of("control server", reading(**changes))
    assert (server.level, server.message) == (level, message)


def test_parts(part: Any, reading: Any) -> None:
    faulted = of("part arm", reading(parts=[part("faulted", "it was too fast", "/logs/1")]))
    assert (faulted.level, faulted.message, faulted.hardware) == (Level.ERROR, "faulted: it was too fast", "arm")
    assert faulted.values == {"active action": "hold", "fault log": "/logs/1"}
    disabled = of("part arm", reading(parts=[part("disabled")]))
    assert (disabled.level, disabled.message) == (Level.WARN, "disabled")


def driver(**changes: Any) -> ForeignDriver:
    good = ForeignDriver(
        device="robot",
        alive=True,
        cycles=1000,
        late_cycles=4,
        unanswered_cycles=2,
        mode=DriverMode.FOLLOWING,
        error=ImageError.NONE,
        reason="",
        age_ticks=0,
        max_age_ticks=50,
    )
    return replace(good, **changes)


@pytest.mark.parametrize(
    ("changes", "level", "message"),
    [
        ({}, Level.OK, "following"),
        ({"alive": False, "age_ticks": 90}, Level.ERROR, "its process is dead"),
        (
            {"alive": False, "error": ImageError.DEVICE, "reason": "bus off"},
            Level.ERROR,
            "its process is dead; it reported device: bus off",
        ),
        ({"age_ticks": 51}, Level.ERROR, "silent: its process runs and publishes no states"),
        ({"error": ImageError.INACTIVE, "reason": "pendant"}, Level.ERROR, "inactive: pendant"),
        (
            {"cycles": 2000, "late_cycles": 7, "unanswered_cycles": 3},
            Level.WARN,
            "following; of the last 1000 cycles 3 were late, and 1 had no answer in time",
        ),
        ({"cycles": 10, "late_cycles": 1, "mode": DriverMode.HOLDING}, Level.OK, "holding"),
    ],
)
def test_a_foreign_driver_is_told_by_name(
    reading: Any, changes: dict[str, Any], level: Level, message: str
) -> None:
    before = reading(0.0, 0, drivers=[driver()])
    health = of("hardware_driver_robot", reading(1.0, 1000, drivers=[driver(**changes)]), before)
    assert (health.level, health.message, health.hardware) == (level, message, "robot")
