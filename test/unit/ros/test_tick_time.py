"""Ticks on the ROS clock."""

from __future__ import annotations

from random import Random

from robot_rt_control.ros.tick_time import TickTime

EPOCH = 1_700_000_000 * 10**9


class Clocks:
    """A ROS clock and a monotonic one, between whose readings the system lets time pass."""

    def __init__(self) -> None:
        self.now, self.ahead, self.random = 10**9, EPOCH, Random(1)

    def monotonic(self) -> int:
        self.now += self.random.choice((100, 200, 60_000))
        return self.now

    def ros(self) -> int:
        return self.monotonic() + self.ahead


def test_I21_stamps_of_ticks_are_as_far_apart_as_the_ticks() -> None:
    clocks = Clocks()
    ticks = TickTime(clocks.ros, clocks.monotonic)
    last = -1
    for k in range(20_000):
        tick = 10**9 + k * 10**6
        clocks.now = max(clocks.now, tick)
        stamp = ticks.of(tick)
        assert stamp == ticks.of(tick), "one for each tick"
        assert last < 0 or abs(stamp - last - 10**6) <= 50_000
        assert abs(stamp - tick - EPOCH) <= 61_000
        last = stamp


def test_I21_a_clock_that_drifts_is_followed_and_stamps_never_go_back() -> None:
    clocks = Clocks()
    ticks = TickTime(clocks.ros, clocks.monotonic)
    last = 0
    for k in range(50_000):
        tick = 10**9 + k * 10**5
        clocks.now = max(clocks.now, tick)
        clocks.ahead = EPOCH - k * 30  # 300 ppm slow
        stamp = ticks.of(tick)
        assert stamp > last
        last = stamp
    assert abs(stamp - tick - clocks.ahead) < 200_000


def test_I21_a_clock_that_is_set_is_taken_as_it_is() -> None:
    clocks = Clocks()
    ticks = TickTime(clocks.ros, clocks.monotonic)
    for jump in (3600 * 10**9, -3600 * 10**9):
        clocks.ahead += jump
        clocks.now += 10**9
        tick = clocks.now
        assert abs(ticks.of(tick) - tick - clocks.ahead) < 100_000
