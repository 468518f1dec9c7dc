"""Wake-up lateness of the real-time loop and of a plain Python thread, for the demonstration."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_rt_control.memory.histogram import BINS_PER_OCTAVE, bin_of, percentile
from robot_rt_control.memory.layout import channel_dtype
from robot_rt_control.memory.segment_names import channel_name
from robot_rt_control.memory.shared_memory import Segment
from robot_rt_control.vocabulary.capacities import HISTOGRAM_BINS

QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


@dataclass(frozen=True)
class Lateness:
    """Wake-ups of one thread."""

    name: str
    counts: np.ndarray
    """Shape (HISTOGRAM_BINS,): see memory/histogram.py."""

    def microseconds(self, fraction: float) -> float:
        """The lateness [µs] not exceeded by this fraction of the wake-ups."""
        return percentile(self.counts, fraction) * 1e6

    def exceeded_by(self) -> tuple[np.ndarray, np.ndarray]:
        """(lateness [µs], fraction of later wake-ups), for the bins that were hit."""
        edges = 2.0 ** ((np.arange(HISTOGRAM_BINS) + 1) / BINS_PER_OCTAVE) * 1e-3
        later = 1.0 - np.cumsum(self.counts) / max(int(self.counts.sum()), 1)
        hit = np.flatnonzero(self.counts)
        return edges[hit], later[hit]


def measure(seconds: float, period_s: float, domain: str, namespace: str = "/") -> tuple[Lateness, Lateness]:
    """Measure both at the same time: the loop of the running executor, and a Python thread of this process.

    Raises:
        ChannelError: no executor runs on this domain and namespace.
    """
    segment = Segment.attach(channel_name(namespace, domain), channel_dtype.itemsize)
    try:
        timing = np.frombuffer(segment.buffer, channel_dtype, 1)[0].timing
        before = timing.lateness.copy()
        plain = _of_python(seconds, round(period_s * 1e9))
        loop = Lateness("real-time loop", timing.lateness - before)
        del timing
    finally:
        segment.close()
    return loop, plain


def _of_python(seconds: float, period_ns: int) -> Lateness:
    """An ordinary Python thread that sleeps until each deadline."""
    counts = np.zeros(HISTOGRAM_BINS, np.int64)
    bin_of(1)  # compiles it now

    def run() -> None:
        deadline = time.monotonic_ns()
        end = deadline + round(seconds * 1e9)
        while deadline < end:
            deadline += period_ns
            pause = deadline - time.monotonic_ns()
            if pause > 0:
                time.sleep(pause * 1e-9)
            late = max(time.monotonic_ns() - deadline, 0)
            counts[bin_of(late)] += 1
            if late > period_ns:
                deadline += late // period_ns * period_ns  # as the loop: continue with the next deadline

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return Lateness("plain Python thread", counts)


def plot(measured: tuple[Lateness, Lateness], period_s: float, file: Path) -> None:
    """Plot the fraction of wake-ups that were later than a time, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 3.6), constrained_layout=True)
    for lateness, colour in zip(measured, ("#0571b0", "#ca0020"), strict=True):
        later, fraction = lateness.exceeded_by()
        least = 0.5 / max(int(lateness.counts.sum()), 1)
        axes.step(later, np.maximum(fraction, least), color=colour, lw=1.6, where="post", label=lateness.name)
    axes.axvline(period_s * 1e6, color="k", ls="--", lw=0.8)
    axes.annotate("one period", (period_s * 1e6, 1.0), xytext=(4, -4), textcoords="offset points", va="top", fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="lateness [µs]", ylabel="fraction of wake-ups that were later")
    axes.set_title(f"How late a thread wakes up, {1.0 / period_s:g} times a second", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
