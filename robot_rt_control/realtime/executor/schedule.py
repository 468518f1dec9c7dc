"""When the ticks of a loop on the wall clock were due: absolute deadlines, of which missed ones are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """From the loop's first tick on."""

    period_ns: int
    first_tick: int
    first_misses: int
    """Deadlines that were missed before its first tick, by a loop before it."""
    first_deadline_ns: int
    """On CLOCK_MONOTONIC."""

    def lateness(
        self, ticks: NDArray[np.int64], starts_ns: NDArray[np.int64], misses: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How late each tick began [s]; NaN: it is of a loop before this one.

        Args:
            ticks: their numbers.
            starts_ns: when they began.
            misses: deadlines missed before each of them.
        """
        periods = ticks - self.first_tick + misses - self.first_misses
        late = np.maximum(starts_ns - self.first_deadline_ns - periods * self.period_ns, 0) * 1e-9
        return np.where(ticks >= self.first_tick, late, np.nan)
