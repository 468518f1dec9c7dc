"""What leases count while the server stands still, or simulated time does."""

from __future__ import annotations

import pytest

from robot_rt_control.server.lease_clock import LeaseClock


class Times:
    def __init__(self) -> None:
        self.wall, self.simulated = 100.0, 7.0

    def pass_(self, clock: LeaseClock, seconds: float, *, factor: float = 1.0, look: float = 0.05) -> float:
        """Let time pass while somebody looks; returns what the clock counts."""
        begin = clock()
        for _ in range(round(seconds / look)):
            self.wall += look
            self.simulated += look * factor
            clock()
        return clock() - begin


def test_it_counts_the_wall_clock() -> None:
    times = Times()
    assert times.pass_(LeaseClock(lambda: times.wall), 10.0) == pytest.approx(10.0, abs=0.06)


def test_S30_time_in_which_nobody_looked_does_not_count() -> None:
    times = Times()
    clock = LeaseClock(lambda: times.wall)
    assert times.pass_(clock, 30.0, look=10.0) == pytest.approx(3 * 0.25)


@pytest.mark.parametrize("factor, counts", [(1.0, 10.0), (0.2, 2.0), (0.0, 0.0), (50.0, 10.0)])
def test_I17_of_wall_clock_and_simulated_time_the_slower_counts(factor: float, counts: float) -> None:
    times = Times()
    clock = LeaseClock(lambda: times.wall, lambda: times.simulated)
    assert times.pass_(clock, 10.0, factor=factor) == pytest.approx(counts, abs=0.06)


def test_I17_looking_often_loses_nothing() -> None:
    """Simulated time jumps by ticks: between most looks it stands still."""
    times = Times()
    clock = LeaseClock(lambda: times.wall, lambda: times.simulated // 0.02 * 0.02)
    assert times.pass_(clock, 10.0, look=0.001) > 8.0
