"""Rule L9 of docs/semantics/limits.md: a fault of one device leaves the others moving, and comes within a bound."""

from __future__ import annotations

import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import OperationalState

MAX_AGE = 3  # of both devices in workcell.yaml


def states(cell: LockstepCell) -> list[str]:
    return [OperationalState(int(cell.part(p).operational_state)).name.lower() for p in ("left", "right", "tool")]


def moving(cell: LockstepCell) -> Session:
    session = cell.session("left", "right", "tool")
    session.add(
        Action("a", "probe", parts="left", speed=0.2),
        Action("b", "probe", parts="right", speed=0.2),
        Action("c", "probe", parts="tool"),
    )
    session.start("a", "b", "c")
    cell.step(200)
    return session


@pytest.mark.parametrize("device", ["first", "second"])
def test_L9_a_silent_device_faults_its_parts_when_its_data_is_too_old_and_no_tick_later(
    hosted_cell: LockstepCell, device: str
) -> None:
    cell = hosted_cell
    session = moving(cell)
    mine = ["left", "tool"] if device == "first" else ["right"]
    others = [p for p in ("left", "right", "tool") if p not in mine]
    action_of = {"left": "a", "right": "b", "tool": "c"}
    calls = {p: session.value(f"{action_of[p]}.controls") for p in others}
    began = cell.tick
    cell.silence(device)
    for age in range(1, MAX_AGE + 1):
        cell.step()
        assert cell.part(mine[0]).age == age and not cell.kinds("part_faulted")
    tick = cell.step()
    assert tick == began + MAX_AGE + 1
    faults = [(e.part, e.tick, e.reason) for e in cell.kinds("part_faulted") if e.part in action_of]
    assert faults == [(p, tick, "the hardware's data is too old") for p in mine]
    for p in mine:
        live, limits = cell.part(p), cell.workcell.part(p).system_limits
        if p != "tool":
            assert live.commanded_velocity[0] == pytest.approx(0.2 - limits.acceleration[0] * 1e-3), "it brakes at once"
    cell.step(100)
    for p in others:
        assert cell.active(p) == action_of[p]
        assert session.value(f"{action_of[p]}.controls") == calls[p] + MAX_AGE + 101, "every tick"
        assert states(cell)[("left", "right", "tool").index(p)] == "enabled"
    assert session.ended is None


def test_L9_a_device_that_reports_an_error_faults_its_parts_in_that_tick(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    session = moving(cell)
    image = cell.executor.devices.hosts["second"].image.record
    cell.silence("second")
    image.state_error = 1
    image.state_sequence += 2
    tick = cell.step()
    assert [(e.part, e.tick, e.reason) for e in cell.kinds("part_faulted")] == [
        ("right", tick, "the hardware reports an error")
    ]
    assert states(cell) == ["enabled", "faulted", "enabled"]
    cell.step(50)
    assert [cell.active(p) for p in ("left", "right", "tool")] == ["a", "none", "c"] and session.ended is None


def test_L9_a_device_that_comes_back_within_its_time_faults_nothing(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    moving(cell)
    for _ in range(10):
        cell.silence("second")
        cell.step(MAX_AGE)
        cell.silence("second", False)
        cell.step()
    assert not cell.kinds("part_faulted") and cell.active("right") == "b"
