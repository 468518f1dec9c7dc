"""When messages that come again and again begin something: once for each appearance of what they say (N54)."""

from __future__ import annotations

import math


class Appearance:
    """What messages say appears, stays, and is gone. One thread.

    Args:
        hold: [s] for which each message has to say it before it counts.
        gap: [s] without a message that says it after which it is gone.
    """

    def __init__(self, hold: float, gap: float) -> None:
        self._hold, self._gap = hold, gap
        self._since = self._last = -math.inf
        self._here = self._counted = False

    def saw(self, fits: bool, time: float) -> bool:
        """A message has come. Returns whether the appearance counts now; each does so once.

        Args:
            fits: whether it says so.
            time: at which it arrived [s].
        """
        if not fits:
            self._here = False
            return False
        if not self._here or time - self._last > self._gap or self._gap == 0.0:
            self._since, self._here, self._counted = time, True, False
        self._last = time
        if self._counted or time - self._since < self._hold:
            return False
        self._counted = True
        return True
