"""The world of a workcell, whatever its devices run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.hardware.world.of_workcell import world_of
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CELL = """\
name: cell
default_hardware: mock
parts:
  io: {kind: io, device: bus, inputs: 2}
  eye: {kind: io, device: sim, inputs: 1}
devices:
  bus: {mock: {}}
  sim:
    world: {objects: [{name: ball, sphere: {radius: 0.1}}]}
"""


@pytest.mark.parametrize("hardware", ["mock", "mock,sim=pybullet", "mock,sim=mujoco"])
def test_it_is_the_same_on_all_hardware(tmp_path: Path, hardware: str) -> None:
    (tmp_path / "cell.yaml").write_text(CELL)
    world = world_of(load_workcell(tmp_path / "cell.yaml", hardware))
    assert [thing.name for thing in world.objects] == ["ball"] and world.gravity == (0.0, 0.0, -9.81)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("world: {objects: [{name: ball, sphere: {radius: 0.1}}]}", "mock: {}",
         "workcell 'cell'; expected a device with a `world`, which simulators simulate; got none"),
        ("objects:", "objcts:", "cell.yaml, device 'sim', world: objcts: unknown key; expected .*'objects'"),
        ("radius: 0.1", "radius: 0", "cell.yaml, device 'sim', world: objects.0..sphere.radius; expected greater than"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, text: str) -> None:
    assert old in CELL
    (tmp_path / "cell.yaml").write_text(CELL.replace(old, new))
    with pytest.raises(DefinitionError, match=text):
        world_of(load_workcell(tmp_path / "cell.yaml"))
