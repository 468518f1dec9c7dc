"""When the samples of one source take effect: the server's choice, which absorbs jitter; and how old they are.

Source and loop have clocks of their own. A sample made at time s of the source's clock arrives at time r of the
loop's. The quickest samples of the last second tell the difference of the clocks, min(r - s) (the minimum filter
that clock synchronization uses: D. L. Mills, "Internet time synchronization: the network time protocol", IEEE
Trans. Communications 1991); what others take longer is jitter. A sample takes effect at s + min(r - s) + delay.

Where the delay is the server's choice, it covers the jitter of 19 samples in 20 and, for gap policies that look at
the next samples, so many intervals between them. Changes come gradually, so that the samples keep their spacing. But a
clock that has jumped forward begins a new time line: what was estimated from the old one would delay all samples by
the jump.

A sample's age counts from when it was made. Its transit is not known, only what it took longer than the quickest one.
A queue that grows on the way makes all samples late, also the quickest of the last second; a slow clock looks alike.
So the difference that ages are judged by rises by `drift` at most.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise

import numpy as np

from robot_rt_control.vocabulary import defaults

_MEMORY_S = 1.0
"""So long the quickest sample counts. Programs that mean to write every 20 ms need 20.2 ms each time: a longer memory
would take the 1 % by which their time is slower for jitter."""
_AT_LEAST = 10
"""So many of the last samples count, however old they are."""
_KEPT = 100
"""Samples from which jitter and interval are estimated."""
_COVERED = 0.95
"""Fraction of the samples whose jitter the delay covers; an occasional stall must not delay everything."""
_SLOWEST_S = 0.25
"""Longer pauses between samples are no interval to look ahead."""
_FIRST = 4
"""So many intervals must have been seen."""
_FIT = 1.5
"""So many intervals of the time-out are left for the next sample, where the server chooses the delay."""
_SLOWER, _FASTER = 0.5, 0.1
"""Fraction of the time between two samples by which their spacing may grow, or shrink, while the delay changes."""


class StreamTiming:
    """The timing of one source's time line, from its first sample on. Times in s.

    Args:
        period: of a tick: what arrives is seen in the next one at the earliest.
        drift: fraction by which the source's clock may run slower than the loop's, see above; infinite: the clocks
            cannot be compared, and a sample counts as made when it arrives.
    """

    def __init__(self, period: float, drift: float = defaults.STREAM_DRIFT) -> None:
        self._period, self._drift = period, drift
        self._quickest: deque[tuple[float, float, int]] = deque()  # (arrival, difference, number), increasing
        self._number = 0
        self._excess: deque[float] = deque(maxlen=_KEPT)
        self._sources: deque[float] = deque(maxlen=_KEPT)
        self._lead = math.nan  # what is added to the source's time at present
        self._difference = math.inf  # of the clocks, as ages are judged
        self._seen = 0.0  # arrival of the sample that it was last found by
        self.delay = 0.0
        """The present delay of a sample that arrives as quickly as any."""

    @property
    def jitter(self) -> float:
        """Not exceeded by 19 of 20 samples."""
        return float(np.quantile(self._excess, _COVERED)) if self._excess else 0.0

    @property
    def interval(self) -> float:
        """Between two samples of the source; 0: not known yet, or too long to wait for the next one."""
        between = [b - a for a, b in pairwise(self._sources) if b - a <= _SLOWEST_S]
        return float(np.median(between)) if len(between) >= _FIRST else 0.0

    def effective_time(
        self, source: float, arrival: float, *, delay: float, lookahead: int, timeout: float = 0.0
    ) -> float:
        """When the next sample takes effect, on the loop's clock.

        Args:
            source: when it was made, on its source's clock; later than the sample before.
            arrival: on the loop's clock.
            delay: as asked for; negative: to be chosen.
            lookahead: samples that are to be known beyond the present one, where the delay is to be chosen.
            timeout: of the stream, which a delay that is chosen leaves room for; 0: none.
        """
        difference = arrival - source
        while self._quickest and self._quickest[-1][1] >= difference:
            self._quickest.pop()
        self._number += 1
        self._quickest.append((arrival, difference, self._number))
        while self._quickest[0][0] < arrival - _MEMORY_S and self._quickest[0][2] <= self._number - _AT_LEAST:
            self._quickest.popleft()
        quickest = self._quickest[0][1]
        rise = self._drift * (arrival - self._seen) if arrival > self._seen else 0.0
        self._difference, self._seen = min(difference, self._difference + rise), arrival
        self._excess.append(difference - quickest)
        since = source - self._sources[-1] if self._sources else 0.0
        self._sources.append(source)
        if delay < 0.0:
            interval = self.interval
            delay = min(self._period + self.jitter + lookahead * interval, defaults.STREAM_DELAY_S)
            if timeout > 0.0:
                delay = min(delay, max(timeout - _FIT * interval, self._period))
        wanted = quickest + delay
        if math.isnan(self._lead) or self._lead - wanted > defaults.STREAM_JUMP_S:
            self._lead = wanted
        else:
            self._lead += min(max(wanted - self._lead, -_FASTER * since), _SLOWER * since)
        self.delay = self._lead - quickest
        return source + self._lead

    def made(self, source: float) -> float:
        """When the sample was made, on the loop's clock, if the quickest ones took no time; its age is at least that.

        Args:
            source: on its source's clock.
        """
        known = self._difference if math.isinf(self._drift) else min(self._difference, self._quickest[0][1])
        return source + known
