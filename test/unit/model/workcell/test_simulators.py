"""Which simulator runs a workcell, and on which a device with a world runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from robot_rt_control.model.workcell.simulators import (
    SIMULATORS,
    VARIABLE,
    default_simulator,
    with_simulator,
)
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CELL = """\
name: cell
default_hardware: simulator
parts:
  io: {kind: io, device: sim, inputs: 2}
  lamp: {kind: io, device: bus, outputs: 1}
devices:
  sim:
    world: {gravity: [0, 0, -1.62]}
  bus: {plugin: mock}
"""


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Packages that are installed: both simulators; no simulator is chosen by the environment."""
    found = set(SIMULATORS)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in found else None)
    return found


def load(folder: Path, text: str = CELL, hardware: str | None = None, simulator: str = "") -> Workcell:
    (folder / "cell.yaml").write_text(text)
    return load_workcell(folder / "cell.yaml", hardware, simulator=simulator)


def test_the_default_is_the_first_one_that_is_installed(installed: set[str]) -> None:
    assert default_simulator() == "pybullet"
    installed.remove("pybullet")
    assert default_simulator() == "mujoco"
    installed.remove("mujoco")
    text = "simulator; expected one of these Python packages to be installed: pybullet, mujoco; got none. pip install"
    with pytest.raises(DefinitionError, match=text):
        default_simulator()


def test_the_environment_chooses_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "mujoco")
    assert default_simulator() == "mujoco" and with_simulator("simulator", "") == "mujoco"
    assert with_simulator("simulator", "pybullet") == "pybullet", "who names one gets that one"
    assert with_simulator("pybullet", "") == "pybullet"
    monkeypatch.setenv(VARIABLE, "mujocco")
    with pytest.raises(DefinitionError, match=rf"\${VARIABLE}; expected .*did you mean 'mujoco'.*; got 'mujocco'"):
        with_simulator("simulator", "")


@pytest.mark.parametrize(
    ("hardware", "simulator", "chosen"),
    [
        ("simulator", "", "pybullet"),
        ("simulator", "mujoco", "mujoco"),
        ("mock, sim=simulator", "mujoco", "mock,sim=mujoco"),
        ("simulator,people=mock", "", "pybullet,people=mock"),
        ("mujoco", "", "mujoco"),
        ("mujoco", "mujoco", "mujoco"),
        ("mock", "", "mock"),
        ("mock,sim=pybullet", "pybullet", "mock,sim=pybullet"),
    ],
)
def test_the_word_becomes_a_plugin(hardware: str, simulator: str, chosen: str) -> None:
    assert with_simulator(hardware, simulator) == chosen


@pytest.mark.parametrize(
    ("hardware", "simulator", "text"),
    [
        ("simulator", "gazebo", "simulator; expected one of: mujoco, pybullet; got 'gazebo'"),
        ("mock", "mujoco", "simulator 'mujoco'; expected hardware that is simulated by it; got hardware 'mock'"),
        ("pybullet", "mujoco", "got hardware 'pybullet'. Choose the hardware 'simulator' as well"),
    ],
)
def test_a_simulator_that_would_simulate_nothing_is_refused(hardware: str, simulator: str, text: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(text)):
        with_simulator(hardware, simulator)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_device_with_a_world_runs_on_each_simulator(tmp_path: Path, simulator: str) -> None:
    for workcell in (
        load(tmp_path, simulator=simulator),
        load(tmp_path, hardware=simulator),
        load(tmp_path, CELL.replace(": simulator", f": {simulator}")),
        load(tmp_path, hardware="mock,sim=simulator", simulator=simulator),
    ):
        device = workcell.device("sim")
        assert device.plugin == simulator and simulator in workcell.hardware
        assert device.config == {"world": {"gravity": [0, 0, -1.62]}}
        assert workcell.device("bus").plugin == "mock"
    assert device.world == {"gravity": [0, 0, -1.62]}


def test_a_simulator_s_own_configuration_is_beside_the_world(tmp_path: Path) -> None:
    text = CELL.replace("    world:", "    mujoco: {gains: {position: 0.2}}\n    world:")
    world = {"gravity": [0, 0, -1.62]}
    assert load(tmp_path, text, "mujoco").device("sim").config == {"gains": {"position": 0.2}, "world": world}
    assert load(tmp_path, text, "pybullet").device("sim").config == {"world": world}
    assert load(tmp_path, text, "mock").device("sim").config == {}


def test_an_empty_world_is_a_world(tmp_path: Path) -> None:
    workcell = load(tmp_path, CELL.replace(" {gravity: [0, 0, -1.62]}", ""))
    assert workcell.device("sim").config == {"world": {}}
    assert load(tmp_path, hardware="mock,sim=mock").device("bus").world is None


def test_a_device_without_a_world_or_a_key_runs_on_no_simulator(tmp_path: Path) -> None:
    text = CELL.replace("world: {gravity: [0, 0, -1.62]}", "mock: {}")
    with pytest.raises(DefinitionError, match=":7: devices.sim; expected a configuration for the hardware 'pybullet'"):
        load(tmp_path, text)


def test_a_simulator_for_a_workcell_that_is_not_simulated_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="simulator 'mujoco'; expected hardware that is simulated by it"):
        load(tmp_path, CELL.replace(": simulator", ": mock"), simulator="mujoco")
    with pytest.raises(DefinitionError, match="got hardware 'mock'"):
        load(tmp_path, hardware="mock", simulator="mujoco")


@pytest.mark.parametrize("name", SIMULATORS)
def test_a_world_of_one_simulator_alone_is_refused(tmp_path: Path, name: str) -> None:
    text = CELL.replace("    world: {", f"    {name}: {{world: {{").replace("1.62]}", "1.62]}}")
    expected = f":8: devices.sim.{name}; expected `world` beside it, one level higher"
    with pytest.raises(DefinitionError, match=re.escape(expected)):
        load(tmp_path, text)


def test_a_world_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=re.escape(":8: devices.sim.world; expected a mapping")):
        load(tmp_path, CELL.replace("{gravity: [0, 0, -1.62]}", "[floor]"))
