"""Readings of a healthy executor, with changes, for tests of its health and its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from robot_rt_control.realtime.executor.executor import PartStatus
from robot_rt_control.realtime.executor.health import Reading


def _part(state: str = "enabled", fault: str = "", file: str = "") -> PartStatus:
    return PartStatus(
        name="arm", operational_state=state, fault=fault, fault_file=file, active_action="hold", session=""
    )


def _reading(time_s: float = 0.0, tick: int = 0, **changes: Any) -> Reading:
    plain: dict[str, Any] = {
        "period_s": 0.001,
        "clock": "realtime",
        "pace": 1.0,
        "lateness_p99_s": 2e-5,
        "misses": 0,
        "shortfall": "",
        "server_epoch": 1,
        "server_attached": True,
        "server_released": False,
        "server_starved": "",
        "starved_silences": 0,
        "starved_longest_s": 0.0,
        "clock_publishers": 0,
        "parts": [_part()],
    }
    return Reading(time_s=time_s, tick=tick, **{**plain, **changes})


@pytest.fixture
def part() -> Callable[..., PartStatus]:
    return _part


@pytest.fixture
def reading() -> Callable[..., Reading]:
    return _reading
