"""Samples of streams on their way between applications and actions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class InputSample:
    """What an application writes: the fields of msg/StreamSample."""

    sequence: int
    """Counts the samples of a source from 1."""
    source_time: float
    """When it was made, on the source's clock [s]."""
    values: list[float]
    """Also with their rates behind them, where the stream takes rates."""
    valid: list[bool]
    """Which of the values are given; empty: all."""
    tick: int = 0
    """From which it holds; 0: the server chooses."""


@dataclass(frozen=True, eq=False)
class OutputSample:
    """What an action has written."""

    session: str
    action: str
    stream: str
    sequence: int
    tick: int
    """Which wrote it."""
    time: float
    """[s] of the loop."""
    values: tuple[float, ...]
    missed: int = 0
    """How many samples before it the callback did not get, as its queue was full."""
