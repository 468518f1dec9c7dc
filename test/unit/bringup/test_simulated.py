"""workcell --simulated: the simulator of a robot's own protocol, beside the workcell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from fr3_with_hand import fr3_with_hand

from robot_rt_control.bringup.bringup import BringupOptions, processes
from robot_rt_control.bringup.process_command import command_line
from robot_rt_control.hardware.franka.simulator import VARIABLE
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError

PROGRAM = str(Path(sys.executable).with_name("python"))
"""Stands in for franky-sim: a program with a Python beside it."""
COMMON: dict[str, Any] = {"controllers": "false", "frames": False}


def test_it_comes_first_at_the_robots_address_and_the_robot_drives_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, PROGRAM)
    described = processes(BringupOptions(workcell="fr3", simulated=True, **COMMON))
    assert [p.name for p in described] == ["simulator_robot", "hardware_driver", "realtime_executor", "control_server"]
    assert command_line(described[0], tmp_path)[-1] == "127.0.0.1"
    assert described[2].parameters["clock"] == "hardware"
    assert [p.name for p in processes(BringupOptions(workcell="fr3", **COMMON))][0] == "hardware_driver"


def test_arm_and_hand_have_one_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, PROGRAM)
    file = tmp_path / "cell.yaml"
    file.write_text(fr3_with_hand("127.0.0.7"))
    described = processes(BringupOptions(workcell=str(file), simulated=True, **COMMON))
    names = ["simulator_robot", "hardware_driver_robot", "hardware_driver_hand", "realtime_executor", "control_server"]
    assert [p.name for p in described] == names
    assert command_line(described[0], tmp_path)[-1] == "127.0.0.7"
    assert described[0].consequence == "the parts of 'robot', 'hand' are faulted"


def test_without_such_a_device_or_program_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DefinitionError, match="simulated; expected a device on the plugin franka; got devices on mock"):
        processes(BringupOptions(simulated=True, **COMMON))
    monkeypatch.setenv(VARIABLE, "/nowhere")
    with pytest.raises(HardwareError, match="the program franky-sim"):
        processes(BringupOptions(workcell="fr3", simulated=True, **COMMON))
