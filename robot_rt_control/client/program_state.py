"""The present states of a program, and the result of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProgramState:
    """The present states of a session's program."""

    session: str
    program: str
    """Its name; empty: it has none."""
    tick: int
    """Tick of the last change."""
    active: tuple[str, ...]
    """Ids of the active actions, in the order in which they started."""
    last_reaction: str
    last_event: str
    ended: str | None
    """Why the session has ended; None while it lives."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """The result of a run."""

    success: bool
    message: str
    """Why it did not succeed; empty if it did."""
    ticks: int
    last_event: str
    """Its exit: name of the last event that a reaction emitted."""
