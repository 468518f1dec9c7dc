"""The description of drives on CANopen in a workcell file: mistakes are reported with their items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from robot_rt_control.model.workcell.canopen import CanopenDrives
from robot_rt_control.model.workcell.drives import Drives
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).resolve().parents[4] / "config"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Workcell]:
    """The shipped example, with other keys for its first two drives."""

    def make(first: dict[str, Any], second: dict[str, Any] | None = None) -> Workcell:
        content = yaml.safe_load((CONFIG / "canopen.yaml").read_text())
        drives = content["devices"]["bus"]["canopen"]["drives"]
        drives[0].update(first)
        drives[1].update(second or {})
        (tmp_path / "cell.yaml").write_text(yaml.safe_dump(content))
        return load_workcell(tmp_path / "cell.yaml")

    return make


def test_the_shipped_example_is_valid() -> None:
    (device,) = load_workcell(CONFIG / "canopen.yaml").devices
    assert isinstance(device.drives, CanopenDrives)
    assert device.drives.drives[0].vendor == 0x29C and device.drives.drives[0].startup[0].object == 0x6065


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (({"node": 2},), "expected a node of its own, as 2 is that of drive 'x_drive'; got 2"),
        (({"node": 127},), "drive 'x_drive'; expected another node than that of this computer's heartbeat; got 127"),
        (({"node": 128},), r"node.*got 128"),
        (({"kind": "servo_1"},), "expected a drive for the network 'canopen'; got one for 'test_bus'"),
        (({"kind": "cia420"},), "kind; expected one of the known names; did you mean 'cia402'; got 'cia420'"),
        (({"vendor": "0x29G"},), "vendor; expected an integer, such as 24954 or 0x607A; got '0x29G'"),
        (({"eds": "x.eds", "edz": "y"},), "edz"),
        (({"motors": [{"joint": "gantry.z", "counts": 1}]},), "expected .*'?x'?.*got 'gantry.z'"),
        (({"startup": [{"object": 0, "value": 1}]},), "startup.*object.*got 0"),
    ],
)
def test_mistakes_are_refused(load: Callable[..., Workcell], changes: tuple, text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        load(*changes)


def test_hexadecimal_numbers_may_be_texts(load: Callable[..., Workcell]) -> None:
    (device,) = load({"vendor": "0x1F", "startup": [{"object": "0x605A", "value": "-1"}]}).devices
    assert isinstance(device.drives, CanopenDrives)
    assert device.drives.drives[0].vendor == 31 and device.drives.drives[0].startup[0].value == -1


@pytest.mark.parametrize(("hardware", "kind"), [("drives", Drives), ("canopen", CanopenDrives), ("mock", Drives)])
def test_a_device_with_both_has_the_drives_of_the_chosen_hardware(tmp_path: Path, hardware: str, kind: type) -> None:
    content = yaml.safe_load((CONFIG / "canopen.yaml").read_text())
    bus = content["devices"]["bus"]
    keys = ("name", "node", "motors")
    simulated = [{"kind": "servo_1", **{key: drive[key] for key in keys}} for drive in bus["canopen"]["drives"]]
    simulated[0]["name"] = "simulated"
    bus["drives"] = {"network": {"kind": "test_bus"}, "drives": simulated}
    (tmp_path / "cell.yaml").write_text(yaml.safe_dump(content))
    workcell = load_workcell(tmp_path / "cell.yaml", hardware)
    (device,) = workcell.devices
    assert type(device.drives) is kind
    states = [state.name for state in workcell.part("gantry").drive_states]
    assert ("simulated.age" in states) == (kind is Drives)
