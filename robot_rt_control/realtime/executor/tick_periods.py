"""How evenly the loop ticks, and how evenly each part gets new data, from the ring of the last ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robot_rt_control.memory.intervals import interval_values
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.recording.columns import TIME

LOOP = ""
"""The key of the loop's figures; no part has this name."""


def tick_periods(ring: TickRing, parts: Sequence[str], first: int) -> Mapping[str, Mapping[str, str]]:
    """Values of a `Health`, of the loop (`LOOP`) and of each part.

    Args:
        parts: names.
        first: the first tick that counts; fewer count if the ring no longer has them.
    """
    words = [ring.word(TIME), *(ring.word(f"{name}.age") for name in parts)]
    rows = ring.take_words(first, ring.last, words)
    times, ages = rows[:, 0], rows[:, 1:].view(np.float64)
    found = {LOOP: interval_values("period", times)}
    for name, age in zip(parts, ages.T, strict=True):
        new = age == 0.0
        found[name] = {**interval_values("data period", times[new]), "ticks without new data": str(int((~new).sum()))}
    return found
