"""What happened in the loop, as applications see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event. `values` holds the captured state variables as they were in that tick; NaN: unknown."""

    kind: str
    session: str = ""
    tick: int = 0
    time: float = 0.0
    """[s] on the ROS clock: start of the tick."""
    name: str = ""
    """The user's name of the event, from the reaction."""
    reaction: str = ""
    previous_action: str = ""
    current_action: str = ""
    degree_of_freedom: str = ""
    """strategy_changed: that of `current_action` which it concerns."""
    from_strategy: str = ""
    """Name of the strategy that governed it before; empty: the action has just started."""
    to_strategy: str = ""
    """Name of the strategy that governs it from this tick on."""
    part: str = ""
    reason: str = ""
    file: str = ""
    """Log of the last ticks before a fault, on the executor's machine (`recording.fault_log.load_fault_log`)."""
    values: Mapping[str, float] = field(default_factory=dict)
    sequence: int = 0
    missed: int = 0
    """Number of events dropped right before this one, because the callback was too slow."""
