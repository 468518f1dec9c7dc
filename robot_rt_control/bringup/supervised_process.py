"""A supervised process, and the supervisor's time-outs."""

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
    """When it ends and is not restarted, all are brought down."""
    reports_ready: bool = True
    """It reports when it is up."""
    consequence: str = ""
    """Text: what the other processes do when it dies."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """The supervisor's time-outs [s]."""

    interrupt_s: float = 60.0
    """From SIGINT to SIGTERM. In this time the executor brings its parts to rest, also on a busy machine."""
    terminate_s: float = 10.0
    """From SIGTERM to SIGKILL."""
    hurried_s: float = 2.0
    """From a second Ctrl-C to SIGKILL."""
    report_s: float = defaults.STARTUP_REPORT_S
    """Interval of the lines that name what is not up yet."""
    restart_delay_s: float = 1.0
    restarts: int = 3
    """Allowed restarts of one process within `restart_window_s`; then it counts as failed."""
    restart_window_s: float = 60.0
