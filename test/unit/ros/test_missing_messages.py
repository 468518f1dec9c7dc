"""The advice is of use where one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.ros import missing_messages
from robot_rt_control.ros.missing_messages import BUILT, how_to_get

ROOT = Path(__file__).parents[3]


def test_it_names_what_helps_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert how_to_get(BUILT, {}) == "`./run interfaces` builds what is missing"
    expected = "On this ROS installation: apt install ros-kilted-tf2-msgs ros-kilted-control-msgs"
    assert how_to_get(["tf2_msgs", "control_msgs"], {"ROS_DISTRO": "kilted"}) == expected
    monkeypatch.setattr(missing_messages, "__file__", str(tmp_path / "site-packages/robot_rt_control/ros/x.py"))
    installed = how_to_get(BUILT, {})
    assert "./run" not in installed and "ROBOT_RT_CONTROL_INTERFACES=1 pip install ." in installed
    assert 'get("ROBOT_RT_CONTROL_INTERFACES")' in (ROOT / "setup.py").read_text()


def test_what_can_be_built_is_there() -> None:
    assert tuple(sorted(file.parent.name for file in (ROOT / "interfaces").glob("*/package.xml"))) == BUILT
