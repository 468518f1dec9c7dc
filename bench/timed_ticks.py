"""Measuring ticks one by one inside of compiled code: a clock before, a clock after, a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from robot_rt_control.memory.clock import now_ns
from robot_rt_control.memory.layout import channel_dtype, world_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.executor import Executor
from robot_rt_control.realtime.tick.tick import tick

BIN_NS = 10
BINS = 100_000


@realtime
def run_timed(w, ch, ticks, period_ns, histogram, longest):
    """Run ticks in simulated time and count how long each took; `longest[0]` is the longest [ns]."""
    for _ in range(ticks):
        w.now_ns = (w.tick + 1) * period_ns
        start = now_ns()
        tick(w, ch)
        taken = now_ns() - start
        histogram[min(taken // BIN_NS, BINS - 1)] += 1
        longest[0] = max(longest[0], taken)


@realtime
def run_clock(n, histogram):
    """The same without a tick: what the measurement itself adds."""
    for _ in range(n):
        start = now_ns()
        histogram[min((now_ns() - start) // BIN_NS, BINS - 1)] += 1


@dataclass(frozen=True)
class Distribution:
    """Durations [ns]."""

    ticks: int
    median: float
    p99: float
    p999: float
    max: float


def distribution(histogram: np.ndarray, longest: int) -> Distribution:
    """Percentiles of a histogram, interpolated within a bin."""

    def percentile(fraction: float) -> float:
        sums = np.cumsum(histogram)
        rank = fraction * sums[-1]
        i = int(np.searchsorted(sums, rank))
        before = int(sums[i - 1]) if i else 0
        return float(BIN_NS * (i + (rank - before) / int(histogram[i])))

    return Distribution(int(histogram.sum()), percentile(0.5), percentile(0.99), percentile(0.999), float(longest))


def compile_loop() -> None:
    """Compile the loop now, not in the first measurement."""
    record = (numba.from_dtype(world_dtype), numba.from_dtype(channel_dtype))
    entry: Any = run_timed
    entry.for_python.compile((*record, numba.int64, numba.int64, numba.int64[::1], numba.int64[::1]))


class TickTimer:
    """Collects the durations of an executor's ticks, in blocks, so that blocks of several can alternate."""

    def __init__(self, executor: Executor) -> None:
        self._world, self._channel = executor.world.memory, executor.channel.memory
        self._period = round(executor.workcell.period * 1e9)
        self._histogram = np.zeros(BINS, np.int64)
        self._longest = np.zeros(1, np.int64)

    def run(self, ticks: int, *, count: bool = True) -> None:
        """Run some ticks; with `count` False they only warm up."""
        histogram = self._histogram if count else np.zeros_like(self._histogram)
        longest = self._longest if count else np.zeros_like(self._longest)
        run_timed(self._world, self._channel, ticks, self._period, histogram, longest)

    def run_one(self) -> int:
        """Run one tick. Returns how long it took [ns], also if that is more than the histogram has room for."""
        longest = np.zeros(1, np.int64)
        run_timed(self._world, self._channel, 1, self._period, self._histogram, longest)
        return int(longest[0])

    @property
    def distribution(self) -> Distribution:
        """Distribution over all counted ticks."""
        return distribution(self._histogram, int(self._longest[0]))


def clock_overhead() -> float:
    """Median [ns] of what reading the clock twice adds to each measured tick."""
    histogram = np.zeros(BINS, np.int64)
    run_clock(200_000, histogram)
    return distribution(histogram, 0).median
