"""When the samples of one source take effect: the server's choice, which absorbs jitter.

Source and loop have clocks of their own. A sample made at time s of the source's clock arrives at time r of the
loop's. The quickest samples of the last seconds tell the difference of the clocks, min(r - s) (the minimum filter
that clock synchronization uses: D. L. Mills, "Internet time synchronization: the network time protocol", IEEE
Trans. Communications 1991); what others take longer is jitter. A sample takes effect at s + min(r - s) + delay.

Where the delay is the server's choice, it covers the jitter of 19 samples in 20 and, for gap policies that look at
the next samples, so many intervals between them. Changes come gradually, so that the samples keep their spacing.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise

import numpy as np

_MEMORY_S = 5.0
"""So long the quickest sample counts; clocks drift apart by some µs meanwhile."""
_KEPT = 100
"""Samples from which jitter and interval are estimated."""
_COVERED = 0.95
"""Fraction of the samples whose jitter the delay covers; a stall now and then shall not delay everything."""
_LONGEST_S = 1.0
"""The server chooses no longer delay."""
_SLOWER, _FASTER = 0.5, 0.1
"""Fraction of the time between two samples by which their spacing may grow, or shrink, while the delay changes."""


class StreamTiming:
    """The timing of one source, from its first sample on. Times in s."""

    def __init__(self) -> None:
        self._quickest: deque[tuple[float, float]] = deque()  # (arrival, difference), both increasing
        self._excess: deque[float] = deque(maxlen=_KEPT)
        self._sources: deque[float] = deque(maxlen=_KEPT)
        self._lead = math.nan  # what is added to the source's time at present
        self.delay = 0.0
        """The present delay of a sample that arrives as quickly as any."""

    @property
    def jitter(self) -> float:
        """Of 19 samples in 20."""
        return float(np.quantile(self._excess, _COVERED)) if self._excess else 0.0

    @property
    def interval(self) -> float:
        """Between two samples of the source; 0: not known yet."""
        if len(self._sources) < 2:
            return 0.0
        return float(np.median([b - a for a, b in pairwise(self._sources)]))

    def effective_time(self, source: float, arrival: float, *, delay: float, lookahead: int) -> float:
        """When the next sample takes effect, on the loop's clock.

        Args:
            source: when it was made, on its source's clock; later than the sample before.
            arrival: on the loop's clock.
            delay: as asked for; negative: to be chosen.
            lookahead: samples that are to be known beyond the present one, where the delay is to be chosen.
        """
        difference = arrival - source
        while self._quickest and self._quickest[-1][1] >= difference:
            self._quickest.pop()
        self._quickest.append((arrival, difference))
        while self._quickest[0][0] < arrival - _MEMORY_S:
            self._quickest.popleft()
        quickest = self._quickest[0][1]
        self._excess.append(difference - quickest)
        since = source - self._sources[-1] if self._sources else 0.0
        self._sources.append(source)
        if delay < 0.0:
            delay = min(self.jitter + lookahead * self.interval, _LONGEST_S)
        wanted = quickest + delay
        if math.isnan(self._lead):
            self._lead = wanted
        else:
            self._lead += min(max(wanted - self._lead, -_FASTER * since), _SLOWER * since)
        self.delay = self._lead - quickest
        return source + self._lead
