"""The driver of docs/drivers.md against its device, over UDP."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "drivers"
PERIOD_S = 0.002


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def controller() -> Iterator[Any]:
    with module("gantry_controller").GantryController() as made:
        yield made


def driver(port: int, **parameters: Any) -> HardwareLifecycle:
    """A device as the driver process makes it."""
    workcell = load_workcell(FOLDER / "gantry.yaml")
    (device,) = workcell.devices
    assert device.plugin == f"{FOLDER / 'gantry_driver.py'}:GantryDriver"
    device.config.clear()
    device.config.update(port=port, **parameters)
    return HardwareLifecycle(load_plugin(device.plugin)(), hardware_info(workcell, device))


def run(lifecycle: HardwareLifecycle, cycles: int) -> dict[str, float]:
    for _ in range(cycles):
        lifecycle.read(0.0, PERIOD_S)
        lifecycle.write(0.0, PERIOD_S)
        time.sleep(PERIOD_S)
    return dict(zip((i.name for i in lifecycle.state_interfaces), lifecycle.state.tolist(), strict=True))


def test_it_moves_the_axes_and_switches_the_outputs(controller: Any) -> None:
    lifecycle = driver(controller.port, timeout_s=5.0)
    lifecycle.configure()
    lifecycle.activate()
    state = run(lifecycle, 5)
    assert (state["gantry/x/position"], state["gantry/y/position"], state["tool/held"]) == (0.3, 0.2, 0.0)
    names = [i.name for i in lifecycle.command_interfaces]
    lifecycle.command[[names.index("gantry/x/position"), names.index("gantry/y/position")]] = (0.35, 0.15)
    lifecycle.command[names.index("tool/vacuum")] = 1.0
    assert run(lifecycle, 20)["gantry/x/position"] == 0.3, "held until it is switched to position commands"
    lifecycle.switch_modes({"gantry": CommandMode.POSITION})
    state = run(lifecycle, 150)
    assert state["gantry/x/position"] == pytest.approx(0.35, abs=1e-3)
    assert state["gantry/y/position"] == pytest.approx(0.15, abs=1e-3)
    assert (state["tool/held"], state["tool/vacuum"], state["tool/lamp"]) == (1.0, 1.0, 0.0)
    lifecycle.shutdown()


def test_a_silent_controller_is_an_error_that_says_so(controller: Any) -> None:
    lifecycle = driver(controller.port, timeout_s=0.05)
    lifecycle.configure()
    lifecycle.activate()
    controller.cable = False
    with pytest.raises(HardwareError, match=r"read returned ERROR: the gantry controller has been silent for 0.05\d s"):
        run(lifecycle, 500)


def test_where_no_controller_is_the_driver_says_so() -> None:
    with pytest.raises(
        HardwareError, match="on_configure returned FAILURE: no gantry controller answers at"
    ):
        driver(9).configure()


def test_wrong_parameters_are_refused(controller: Any) -> None:
    with pytest.raises(HardwareError, match="unknown parameters: prot; expected host, port, timeout_s"):
        driver(controller.port, prot=1)
