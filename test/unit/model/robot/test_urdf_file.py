"""A URDF as a file that a simulator reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.model.robot.urdf_file import urdf_file
from robot_rt_control.model.robot.urdf_reader import read_urdf

ARM = """<robot name="a">
  <link name="base"><visual><geometry><mesh filename="a b.stl"/></geometry></visual>
    <collision><geometry><mesh filename="c.stl"/></geometry></collision></link>
</robot>"""


@pytest.fixture
def arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "arm.urdf").write_text(ARM)
    return tmp_path / "arm.urdf"


def test_an_unchanged_urdf_is_its_own_file(arm: Path) -> None:
    assert urdf_file(read_urdf(arm)) == arm and not (arm.parent / "cache").exists()


def test_a_changed_one_has_a_file_that_names_its_meshes_in_full(arm: Path) -> None:
    file = urdf_file(read_urdf(arm, prefix="left_"))
    text = file.read_text()
    assert file.parent == arm.parent / "cache" / "urdf" and '"left_base"' in text
    assert f'"{arm.parent}/a b.stl"' in text and f'"{arm.parent}/c.stl"' in text
    assert urdf_file(read_urdf(arm, prefix="left_")) == file
    assert urdf_file(read_urdf(arm, prefix="right_")) != file
    assert sorted(file.parent.iterdir()) == sorted({file, urdf_file(read_urdf(arm, prefix="right_"))})


def test_packages_are_found_for_a_simulator_that_does_not_find_them(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm.write_text(ARM.replace('"c.stl"', '"package://arms/c.stl"').replace('"a b.stl"', '"package://nowhere/b.stl"'))
    mesh = arm.parent / "install/share/arms/c.stl"
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(arm.parent / "install"))
    text = urdf_file(read_urdf(arm)).read_text()
    assert f'"{mesh}"' in text and '"package://nowhere/b.stl"' in text
