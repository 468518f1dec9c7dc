"""Timing histograms: bins 4.4 % wide, percentiles right to a bin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.memory.histogram import BINS_PER_OCTAVE, bin_of, percentile
from robot_rt_control.vocabulary.capacities import HISTOGRAM_BINS

WIDTH = 2.0 ** (1.0 / BINS_PER_OCTAVE)


@given(st.integers(1, 2**31 - 1))
def test_a_duration_lies_in_its_bin(nanoseconds: int) -> None:
    index = bin_of(nanoseconds)
    assert 0 <= index < HISTOGRAM_BINS
    edge = 2.0 ** (index / BINS_PER_OCTAVE)
    assert edge * (1 - 1e-12) <= nanoseconds < edge * WIDTH * (1 + 1e-12)
    assert bin_of(nanoseconds + 1) >= index


def test_what_is_too_short_or_too_long_counts_at_the_ends() -> None:
    assert [bin_of(n) for n in (-5, 0, 1)] == [0, 0, 0]
    assert bin_of(2**62) == HISTOGRAM_BINS - 1


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200), st.floats(0.0, 1.0))
def test_a_percentile_is_right_to_a_bin(durations: list[int], fraction: float) -> None:
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    for duration in durations:
        counts[bin_of(duration)] += 1
    exact = sorted(durations)[max(math.ceil(fraction * len(durations)), 1) - 1] * 1e-9
    assert exact * (1 - 1e-9) <= percentile(counts, fraction) <= exact * WIDTH * (1 + 1e-9)


def test_of_nothing_there_is_no_percentile() -> None:
    assert math.isnan(percentile(np.zeros(HISTOGRAM_BINS, np.int64), 0.5))
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    counts[bin_of(1_000_000)] = 1
    assert percentile(counts, 1.0) == pytest.approx(1e-3, rel=0.05)
