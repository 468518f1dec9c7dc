"""The demonstration's second part: how late the loop wakes up, beside a plain Python thread."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from robot_rt_control.demo.demo_lateness import Lateness, measure, plot
from robot_rt_control.demo.demo_recording import Recording
from robot_rt_control.demo.demo_report import realtime_results
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.histogram import bin_of
from robot_rt_control.memory.segment_names import channel_name
from robot_rt_control.vocabulary.capacities import HISTOGRAM_BINS
from robot_rt_control.vocabulary.errors import ChannelError


def lateness(name: str, nanoseconds: np.ndarray) -> Lateness:
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    for value in nanoseconds:
        counts[bin_of(int(value))] += 1
    return Lateness(name, counts)


def test_both_are_measured_in_the_same_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = f"test_{os.getpid()}"
    channel = Channel.create(channel_name("/", domain), workcell=1, period_ns=1_000_000)
    try:
        channel.memory.timing.lateness[bin_of(50_000)] = 1000  # before: not of these seconds

        class Thread(threading.Thread):
            """The plain thread. While it runs, the loop ticks."""

            def run(self) -> None:
                channel.memory.timing.lateness[bin_of(20_000)] += 7
                super().run()

        monkeypatch.setattr(threading, "Thread", Thread)
        loop, plain = measure(0.1, 0.001, domain)
        assert int(loop.counts.sum()) == 7 == int(loop.counts[bin_of(20_000)])
        assert 1 <= int(plain.counts.sum()) <= 101
    finally:
        channel.close()
    with pytest.raises(ChannelError):
        measure(0.01, 0.001, domain)


def test_the_table_shows_percentiles_and_the_plot_both_threads(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    measured = (
        lateness("real-time loop", random.lognormal(np.log(15e3), 0.5, 5000)),
        lateness("plain Python thread", random.lognormal(np.log(120e3), 0.9, 5000)),
    )
    assert measured[0].microseconds(0.5) == pytest.approx(15.0, rel=0.1)
    later, fraction = measured[0].exceeded_by()
    assert (np.diff(later) > 0).all() and (np.diff(fraction) <= 0).all() and fraction[-1] == pytest.approx(0.0)
    recording = Recording(callback_delays=[0.001, 0.003])
    console = Console(width=120, record=True, file=(tmp_path / "table").open("w"))
    console.print(realtime_results(recording, measured))
    text = console.export_text()
    assert all(word in text for word in ("p50", "p99.9", "max", "real-time loop", "plain Python thread", "2 calls"))
    plot(measured, 0.001, tmp_path / "lateness.png")
    assert (tmp_path / "lateness.png").read_bytes()[1:4] == b"PNG"
