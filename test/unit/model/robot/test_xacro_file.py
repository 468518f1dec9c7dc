"""Expanding xacro files, with the real library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.robot.xacro_file import expand
from robot_rt_control.vocabulary.errors import DefinitionError

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="side" default="right"/>
  <xacro:arg name="reach" default="1.0"/>
  <xacro:include filename="links.xacro"/>
  <xacro:pair name="$(arg side)" reach="$(arg reach)"/>
</robot>
"""
LINKS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="pair" params="name reach">
    <link name="${name}_base"/>
    <link name="${name}_tip"/>
    <joint name="${name}_slide" type="prismatic">
      <parent link="${name}_base"/><child link="${name}_tip"/>
      <axis xyz="0 0 1"/><limit lower="0" upper="${2 * float(reach)}" velocity="1" effort="5"/>
    </joint>
  </xacro:macro>
</robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    (tmp_path / "links.xacro").write_text(LINKS)
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def message(path: Path, **arguments: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        expand(path, arguments)
    return str(caught.value)


def test_macros_includes_and_arguments_are_expanded(arm: Path) -> None:
    assert read_urdf(arm).joints["right_slide"].upper == 2.0
    urdf = read_urdf(arm, xacro_arguments={"side": "left", "reach": "0.5"}, prefix="lab_")
    assert list(urdf.joints) == ["lab_left_slide"] and urdf.joints["lab_left_slide"].upper == 1.0
    assert urdf.path == arm and str(arm).encode() not in urdf.content


def test_an_argument_that_the_file_does_not_have_is_an_error(arm: Path) -> None:
    assert message(arm, sid="left") == (
        f"{arm}: xacro argument 'sid'; expected one of the known names; did you mean 'side'"
    )


def test_errors_name_the_file_that_is_wrong_and_its_including_one(arm: Path, tmp_path: Path) -> None:
    (tmp_path / "links.xacro").write_text(LINKS.replace('${name}_tip"/>\n    <joint', '${nam}_tip"/>\n    <joint'))
    text = message(arm)
    assert text.startswith(f"{arm}: xacro; expected a file that it can expand; got ") and "nam" in text
    (tmp_path / "links.xacro").write_text("<robot>\n<link>\n</robot>")
    assert message(arm) == (
        f"{tmp_path}/links.xacro:3: xacro; expected a file that it can expand; got mismatched tag: line 3, column 2. "
        f"Included by {arm}"
    )
    arm.write_text(ARM.replace("links.xacro", "lnks.xacro"))
    assert "No such file or directory" in message(arm) and str(arm.parent / "lnks.xacro") in message(arm)
    (tmp_path / "links.xacro").write_text(LINKS)
    arm.write_text(ARM.replace("$(arg side)", "$(arg sde)"))
    assert message(arm).startswith(f"{arm}: xacro; ") and "sde" in message(arm)


def test_an_error_does_not_spoil_the_next_file(arm: Path) -> None:
    message(arm, sid="left")
    assert "right_slide" in read_urdf(arm).joints


def test_find_finds_packages_as_package_uris_do(arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = tmp_path / "prefix" / "share" / "some_arm"
    share.mkdir(parents=True)
    (share / "links.xacro").write_text(LINKS)
    arm.write_text(ARM.replace('"links.xacro"', '"$(find some_arm)/links.xacro"'))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    assert "right_slide" in read_urdf(arm).joints
    arm.write_text(ARM.replace('"links.xacro"', '"$(find other_arm)/links.xacro"'))
    assert message(arm) == (
        f"{arm}: $(find other_arm); expected a ROS package in one of the folders of AMENT_PREFIX_PATH; got no such "
        "package. Source the workspace that contains it"
    )


def test_mistakes_in_the_expanded_urdf_say_so(arm: Path) -> None:
    with pytest.raises(DefinitionError, match=r"arm.urdf.xacro, expanded:\d+: joint 'right_slide', <limit>; expected"):
        read_urdf(arm, xacro_arguments={"reach": "0"})


def test_without_the_library_the_error_says_how_to_get_it(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    assert message(arm) == (
        f"xacro file {arm}; expected the Python library xacro; got import of xacro halted; None in sys.modules. "
        "Install it: pip install xacro, or on a ROS installation apt install ros-$ROS_DISTRO-xacro"
    )
