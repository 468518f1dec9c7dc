"""Descriptions of devices with foreign drivers, and how these are started."""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.hardware import external_driver
from robot_rt_control.hardware.driver import main as python_driver
from robot_rt_control.hardware.external_device import description_path, external_manifest
from robot_rt_control.hardware.external_driver import find_program, main
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.process_image import Manifest
from robot_rt_control.memory.layout import IMAGE_LAYOUT
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CELL = """
name: foreign
period: 0.002
parts:
  other: {kind: io, device: lamp, outputs: {red: {}}}
  axis:
    kind: base
    device: robot
    joints:
      - {name: x, type: prismatic, position_lower: -1.0, position_upper: 1.0, velocity: 0.5}
      - {name: turn, type: continuous, velocity: 0.25}
    command_modes: [velocity, position]
  tool: {kind: io, device: robot, inputs: {held: {}}, outputs: {cup: {safe: false}, lamp: {initial: true}}}
  near: {kind: rangefinder, device: robot, range: [0.02, 4.0]}
  seen: {kind: sensor, device: robot, values: {size: {}}}
devices:
  lamp: {mock: {}}
  robot: {external: {command: [./start.sh, --fast], parameters: {address: 10.0.0.1}, pace: device, priority: 60}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "cell.yaml").write_text(CELL)
    return tmp_path / "cell.yaml"


@pytest.fixture
def image() -> Iterator[str]:
    chosen = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield chosen
    description_path(chosen).unlink(missing_ok=True)


def test_the_description_names_all_that_is_exchanged(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file), "robot", "--hardware", "mock,robot=external", "--image", "here", "--print"]) == 0
    text = capsys.readouterr().out
    found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    workcell = load_workcell(file, "mock,robot=external")
    manifest = external_manifest(hardware_info(workcell, workcell.device("robot")))
    assert Manifest.from_bytes(text.encode()) == manifest
    assert (found["image"], found["layout"], found["indices"]) == ("here", f"{IMAGE_LAYOUT:x}", [1, 2, 3, 4])
    x, turn = found["joints"]
    assert (x["name"], x["unit"], x["modes"], x["lower"]) == ("x", "m", ["position", "velocity"], -1.0)
    assert (turn["unit"], turn["lower"], turn["upper"], turn["part"]) == ("rad", None, None, 0)
    assert found["state"][turn["state"]] == found["command"][turn["command"]] == "axis/turn/position"
    names = {found["state"][value["state"]] for value in found["values"]}
    assert names == {"tool/held", "near/distance", "seen/size"}
    cup, lamp = found["outputs"]
    assert (cup["safe"], lamp["safe"], lamp["initial"]) == (0.0, None, 1.0)
    assert found["command"][lamp["command"]] == found["state"][lamp["state"]] == "tool/lamp"
    (age,), (reach,) = found["ages"], found["ranges"]
    assert (found["state"][age["state"]], found["state"][age["of"]]) == ("seen/size_age", "seen/size")
    assert (found["state"][reach["state"]], reach["lower"], reach["upper"]) == ("near/distance", 0.02, 4.0)
    assert (found["pace"], found["priority"], found["parameters"]) == ("device", 60, {"address": "10.0.0.1"})
    assert set(found["kinds"]) == {"base", "io", "rangefinder", "sensor"} and found["urdf"] == ""


def test_it_becomes_the_driver_with_the_description_beside_the_image(
    file: Path, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = file.parent / "start.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    called: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(external_driver.os, "execv", lambda path, words: called.append((path, words)))
    main([str(file), "robot", "--hardware", "external,lamp=mock", "--image", image, "--ros-args", "-r", "__node:=n"])
    description = str(description_path(image))
    assert called == [(str(program), [str(program), "--fast", description, "--ros-args", "-r", "__node:=n"])]
    assert json.loads(Path(description).read_text())["device"] == "robot"
    assert Path(description).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("old", "new", "device", "text"),
    [
        ("x", "x", "robot", "the driver './start.sh'; expected an executable file; got none"),
        ("./start.sh, --fast", "", "robot", "device 'robot'; expected `external: {command: .*Start the driver by hand"),
        ("x", "x", "lamp", "device 'lamp'; expected a device with a foreign driver .*got one on the plugin 'mock'"),
        ("x", "x", "rob", "device 'rob'; expected one of the known names; did you mean 'robot'"),
        ("pace: device", "pace: fast", "robot", "cell.yaml:18: pace; expected one of: device, loop, own; got 'fast'"),
        ("priority: 60", "speed: 60", "robot", "cell.yaml:18: speed: unknown key"),
    ],
)
def test_what_cannot_be_started_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, device: str, text: str
) -> None:
    file.write_text(CELL.replace(old, new))
    assert main([str(file), device, "--hardware", "mock,robot=external", "--image", "none"]) == 1
    assert re.search(text, capsys.readouterr().err, re.DOTALL)


def test_programs_are_beside_the_workcell_file_on_path_or_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_program(Path(sys.executable).name, tmp_path)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(DefinitionError, match="was built without ros2_control. Build this package where hardware_int"):
        find_program("ros2_control_driver", tmp_path)
    program = tmp_path / "lib" / "robot_rt_control" / "ros2_control_driver"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o700)
    assert find_program("ros2_control_driver", tmp_path) == str(program)


def test_no_driver_in_python_runs_it(
    file: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robot_rt_control.hardware.driver.raise_urgency", lambda: "")
    assert python_driver([str(file), "robot", "--hardware", "mock,robot=external", "--image", "none"]) == 1
    assert "device 'robot'; expected a plugin in Python; got a foreign driver" in capfd.readouterr().err
