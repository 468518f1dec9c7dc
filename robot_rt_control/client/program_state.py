"""Where a program is, and how a run of one ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProgramState:
    """The states that a session's program is in."""

    session: str
    program: str
    """Its name; empty: it has none."""
    tick: int
    """Of the last change."""
    active: tuple[str, ...]
    """Ids of the active actions, in the order in which they started."""
    last_reaction: str
    last_event: str
    ended: str | None
    """Why the session has ended; None while it lives."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """How a run ended."""

    success: bool
    message: str
    """Why it did not succeed; empty if it did."""
    ticks: int
    last_event: str
    """Which exit it took: name of the last event that a reaction emitted."""
