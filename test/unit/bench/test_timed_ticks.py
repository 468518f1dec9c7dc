"""Percentiles of measured durations."""

from __future__ import annotations

import numpy as np
import pytest

from bench.timed_ticks import BIN_NS, BINS, distribution


def test_percentiles_of_known_durations():
    durations = np.arange(0, 100_000, 7)
    histogram = np.bincount(durations // BIN_NS, minlength=BINS)
    d = distribution(histogram, int(durations.max()))
    assert d.ticks == len(durations)
    assert [d.median, d.p99, d.p999] == pytest.approx(np.percentile(durations, [50, 99, 99.9]), abs=2 * BIN_NS)
    assert d.max == durations.max()
