"""What each part did in a range of ticks, and which ticks of it are missing: what a timeline draws beside plots."""

from __future__ import annotations

import numpy as np

from robot_rt_control.editor.past.recorded import Json, Recorded
from robot_rt_control.editor.past.values import words_of

MOST_TICKS = 20_000
"""That are looked at for one answer."""


def bars(it: Recorded, first: int, last: int) -> Json:
    """Of the recorded ticks from `first` to `last`, both included. Any thread.

    `bars`: number of a part, number of its action as in `Recorded.joints_of`, first and last tick, of each row of ticks
    without a missing one in which it was active; of each part in order. `gaps`: first and last tick of those that are
    missing between the recording's first and last one.
    """
    first, last = max(first, it.index.first), min(last, it.index.last)
    if last < first:
        return {"bars": [], "gaps": []}
    words = words_of(it)
    places = [0, *(words[f"{part['name']}.action"].place for part in it.parts)]
    rows = np.concatenate([np.zeros((0, len(places)), np.int64)] + [b[:, places] for b in it.index.blocks(first, last)])
    ticks = rows[:, 0]
    edges = np.concatenate([[first - 1], ticks, [last + 1]])
    found = []
    for part in range(len(it.parts)):
        identities = rows[:, part + 1]
        begins = np.flatnonzero(np.r_[True, (np.diff(identities) != 0) | (np.diff(ticks) != 1)][: len(ticks)])
        ends = np.r_[begins[1:] - 1, len(ticks) - 1][: len(begins)]
        runs = zip(
            it.action_numbers(identities[begins]).tolist(), ticks[begins].tolist(), ticks[ends].tolist(), strict=True
        )
        found += [[part, action, begin, end] for action, begin, end in runs if action != -1]
    lost = np.flatnonzero(np.diff(edges) > 1)
    gaps = np.stack([edges[lost] + 1, edges[lost + 1] - 1], axis=1)
    return {"bars": found, "gaps": gaps.tolist()}
