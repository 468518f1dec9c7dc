"""The plugin on a bus of python-can, with its threads: as on an adapter, but in one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import canopen
import pytest
from cia402_node import ENABLED, Servo

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode

CONFIG = Path(__file__).resolve().parents[4] / "config"
BUS = {"interface": "virtual", "channel": "test_virtual_bus"}


@pytest.fixture
def servos() -> Iterator[list[Servo]]:
    network = canopen.Network()
    network.NOTIFIER_CYCLE = 0.05
    network.connect(**BUS)
    yield [Servo(network, node, str(CONFIG / "eds" / "cia402_servo.eds")) for node in (1, 2, 3)]
    network.disconnect()


def test_it_waits_for_what_it_sent_for_on_a_bus_with_threads(servos: list[Servo]) -> None:
    workcell = load_workcell(CONFIG / "canopen.yaml")
    (device,) = workcell.devices
    bounds: dict[str, Any] = {"sdo_timeout": 60.0, "exchange_bound": 60.0}
    device.config.update({"network": BUS, **bounds})
    life = HardwareLifecycle(load_plugin("canopen")(), hardware_info(workcell, device))
    life.configure()
    life.activate()
    places = {i.name: n for n, i in enumerate(life.state_interfaces)}
    commands = {i.name: n for n, i in enumerate(life.command_interfaces)}

    def cycle(n: int) -> None:
        for _ in range(n):
            life.write(0.0, workcell.period)
            life.read(0.0, workcell.period)

    start = life.state[places["head/tilt/position"]]
    life.command[commands["head/tilt/position"]] = start
    life.switch_modes({"head": CommandMode.POSITION})
    cycle(12)
    assert servos[2].state == ENABLED
    for i in range(100):
        life.command[commands["head/tilt/position"]] = start + 0.002 * (i + 1)
        cycle(1)
    assert life.state[places["head/tilt/position"]] == pytest.approx(start + 0.2, abs=1e-5)
    for drive in ("gantry/x_drive", "gantry/y_drive", "head/head_drive"):
        assert [life.state[places[f"{drive}.{count}"]] for count in ("lost", "late", "repeated", "corrupt")] == [0] * 4
    servos[2].fault(0x7305)
    cycle(3)
    assert life.state[places["head/tilt.error"]] == 0x7305
    life.shutdown()
    assert servos[2].node.nmt.state == "PRE-OPERATIONAL"
