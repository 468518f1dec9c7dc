"""The present states of a program, and the result of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class StrategyState:
    """The strategy that governs a degree of freedom of an active action."""

    action: str
    degree_of_freedom: str
    """As its list of strategies names it."""
    strategy: str
    since: int
    """The tick in which it took over."""


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
    strategies: tuple[StrategyState, ...] = ()
    """The governing strategies of the active actions."""
    last_reaction: str
    last_event: str
    suspended: bool = False
    """A protective stop: nothing of it starts until the session is resumed."""
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
    values: Mapping[str, float] = field(default_factory=dict)
    """What that event captured, by the names in the program's text; NaN: unknown."""
