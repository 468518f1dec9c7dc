"""What enabling waits for (rest, and the motors of drives), and what it sends meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.server.core.motion import Motion
from robot_rt_control.vocabulary.enums import Command, OperationalState, Refusal
from robot_rt_control.vocabulary.errors import CommandRefused

WORKCELL = load_workcell(Path(__file__).parents[4] / "config" / "drives.yaml")
ENABLE_TICKS = 1000
"""A second."""
REST_TICKS = math.ceil(WORKCELL.part("arm").rest_wait / WORKCELL.period)


class Loop:
    """Stands in for ServerCore: each look at it lets a tick pass, whose state `state_at` gives."""

    gated = without_threads = False

    def __init__(self, state_at: Callable[[int], OperationalState]) -> None:
        self.workcell, self.now_at = WORKCELL, 0
        self.parts = {p.name: SimpleNamespace(description=p, index=p.index) for p in WORKCELL.parts}
        self.state_at, self.sent, self.link = state_at, list[Command](), self
        self.connection = self.registry = self

    def at(self) -> Loop:
        return self

    def holder_of(self, part: str) -> None:
        return None

    def send(self, command: Command, part: int) -> Any:
        self.sent.append(command)
        self.now_at += 1
        return SimpleNamespace(refusal=Refusal.NONE, tick=self.now_at)

    def snapshot_after(self, tick: int) -> Any:
        self.now_at = max(self.now_at, tick)
        state = self.state_at(self.now_at)
        fault = "a motor is not enabled" if state == OperationalState.FAULTED else ""
        return SimpleNamespace(
            tick=self.now_at,
            operational_state=lambda _: state,
            fault=lambda _: fault,
            fault_reason=lambda _: 10,
            is_moving=lambda _: False,
        )

    def fault_file(self, part: str) -> str:
        return ""


def motion(loop: Any) -> Motion:
    return Motion(loop)


def changing(tick: int, to: OperationalState) -> Callable[[int], OperationalState]:
    return lambda now: to if now >= tick else OperationalState.DISABLED


@pytest.mark.parametrize("parts", [["arm"], []])
def test_enabling_answers_when_the_motors_are_enabled_and_is_sent_once(parts: list[str]) -> None:
    loop = Loop(changing(40, OperationalState.ENABLED))
    assert motion(loop).set_motion(parts, "enable") == ""
    assert loop.now_at == 40 and loop.sent == [Command.ENABLE]


@pytest.mark.parametrize("parts", [["arm"], []])
def test_enabling_reports_a_fault_of_the_motors(parts: list[str]) -> None:
    loop = Loop(changing(40, OperationalState.FAULTED))
    with pytest.raises(CommandRefused, match="a motor is not enabled"):
        motion(loop).set_motion(parts, "enable")
    assert loop.now_at == 40 and loop.sent == [Command.ENABLE]


def test_a_part_that_is_disabled_while_it_is_being_enabled_stays_disabled() -> None:
    loop = Loop(lambda _: OperationalState.DISABLED)
    with pytest.raises(CommandRefused, match="enable of part 'arm' was refused; .*or that was disabled meanwhile"):
        motion(loop).set_motion(["arm"], "enable")
    assert loop.sent == [Command.ENABLE], "nothing enables it again"
    assert loop.now_at == REST_TICKS + ENABLE_TICKS + 2, "the loop has decided by then"
    assert motion(loop).set_motion([], "enable") == "not enabled: arm (disabled)"


def test_disabling_and_clearing_wait_for_no_motor() -> None:
    for command in ("disable", "clear_faults"):
        loop = Loop(lambda _: OperationalState.DISABLED)
        assert motion(loop).set_motion(["arm"], command) == "" and loop.now_at == 1
