"""The plugin in its life cycle, against nodes of the library `canopen` on a bus in lockstep."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cia402_node import DISABLED, ENABLED, FAULT

from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

COUNTS = 50 * 65536
"""For a metre."""


def test_a_fault_is_one_motors_error_with_its_code_until_it_is_enabled_again(
    rig: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    cell = rig().start()
    x, tilt = cell.servos["x"], cell.servos["tilt"]
    cell.enable("gantry")
    cell.enable("head")
    x.fault(0x8611)
    cell.cycle(5)
    assert (cell.state("gantry/x.error"), cell.state("gantry/x.status")) == (0x8611, FAULT)
    assert cell.state("gantry/y.error") == 0 and cell.state("head/tilt.error") == 0
    assert tilt.state == ENABLED
    assert "drive 'x_drive' (node 1): error 0x8611 (following error)" in caplog.text
    assert "look for a collision" in caplog.text
    cell.cycle(50)
    assert x.state == FAULT, "nothing resets it by itself"
    cell.life.switch_modes({"gantry": CommandMode.NONE})
    cell.cycle(5)
    assert cell.state("gantry/x.error") == 0x8611
    cell.enable("gantry")
    assert (cell.state("gantry/x.error"), cell.state("gantry/x.status"), x.state) == (0, ENABLED, ENABLED)


def test_an_emergency_message_without_a_fault_is_only_logged(rig: Callable, caplog: pytest.LogCaptureFixture) -> None:
    cell = rig().start()
    cell.enable("head")
    cell.servos["tilt"].node.emcy.send(0x4210, 0x08)
    cell.cycle(5)
    assert "drive 'head_drive' (node 3): error 0x4210 (the drive is too hot)" in caplog.text
    assert (cell.state("head/tilt.error"), cell.state("head/tilt.status")) == (0, ENABLED)


def test_a_fault_whose_cause_stays_comes_back(rig: Callable) -> None:
    cell = rig(enable_timeout=0.1).start()
    cell.enable("head")
    cell.servos["tilt"].fault(0x7305, stuck=True)
    cell.cycle(5)
    cell.life.switch_modes({"head": CommandMode.NONE})
    cell.enable("head")
    assert cell.state("head/tilt.error") == 0, "it is being reset"
    cell.cycle(60)
    assert cell.state("head/tilt.error") == 0x7305, "no further emergency message tells why, but its object does"
    assert cell.servos["tilt"].state == FAULT


def test_a_motor_that_leaves_its_state_is_not_enabled_by_itself(rig: Callable) -> None:
    cell = rig().start()
    cell.enable("head")
    tilt = cell.servos["tilt"]
    tilt.state = DISABLED  # its supply or safe torque off
    cell.cycle(30)
    assert cell.state("head/tilt.status") == DISABLED
    assert cell.state("head/tilt.error") == 0
    cell.life.switch_modes({"head": CommandMode.NONE})
    cell.enable("head")
    assert tilt.state == ENABLED


def test_late_repeated_and_corrupt_answers_are_counted(rig: Callable) -> None:
    cell = rig().start()
    tilt = cell.servos["tilt"]
    tilt.hold_back = 1
    cell.cycle(2)
    drive = "head/head_drive"
    # 15 bytes, two TPDOs.
    assert (cell.state(f"{drive}.lost"), cell.state(f"{drive}.late"), cell.state(f"{drive}.repeated")) == (1, 2, 0)
    tilt.twice = True
    cell.cycle(2)
    assert cell.state(f"{drive}.repeated") == 4
    tilt.twice, tilt.short = False, True
    cell.cycle(2)
    assert (cell.state(f"{drive}.corrupt"), cell.state(f"{drive}.lost"), cell.state(f"{drive}.age")) == (4, 3, 2)


def test_a_bus_that_does_not_exist_is_refused(rig: Callable) -> None:
    cell = rig(network={"interface": "socketcan", "channel": "no_such_can"})
    with pytest.raises(
        HardwareError, match="CAN bus 'socketcan', channel 'no_such_can'; expected a bus that can be opened"
    ):
        cell.life.configure()
    cell = rig(network={"interface": "socketcam", "channel": "can0"})
    with pytest.raises(HardwareError, match="Unknown interface type .socketcam"):
        cell.life.configure()
