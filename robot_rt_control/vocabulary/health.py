"""Health reports, for people and diagnostic tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Level(IntEnum):
    """The numbers of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True, kw_only=True)
class Health:
    """The present health of one item."""

    what: str
    """The item: loop, part arm, device sim."""
    hardware: str = ""
    """The part or device; empty: none."""
    level: Level
    message: str
    values: Mapping[str, str] = field(default_factory=dict)
