"""Frames, xacro and prefixes (X1 to X4). The frames over DDS: test/ros/test_frames.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_rt_control.frames.link_frames import LinkFrames, Transforms
from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.model.workcell.catalogue import workcell_variables
from robot_rt_control.model.workcell.robot_description import WORLD
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[3] / "config"
ARM7 = CONFIG / "robots" / "arm7.urdf"
CELL = """name: c
parts:
  arm: {{kind: arm, device: d, urdf: {}, base_link: {}, tip_link: {}, base_pose: {{position: [1, 2, 0]}}}}
  eye: {{kind: rangefinder, device: d, mounted_on: arm}}
devices: {{d: {{mock: {{}}}}}}
"""


def cell(folder: Path, urdf: str, prefix: str = "") -> Workcell:
    (folder / "cell.yaml").write_text(CELL.format(urdf, f"{prefix}base", f"{prefix}flange"))
    return load_workcell(folder / "cell.yaml")


def frames_of(workcell: Workcell) -> LinkFrames:
    return LinkFrames(parse_urdf(workcell.robot_description().encode(), workcell.path))


def in_world(found: list[Transforms], link: str) -> np.ndarray:
    """X_W of a link, through all transforms to world."""
    X, above = np.eye(4), {}
    for transforms in found:
        for (parent, child), p, q in zip(transforms.links, transforms.positions, transforms.orientations, strict=True):
            X_PC = np.eye(4)
            X_PC[:3, :3], X_PC[:3, 3] = Rotation.from_quat(q).as_matrix(), p
            above[child] = parent, X_PC
    while link != WORLD:
        link, X_PC = above[link]
        X = X_PC @ X
    return X


def test_X1_every_link_has_one_transform_and_the_tool_is_where_the_loop_has_it(tmp_path: Path) -> None:
    workcell = cell(tmp_path, str(ARM7))
    frames, arm = frames_of(workcell), workcell.part("arm")
    q = np.linspace(-0.5, 0.5, arm.dof)
    moved = frames.at(workcell.joint_state_names()["arm"], q.tolist())
    children = [child for _, child in (*moved.links, *frames.fixed.links)]
    links = parse_urdf(workcell.robot_description().encode(), workcell.path).links
    assert sorted([*children, WORLD]) == sorted(links) and {"arm_tool", "eye_frame"} < set(children)
    p, orientation = np.zeros(3), np.zeros(4)
    forward(arm.record.chain, q, p, orientation)
    X = in_world([frames.fixed, moved], "arm_tool")
    np.testing.assert_allclose(X[:3, 3], p, atol=1e-9)
    np.testing.assert_allclose(X[:3, :3], Rotation.from_quat(orientation).as_matrix(), atol=1e-9)


def test_X2_an_unknown_position_has_no_transform_and_a_follower_moves() -> None:
    frames = frames_of(load_workcell(CONFIG / "panda.yaml", "mock"))
    finger, follower = "panda_finger_joint1", "panda_finger_joint2"
    names = ["panda_joint1", finger, follower]
    known = frames.at(names, [0.1, 0.02, 0.02]).links
    assert len(known) == 3 and frames.at(names, [0.1, float("nan"), float("nan")]).links == known[:1]
    text = ARM7.read_text()
    at = text.index("<limit", text.index('name="joint_2"'))
    mimics = LinkFrames(parse_urdf((text[:at] + '<mimic joint="joint_1"/>' + text[at:]).encode(), ARM7))
    assert len(mimics.at(["joint_1"], [0.3]).links) == 2
    assert mimics.at(["joint_1"], [float("nan")]).links == ()


XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="a">
<xacro:arg name="side" default=""/>
<xacro:include filename="links.xacro"/>
</robot>"""


def test_X3_xacro_files_are_expanded_with_the_parts_arguments(tmp_path: Path) -> None:
    text = re.sub(r'(<link name|<joint name|link)="', r'\1="$(arg side)', ARM7.read_text())
    (tmp_path / "links.xacro").write_text(text)
    (tmp_path / "arm.urdf.xacro").write_text(XACRO)
    assert cell(tmp_path, "arm.urdf.xacro").part("arm").joint_names[0] == "joint_1"
    named = "arm.urdf.xacro, xacro_arguments: {side: left_}"
    assert cell(tmp_path, named, "left_").part("arm").joint_names[0] == "left_joint_1"
    with pytest.raises(DefinitionError, match="arm.urdf.xacro: xacro argument 'sid'; expected .* did you mean 'side'"):
        cell(tmp_path, "arm.urdf.xacro, xacro_arguments: {sid: left_}")
    (tmp_path / "links.xacro").write_text("<robot><link></robot>")
    with pytest.raises(DefinitionError, match=r"links.xacro:1: xacro; .*Included by .*arm.urdf.xacro"):
        cell(tmp_path, "arm.urdf.xacro")
    with pytest.raises(
        DefinitionError, match="parts.arm.xacro_arguments.side; expected a text, a number, true or false"
    ):
        cell(tmp_path, "arm.urdf.xacro, xacro_arguments: {side: [1]}")


def test_X4_a_prefix_is_in_every_name(tmp_path: Path) -> None:
    workcell = cell(tmp_path, f"{ARM7}, prefix: left_", "left_")
    arm, frames = workcell.part("arm"), frames_of(workcell)
    assert arm.joint_names[0] == "left_joint_1" == workcell.joint_state_names()["arm"][0]
    assert arm.state_interfaces[0].name == "arm/left_joint_1/position"
    assert "arm.left_joint_1.position" in workcell_variables(workcell)
    links = [link for pair in (*frames.fixed.links, *frames.at(arm.joint_names, [0.0] * 7).links) for link in pair]
    assert all(link.startswith("left_") or link in (WORLD, "arm_tool", "eye_frame") for link in links)
    with pytest.raises(DefinitionError, match="base_link 'base'; expected one of the known names; did you mean 'left_"):
        cell(tmp_path, f"{ARM7}, prefix: left_")
    with pytest.raises(DefinitionError, match=r"parts.arm.prefix; expected .*; got 'a b'"):
        cell(tmp_path, f"{ARM7}, prefix: a b")
    hand = "  hand: {kind: gripper, device: d, mounted_on: arm, prefix: a_, joints: [joint_1]}"
    text = CELL.format(ARM7, "base", "flange").replace("mounted_on: arm}", "mounted_on: arm}\n" + hand)
    (tmp_path / "cell.yaml").write_text(text)
    with pytest.raises(DefinitionError, match="parts.hand.prefix; expected urdf, to whose file it applies; got 'a_'"):
        load_workcell(tmp_path / "cell.yaml")
