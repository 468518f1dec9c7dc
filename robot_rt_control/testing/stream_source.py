"""A deterministic source of samples with jitter, loss and stalls, as from a network or a busy program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """When samples are made and arrive. Times in s."""

    rate: float
    """[Hz]"""
    jitter: float = 0.0
    """Largest extra delay of a sample; evenly distributed."""
    loss: float = 0.0
    """Fraction of samples that never arrive."""
    stall_every: float = 0.0
    """Time between two stalls, during which nothing arrives; 0: none."""
    stall: float = 0.0
    """Length of a stall; its samples arrive together at its end."""
    seed: int = 1

    def samples(self, duration: float) -> list[tuple[float, float]]:
        """(made, arrives) of each sample that arrives, in the order of both."""
        random = np.random.default_rng(self.seed)
        made = np.arange(0.0, duration, 1.0 / self.rate)
        arrives = made + random.uniform(0.0, self.jitter, len(made)) if self.jitter > 0.0 else made.copy()
        if self.stall_every > 0.0:
            into = np.mod(arrives, self.stall_every)
            stalled = (into > self.stall_every - self.stall) & (arrives > self.stall_every / 2)
            arrives[stalled] += self.stall_every - into[stalled]
        arrives = np.maximum.accumulate(arrives)
        kept = random.random(len(made)) >= self.loss
        return list(zip(made[kept].tolist(), arrives[kept].tolist(), strict=True))


def tracking_error(
    time: np.ndarray, followed: np.ndarray, way: np.ndarray, *, longest_delay: float
) -> tuple[float, float, float]:
    """How well a path was followed, apart from a constant delay: (delay [s], RMS error, largest error).

    Args:
        time: (n,) evenly spaced [s].
        followed: (n,) actual values.
        way: (n,) wanted values, at the same times.
        longest_delay: [s] largest delay to try.
    """
    step = float(time[1] - time[0])
    best = (0.0, np.inf, np.inf)
    for shift in range(round(longest_delay / step) + 1):
        error = followed[shift:] - way[: len(way) - shift]
        error = error[round(longest_delay / step) - shift :]  # the same number of values for each shift
        rms = float(np.sqrt(np.mean(error**2)))
        if rms < best[1]:
            best = (shift * step, rms, float(np.abs(error).max()))
    return best
