"""<ros2_control> tags (X5 to X7); all that they may say: test/unit/model/workcell/test_tagged_devices.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

ARM7 = Path(__file__).parents[3] / "config" / "robots" / "arm7.urdf"
JOINT = """  <joint name="joint_{}">
    <command_interface name="position"><param name="min">-1</param><param name="max">9</param></command_interface>
    <state_interface name="position"><param name="initial_value">0.{}</param></state_interface>
  </joint>
"""
TAG = """<ros2_control name="arm" type="system">
  <hardware><plugin>mock_components/GenericSystem</plugin><param name="time_constant">0.01</param></hardware>
{}</ros2_control>
</robot>"""
CELL = """name: c
parts:
  arm: {kind: arm, device: d, urdf: arm.urdf, base_link: base, tip_link: flange}
devices:
  d: {ros2_control: arm}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tag = TAG.format("".join(JOINT.format(j, j) for j in range(1, 8)))
    (tmp_path / "arm.urdf").write_text(ARM7.read_text().replace("</robot>", tag))
    (tmp_path / "cell.yaml").write_text(CELL)
    return tmp_path / "cell.yaml"


def changed(file: Path, *changes: tuple[str, str]) -> Workcell:
    urdf = file.parent / "arm.urdf"
    text = urdf.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    urdf.write_text(text)
    return load_workcell(file)


def test_X5_the_tag_configures_plugin_and_joints(file: Path) -> None:
    with LockstepCell(file) as cell:
        device, arm = cell.workcell.device("d"), cell.workcell.part("arm")
        assert (device.plugin, device.config) == ("mock", {"time_constant": 0.01})
        assert arm.record.position_lower[0] == -1.0 and 2.9 < arm.record.position_upper[0] < 3.0
        assert cell.part("arm").position[:7] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
        assert [mode.name for mode in arm.command_modes] == ["POSITION"]


def test_X5_the_mock_can_still_be_chosen_for_all(file: Path) -> None:
    workcell = changed(file, ("mock_components/GenericSystem", "robot_rt_control/pybullet"), ("time_constant", "world"))
    assert (workcell.device("d").plugin, workcell.hardware) == ("pybullet", "mock,d=pybullet")
    assert load_workcell(file, "mock").device("d").plugin == "mock"


def test_X6_what_does_not_fit_is_reported_at_once_with_lines(file: Path) -> None:
    with pytest.raises(DefinitionError) as caught:
        changed(
            file,
            ('<joint name="joint_7">\n    <command', '<joint name="joint_8">\n    <command'),
            ("<hardware>", "<hardware><speed>1</speed>"),
        )
    assert "<hardware>, <speed>; expected <plugin>, <group>, <param>" in str(caught.value)
    with pytest.raises(DefinitionError) as caught:
        changed(file, ("<speed>1</speed>", ""))
    first, second = str(caught.value).splitlines()
    assert (
        first.startswith(f"{file.parent}/arm.urdf:") and "expected a <joint> 'joint_7', which the workcell has" in first
    )
    assert second.startswith(f"{file.parent}/arm.urdf:") and "joint 'joint_8'; expected one of" in second


def test_X7_an_unused_tag_is_a_warning(file: Path) -> None:
    assert load_workcell(file).warnings == ()
    file.write_text(CELL.replace("{ros2_control: arm}", "{mock: {}}"))
    (warning,) = load_workcell(file).warnings
    assert warning.startswith(f"{file.parent}/arm.urdf:") and "<ros2_control> 'arm' is not used" in warning
