"""What the supervisor needs to know of a process, and how long it waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_rt_control.vocabulary import defaults


@dataclass(frozen=True, kw_only=True)
class SupervisedProcess:
    """A process to start."""

    name: str
    command: Sequence[str]
    required: bool = True
    """When it ends, and is not started again, all are brought down."""
    reports_ready: bool = True
    """It says so when it is up."""
    consequence: str = ""
    """What the others do when it dies, in words."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the supervisor waits."""

    interrupt_s: float = 60.0
    """After SIGINT, until SIGTERM. The executor brings its parts to rest in this time, also on a busy machine."""
    terminate_s: float = 10.0
    """After SIGTERM, until SIGKILL."""
    hurried_s: float = 2.0
    """After a second Ctrl-C, until SIGKILL."""
    report_s: float = defaults.STARTUP_REPORT_S
    """Between two lines that name what is not up yet."""
    restart_delay_s: float = 1.0
    restarts: int = 3
    """So many of one process within `restart_window_s`; then it counts as failed."""
    restart_window_s: float = 60.0
