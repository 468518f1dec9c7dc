"""What a picture shows: boxes with lines of text, arrows between them, and boxes within boxes."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

START, END, ANY, HAND = "start", "end", "any state", "by hand"
"""Nodes of the diagram that are not actions; their keys are ("", START) and so on."""

Key = tuple[str, str]
"""("action", id), ("use", id of the state that uses a program), ("node", id), ("end", result), or
("", START) and similar."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of text and its role: title, detail, axis, condition, response, governing."""

    text: str
    style: str


@dataclass(kw_only=True)
class State:
    """A node of the diagram."""

    key: Key
    lines: list[Line] = field(default_factory=list)
    blocks: dict[str, list[Line]] = field(default_factory=dict)
    """Below the title, name → lines: degree of freedom with its strategies in order of priority, branch of a node."""
    inside: list[Line] = field(default_factory=list)
    """Reactions that do not lead out of it."""
    final: bool = False
    first: bool = False
    """The program starts here."""
    active: bool = False
    kind: str = ""
    """Which colours it has: a skill's level, built_in, success or failure; empty: as the keys above say."""
    nested: Diagram | None = None
    """States and switches of a used program, drawn within the box."""


@dataclass(kw_only=True)
class Switch:
    """An arrow of the diagram: all reactions that lead from one state to another."""

    source: Key
    target: Key
    label: list[Line] = field(default_factory=list)
    free: bool = False
    """Not from one state: from the start, by hand, or free-standing."""


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """Everything that is drawn."""

    title: str
    header: tuple[Line, ...]
    states: tuple[State, ...]
    switches: tuple[Switch, ...]
    places: Mapping[Key, tuple[float, float]] = field(default_factory=dict)
    """Top left corners [pt] of boxes that a person moved; all others are laid out."""


def moved_places(view: Mapping[str, Any], known: Container[Key], kind: str) -> dict[Key, tuple[float, float]]:
    """The places of `view:` in a text, of the boxes that there are. What is no place is ignored.

    Args:
        kind: first part of their keys.
    """
    return {
        (kind, id): (float(place[0]), float(place[1]))
        for id, place in view.items()
        if (kind, id) in known and is_place(place)
    }


def is_place(place: Any) -> bool:
    """Whether it is the place of a box: [x, y], finite."""
    return isinstance(place, list) and len(place) == 2 and all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) for value in place
    )  # fmt: skip
