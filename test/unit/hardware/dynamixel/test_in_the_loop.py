"""Servos through the loop: motion, a servo's fault, and the way back, in lockstep."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dynamixel_bus import Servo, ServoLine

from robot_rt_control.client.actions import Action
from robot_rt_control.hardware.dynamixel.plugin import DynamixelPlugin
from robot_rt_control.hardware.plugin import HardwareReturn
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import OperationalState

CONFIG = Path(__file__).resolve().parents[4] / "config" / "dynamixel.yaml"


@pytest.fixture
def line() -> Iterator[ServoLine]:
    with ServoLine(Servo(1, 1020, 2100), Servo(2, 1020, 2000), Servo(3, 1060, 2600), period_s=0.01) as made:
        yield made


@pytest.fixture
def cell(line: ServoLine, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockstepCell]:
    request, read = DynamixelPlugin._request, DynamixelPlugin.read

    def counted(plugin: DynamixelPlugin) -> None:
        line.sent += 1
        request(plugin)

    def answered(plugin: DynamixelPlugin, time_s: float, period_s: float) -> HardwareReturn:
        line.wait()
        return read(plugin, time_s, period_s)

    monkeypatch.setattr(DynamixelPlugin, "simulated", True)  # the servos' time passes with the exchanges
    monkeypatch.setattr(DynamixelPlugin, "_request", counted)
    monkeypatch.setattr(DynamixelPlugin, "read", answered)
    workcell = load_workcell(CONFIG)
    (device,) = workcell.devices
    config: dict[str, Any] = {**device.config, "port": line.port, "answer_timeout": 2.0}
    with LockstepCell(replace(workcell, devices=(replace(device, config=config),))) as made:
        yield made


def states(cell: LockstepCell) -> tuple[str, ...]:
    return tuple(OperationalState(int(cell.part(name).operational_state)).name for name in ("head", "gripper"))


def test_a_servos_fault_stops_its_part_alone_and_clearing_and_enabling_bring_it_back(
    cell: LockstepCell, line: ServoLine
) -> None:
    pan, tilt, finger = line.servos.values()
    cell.step_until(lambda: states(cell) == ("ENABLED", "ENABLED") and pan.torque and tilt.torque and finger.torque)
    cell.step(10)
    session = cell.session("head", "gripper")
    session.add(
        Action("look", "move_joint", parts="head", position=[1.0, -0.5]),
        Action("open", "move_joint", parts="gripper", position=[0.02]),
    )
    session.start("look", "open")
    cell.step_until(lambda: session.value("look.is_settled") == 1.0 and session.value("open.is_settled") == 1.0)
    assert pan.position == pytest.approx(2048 + 1.0 * 4096 / (2 * math.pi), abs=2)
    assert tilt.position == pytest.approx(2048 + 0.5 * 4096 / (2 * math.pi), abs=2)
    assert finger.position == pytest.approx(2048 + 0.02 / 0.0628 * 4096, abs=2)

    pan.fail(0x20)
    cell.step_until(lambda: states(cell)[0] == "FAULTED", at_most=10)
    assert [(e.part, e.reason) for e in cell.kinds("part_faulted")] == [
        ("head", "a measured position or velocity is not a number (pan)")
    ]
    cell.step(100)
    assert states(cell) == ("FAULTED", "ENABLED") and finger.torque
    assert pan.reboots == 1 and not pan.torque, "it is rebooted, and gets no torque by itself"
    cell.server.set_motion(["head"], "clear_faults")
    cell.server.set_motion(["head"], "enable")
    cell.step_until(lambda: states(cell)[0] == "ENABLED" and pan.torque)
    cell.step(20)
    assert states(cell) == ("ENABLED", "ENABLED")
    session.start("look")
    cell.step_until(lambda: session.value("look.is_settled") == 1.0)
