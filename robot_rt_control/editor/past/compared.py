"""The first tick in which two recordings differ, each counted from its first tick."""

from __future__ import annotations

import numpy as np

from robot_rt_control.editor.past.recorded import Json, Recorded
from robot_rt_control.editor.past.values import words_of

_AT_ONCE = 4096
_OF_THE_LOOP = ("deadline_misses", "commands_taken", "events_written")
"""Counters of the machine, and identities that each session has of its own, say nothing of the robot."""


def first_difference(one: Recorded, other: Recorded) -> Json:
    """`tick`: of `one`, in which a variable that both have differs in its bits, or that one of them lacks; None: none,
    as far as both reach. `text`: what differs, in words."""
    words, others = words_of(one), words_of(other)
    names = [name for name in words if name in others and name not in _OF_THE_LOOP and not name.endswith(".action")]
    places = [[of[name].place for name in names] for of in (words, others)]
    reach = min(one.index.last - one.index.first, other.index.last - other.index.first) + 1
    for begin in range(0, reach, _AT_ONCE):
        n = min(_AT_ONCE, reach - begin)
        found = []
        for it, of in zip((one, other), places, strict=True):
            first = it.index.first + begin
            rows = it.index.rows(first, first + n - 1)
            table, is_there = np.zeros((n, len(of)), np.int64), np.zeros(n, bool)
            places_of = rows[:, 0] - first
            table[places_of], is_there[places_of] = rows[:, of], True
            found.append((table, is_there))
        (a, has_a), (b, has_b) = found
        differs = (a != b).any(axis=1) | (has_a != has_b)
        if not differs.any():
            continue
        at = int(np.flatnonzero(differs)[0])
        tick = one.index.first + begin + at
        if has_a[at] != has_b[at]:
            return {"tick": tick, "text": f"{(other if has_a[at] else one).file.path.name} lacks this tick"}
        which = int(np.flatnonzero(a[at] != b[at])[0])
        column = words[names[which]].column
        texts = [str(row[at, which] if column.integer else row.view(np.float64)[at, which]) for row in (a, b)]
        return {"tick": tick, "text": f"{names[which]} is {texts[0]} and {texts[1]}"}
    return {"tick": None, "text": f"They are the same in all {reach} ticks that both have"}
