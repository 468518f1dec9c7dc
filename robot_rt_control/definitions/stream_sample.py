"""Samples of streams on their way between applications and actions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class InputSample:
    """What an application writes: the fields of msg/StreamSample."""

    sequence: int
    """Number of the sample at its source, from 1."""
    source_time: float
    """When the sample was made, on the source's clock [s]."""
    values: list[float]
    """The values; followed by their rates if the stream takes rates."""
    valid: list[bool]
    """Flags of the values that are given; empty: all."""
    tick: int = 0
    """Tick from which the sample is valid; 0: the server chooses."""


@dataclass(frozen=True, eq=False)
class OutputSample:
    """A sample that an action has written."""

    session: str
    action: str
    stream: str
    sequence: int
    tick: int
    """The tick that wrote it."""
    time: float
    """[s] on the loop's clock."""
    values: tuple[float, ...]
    missed: int = 0
    """Number of samples before it that were dropped because the callback's queue was full."""
