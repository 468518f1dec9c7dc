"""Simulated time beside the wall clock, with a clock of the test's own."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.realtime.executor.pacing import FactorMeter, Pacer


class Wall:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("factor", [0.5, 1.0, 4.0])
def test_simulated_time_goes_at_its_factor(factor: float) -> None:
    wall = Wall()
    pacer = Pacer(factor, clock=wall)
    for _ in range(100):
        wall.now += 0.001  # what the ticks took
        wall.now += pacer.pause(0.005)
    assert (wall.now - 50.0) * factor == pytest.approx(0.5)


def test_I16_after_a_stall_simulated_time_does_not_sprint() -> None:
    wall = Wall()
    pacer = Pacer(1.0, clock=wall)
    wall.now += pacer.pause(0.005) + 10.0  # ten seconds in which nothing ran
    resumed, free = wall.now, 0
    while pacer.pause(0.005) == 0.0:
        free += 1
    assert free <= 4, "at most 20 ms are caught up with"
    for _ in range(100):
        wall.now += pacer.pause(0.005)
    assert wall.now - resumed == pytest.approx(0.5, abs=0.03)


def test_a_short_lateness_is_caught_up_with() -> None:
    wall = Wall()
    pacer = Pacer(1.0, clock=wall)
    for k in range(200):
        wall.now += 0.015 if k % 10 == 0 else 0.0005
        wall.now += pacer.pause(0.005)
    assert wall.now - 50.0 == pytest.approx(1.0, abs=0.02)


def test_the_factor_is_that_of_the_last_second() -> None:
    wall = Wall()
    meter = FactorMeter(1.0, clock=wall)
    assert math.isnan(meter.factor(0.0)) and meter.shortfall(math.nan) == ""
    simulated = 0.0
    for speed, expected in ((1.0, 1.0), (0.4, 0.4), (1.0, 1.0)):
        for _ in range(10):
            wall.now += 0.2
            simulated += 0.2 * speed
            factor = meter.factor(simulated)
        assert factor == pytest.approx(expected)


def test_I15_a_factor_clearly_below_its_target_is_a_warning() -> None:
    wall = Wall()
    meter, simulated = FactorMeter(2.0, clock=wall), 0.0
    meter.factor(simulated)
    wall.now += 0.2
    assert meter.shortfall(meter.factor(simulated + 0.1)) == "", "a whole second must have passed"
    for _ in range(10):
        wall.now += 0.2
        simulated += 0.3
        factor = meter.factor(simulated)
    assert meter.shortfall(factor) == (
        "simulated time runs at 1.50 of real time, paced to 2: the machine is too slow or too busy. "
        "Nothing is lost by it but time"
    )
    assert meter.shortfall(1.9) == ""
    unpaced = FactorMeter(0.0, clock=wall)
    assert unpaced.shortfall(unpaced.factor(0.0)) == ""
