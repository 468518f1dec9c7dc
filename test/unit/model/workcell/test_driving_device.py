"""Which plugin a device runs on, and which device drives the loop with the clock `hardware`."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CELL = """
name: cell
parts:
  a: {kind: rangefinder, device: one}
  b: {kind: rangefinder, device: two}
  person: {kind: sensor, device: people, values: {distance: {}}}
devices:
  one: {mock: {}, "my.plugin:Class": {}, pybullet: {}}
  two: {mock: {}, "my.plugin:Class": {}}
  people: {topic: {values: {}}}
"""


def load(folder: Path, text: str, hardware: str) -> Workcell:
    (folder / "cell.yaml").write_text(text)
    return load_workcell(folder / "cell.yaml", hardware)


def test_a_device_with_topics_goes_along_with_any_hardware(tmp_path: Path) -> None:
    for hardware in ("mock", "my.plugin:Class"):
        plugins = {d.name: d.plugin for d in load(tmp_path, CELL, hardware).devices}
        assert plugins == {"one": hardware, "two": hardware, "people": "topic"}
    mocked = CELL.replace("people: {topic", "people: {mock: {}, topic")
    assert load(tmp_path, mocked, "mock").device("people").plugin == "mock", (
        "what is there for the hardware comes first"
    )
    with pytest.raises(DefinitionError, match="devices.two; expected a configuration for the hardware 'pybullet'"):
        load(tmp_path, CELL, "pybullet")


def test_a_plugin_in_a_file_is_found_from_the_workcell_file_on(tmp_path: Path) -> None:
    text = CELL.replace("my.plugin:Class", "drivers/mine.py:Class")
    cell = load(tmp_path, text, "drivers/mine.py:Class")
    assert cell.device("one").plugin == f"{tmp_path / 'drivers' / 'mine.py'}:Class"
    assert cell.hardware == "drivers/mine.py:Class", "what other processes are told"


def test_the_only_device_with_a_driver_drives(tmp_path: Path) -> None:
    one = CELL.replace("device: two", "device: one").replace('  two: {mock: {}, "my.plugin:Class": {}}\n', "")
    assert load(tmp_path, one, "pybullet").driving_device().name == "one"
    with pytest.raises(
        DefinitionError, match="clock:=hardware; expected one device with a driver.*; got none on hardware 'm"
    ):
        load(tmp_path, one, "mock").driving_device()


def test_of_several_the_file_names_one(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="or clock_device in the workcell file; got one, two"):
        load(tmp_path, CELL, "my.plugin:Class").driving_device()
    named = CELL + "clock_device: two\n"
    assert load(tmp_path, named, "my.plugin:Class").driving_device().name == "two"
    with pytest.raises(DefinitionError, match="clock_device 'two'; expected a device with a driver.*'mock'"):
        load(tmp_path, named, "mock").driving_device()
    with pytest.raises(
        DefinitionError, match=r"cell.yaml:\d+: clock_device; expected .*did you mean 'two'.*; got 'tow'"
    ):
        load(tmp_path, CELL + "clock_device: tow\n", "mock")
