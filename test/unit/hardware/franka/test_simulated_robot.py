"""The plugin `franka` against franky-sim over loopback, without a loop: connecting, and who is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.franka import probe, simulator
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.franka_simulator import NOT_RUN, FrankaSimulator
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

FILE = Path(__file__).resolve().parents[4] / "config" / "fr3.yaml"
START = (0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785)

against_simulator = pytest.mark.skipif(bool(NOT_RUN), reason=NOT_RUN)


@pytest.fixture(scope="module")
def robot() -> Iterator[FrankaSimulator]:
    with FrankaSimulator(claim_domain("franka without a loop")) as simulated:
        yield simulated


def info(address: str) -> HardwareInfo:
    workcell = load_workcell(FILE)
    found = hardware_info(workcell, workcell.devices[0])
    return replace(found, parameters={**found.parameters, "address": address})


@against_simulator
@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT])
def test_it_moves_joint_5_in_each_mode(robot: FrankaSimulator, mode: CommandMode) -> None:
    driver = HardwareLifecycle(load_plugin("franka")(), info(robot.address))
    driver.configure()
    driver.activate()
    q = driver.state[0:21:3].copy()
    gravity = driver.state[2:21:3].copy()
    assert np.abs(gravity).max() < 5.0, "at rest the efforts are those without gravity"
    driver.command[0:21:3] = q
    driver.switch_modes({"arm": mode})
    for i in range(400):
        driver.read(0.0, 1e-3)
        driver.command[12] = q[4] + 0.1 * (1.0 - np.cos(np.pi * i / 400)) / 2.0
        driver.command[13] = 0.4 * np.sin(np.pi * i / 400)
        driver.command[14] = 1.0
        driver.write(0.0, 1e-3)
    assert driver.state[12] - q[4] > 0.02
    driver.switch_modes({"arm": CommandMode.NONE})
    for _ in range(20):
        driver.read(0.0, 1e-3)
    assert abs(driver.state[13]) < 0.2
    driver.shutdown()


@against_simulator
def test_a_second_client_is_refused_with_what_to_do(robot: FrankaSimulator, monkeypatch: pytest.MonkeyPatch) -> None:
    first = HardwareLifecycle(load_plugin("franka")(), info(robot.address))
    first.configure()
    monkeypatch.setattr(probe, "_TIMEOUT_S", 3.0)
    with pytest.raises(HardwareError, match="no other program is connected"):
        HardwareLifecycle(load_plugin("franka")(), info(robot.address)).configure()
    first.read(0.0, 1e-3)
    first.shutdown()


@against_simulator
def test_where_no_robot_is_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_TIMEOUT_S", 3.0)
    with pytest.raises(HardwareError, match="Franka at '127.37.14.1'; expected an active FCI; got .*refused"):
        HardwareLifecycle(load_plugin("franka")(), info("127.37.14.1")).configure()


def test_the_simulator_stays_on_this_machine_and_is_named_if_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in ("172.16.0.2", "franka.local", ""):
        with pytest.raises(HardwareError, match="expected a loopback address"):
            simulator.simulator_command(address)
    monkeypatch.setenv(simulator.VARIABLE, "/nowhere/franky-sim")
    with pytest.raises(HardwareError, match="the program franky-sim; got nothing at '/nowhere/franky-sim'"):
        simulator.simulator_command("127.0.0.1")
    program, python = tmp_path / "franky-sim", tmp_path / "python"
    program.touch(0o755)
    monkeypatch.setenv(simulator.VARIABLE, str(program))
    with pytest.raises(HardwareError, match="expected the Python of its environment beside it"):
        simulator.simulator_command("127.0.0.2")
    python.touch()
    command = simulator.simulator_command("127.0.0.2")
    assert command[0] == str(python) and command[2] == "127.0.0.2"
    assert simulator.READY in Path(command[1]).read_text()
