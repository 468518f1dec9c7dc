"""Time-outs count simulated time, and end where it stands still."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.client.workcell_clock import STANDSTILL_S, WorkcellClock


class Clocks:
    """A workcell's clock over a wall clock that the test moves."""

    def __init__(self) -> None:
        self.wall = 100.0
        self.clock = WorkcellClock(lambda: self.wall)
        self.begin = self.clock.now()

    def passed(self, wall_s: float = 0.0) -> float:
        """What the clock has counted, after so much more time on the wall clock."""
        self.wall += wall_s
        return self.clock.now() - self.begin


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


def test_I17_without_a_report_and_without_simulated_time_the_wall_clock_counts(clocks: Clocks) -> None:
    assert clocks.passed(3.0) == 3.0
    clocks.clock.take(None)
    assert clocks.passed(50.0) == 53.0


def test_I17_simulated_time_counts_at_its_factor(clocks: Clocks) -> None:
    clocks.clock.take(7.0, 0.5)
    for i in range(1, 11):
        assert clocks.passed(0.1) == pytest.approx(0.1 * i - 0.05), "between two reports it goes on at the factor"
        clocks.passed(0.1)
        clocks.clock.take(7.0 + 0.1 * i, 0.5)
        assert clocks.passed() == pytest.approx(0.1 * i)


def test_I17_it_never_goes_back(clocks: Clocks) -> None:
    clocks.clock.take(7.0, 1.0)
    assert clocks.passed(0.2) == pytest.approx(0.2)
    clocks.clock.take(7.05, 1.0)  # slower than it was taken to be
    assert clocks.passed() == pytest.approx(0.2)
    assert clocks.passed(0.2) == pytest.approx(0.25)
    clocks.clock.take(0.5, 1.0)  # another executor
    assert clocks.passed(0.1) == pytest.approx(0.35)
    clocks.clock.take(None)
    assert clocks.passed(4.0) == pytest.approx(4.35)


@pytest.mark.parametrize("factor", [1.0, math.nan])
def test_I17_a_time_out_ends_where_simulated_time_stands_still(clocks: Clocks, factor: float) -> None:
    clocks.clock.take(7.0, factor)
    extrapolated = clocks.passed(STANDSTILL_S)
    assert extrapolated <= 0.25
    clocks.clock.take(7.0, factor)  # reported again and again: the loop stands still, its node does not
    assert clocks.passed(5.0) == pytest.approx(5.0, abs=0.3)
    clocks.clock.take(7.1, factor)  # it goes on
    assert clocks.passed() == pytest.approx(5.0, abs=0.3)
    clocks.clock.take(8.1, factor)
    assert clocks.passed() == pytest.approx(6.0, abs=0.3)
