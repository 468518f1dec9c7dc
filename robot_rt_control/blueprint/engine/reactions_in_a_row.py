"""Counts how often a reaction is followed without anything else being done: one that does not help needs a bound."""

from __future__ import annotations

from collections import Counter

from robot_rt_control.blueprint.graph.plan import Path
from robot_rt_control.vocabulary.capacities import MAX_REACTIONS_IN_A_ROW


class ReactionsInARow:
    """The reactions in a row of one run."""

    def __init__(self) -> None:
        self._found: Counter[tuple[Path, str]] = Counter()
        """Path of the node that the reaction leads to, and its condition."""

    def count(self, node: Path, when: str) -> bool:
        """A reaction is followed. Returns whether it may be."""
        self._found[node, when] += 1
        return self._found[node, when] <= MAX_REACTIONS_IN_A_ROW

    def succeeded(self, path: Path) -> None:
        """A node that takes time has succeeded: of all reactions but its own, the row is over."""
        for key in [key for key in self._found if path[: len(key[0])] != key[0]]:
            del self._found[key]
