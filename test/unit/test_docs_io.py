"""The files shown in docs/io.md and docs/drivers.md are valid."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from robot_rt_control.actions import BUILTIN
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.topics.plugin import TopicPlugin
from robot_rt_control.hardware.world.io_parameters import IoParameters
from robot_rt_control.hardware.world.parameters import WorldParameters
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.text.document import Document

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(file: str) -> list[dict[str, Any]]:
    """The YAML of a page, as workcell files are read: `on` and `off` are names there."""
    found = re.findall(r"```yaml\n(.*?)```", (DOCS / file).read_text(), re.DOTALL)
    return [Document(text, str(DOCS / file), max_bytes=10_000).data for text in found]


def test_the_workcell_file_of_the_reference_is_valid(tmp_path: Path) -> None:
    io, mock, pybullet, _, own, sensor, camera, clock = blocks("io.md")
    joint = {"name": "j", "type": "continuous", "velocity": 1.0, "effort": 1.0}
    arm = own["parts"]["arm"] | {"kind": "base", "device": "sim", "joints": [joint]}
    content = {
        "name": "docs",
        "parts": io["parts"] | sensor["parts"] | {"arm": arm},
        "devices": mock["devices"] | sensor["devices"],
        **clock,
    }
    (tmp_path / "cell.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    workcell = load_workcell(tmp_path / "cell.yaml", "mock")
    assert {d.name: d.plugin for d in workcell.devices} == {"sim": "mock", "people": "topic"}
    HardwareLifecycle(MockPlugin(), hardware_info(workcell, workcell.device("sim")))
    topics = HardwareLifecycle(TopicPlugin(), hardware_info(workcell, workcell.device("people")))
    topics.configure()
    topics.shutdown()
    simulated = IoParameters.model_validate(pybullet["devices"]["sim"]["world"]["io"]["io"])
    assert {i.type for i in simulated.inputs.values()} == {"zone", "contact", "joint", "held"}
    assert {o.type for o in simulated.outputs.values()} == {"grip", "joint", "color"}
    sensors = WorldParameters.model_validate(camera["devices"]["sim"]["world"]).sensors
    assert {s.type for s in sensors.values()} == {"pose"} and len(camera["parts"]["camera"]["values"]) == 7


def test_the_gantry_of_the_tutorial_is_that_of_the_example() -> None:
    (shown,) = blocks("drivers.md")
    example = Document.load(DOCS.parent / "examples" / "drivers" / "gantry.yaml", max_bytes=10_000).data
    assert shown["devices"] == example["devices"]
    assert shown["default_hardware"] == example["default_hardware"]
    assert shown["parts"]["gantry"]["joints"] == example["parts"]["gantry"]["joints"]
    assert list(shown["parts"]["tool"]["outputs"]) == list(example["parts"]["tool"]["outputs"])


def test_the_streams_table_names_every_built_in_follower() -> None:
    section = (DOCS / "io.md").read_text().split("\n## Streams")[1].split("\n## ")[0]
    shown = re.findall(r"^\| `(\w+)` \| `(\w+)`", section, re.MULTILINE)
    types = [getattr(import_module(path.split(":")[0]), path.split(":")[1]) for path in BUILTIN]
    followers = {(t.name, t.slots[0].name) for t in types if any(isinstance(s, StreamInput) for s in t.streams)}
    assert set(shown) == followers and len(shown) == len(followers)
