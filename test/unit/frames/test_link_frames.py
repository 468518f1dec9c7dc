"""Transforms between links, compared with Pinocchio's."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from robot_rt_control.frames.link_frames import LinkFrames, Transforms
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.model.workcell.workcell import load_workcell

CONFIG = Path(__file__).resolve().parents[3] / "config"

MIMIC = """<robot name="m">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="a"/><origin xyz="1 0 0" rpy="0 0 1.5707963"/>
    <axis xyz="1 0 0"/><limit lower="-9" upper="9" velocity="1" effort="1"/></joint>
  <joint name="twice" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <mimic joint="slide" multiplier="2" offset="0.5"/></joint>
  <joint name="again" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <mimic joint="twice" multiplier="-1" offset="0.25"/></joint>
  <joint name="loose" type="floating"><parent link="c"/><child link="d"/></joint>
</robot>"""


def frames_of(text: str) -> LinkFrames:
    return LinkFrames(parse_urdf(text.encode(), Path("m.urdf")))


def angles(found: Transforms) -> dict[str, float]:
    """Child → its angle about z [rad]."""
    return {
        child: 2.0 * math.atan2(z, w)
        for (_, child), (_, _, z, w) in zip(found.links, found.orientations.tolist(), strict=True)
    }


@pytest.mark.parametrize("cell", ["iiwa", "panda", "two_arms"])
def test_all_links_of_a_workcell_are_where_pinocchio_has_them(cell: str) -> None:
    text = load_workcell(CONFIG / f"{cell}.yaml", "mock").robot_description()
    frames = frames_of(text)
    model = pin.buildModelFromXML(text)
    data = model.createData()
    q = np.random.default_rng(1).uniform(0.0, 0.04, model.nq)
    names = list(model.names)[1:]
    pin.framesForwardKinematics(model, data, q)
    positions = [q[model.joints[model.getJointId(name)].idx_q] for name in names]
    moved = frames.at(names, positions)
    assert len(moved.links) == frames.moving == len(names) and len(frames.fixed.links) > 2
    assert len(moved.links) + len(frames.fixed.links) == len(parse_urdf(text.encode(), Path("m")).links) - 1
    for found in (frames.fixed, moved):
        rows = zip(found.links, found.positions, found.orientations, strict=True)
        for (parent, child), position, orientation in rows:
            X_WP, X_WC = (data.oMf[model.getFrameId(link, pin.BODY)] for link in (parent, child))
            expected = X_WP.inverse() * X_WC
            np.testing.assert_allclose(position, expected.translation, atol=1e-12)
            rotation = pin.Quaternion(*np.roll(orientation, 1)).toRotationMatrix()
            np.testing.assert_allclose(rotation, expected.rotation, atol=1e-12)


def test_a_joint_that_mimics_follows_also_over_others() -> None:
    found = frames_of(MIMIC).at(["slide"], [0.1])
    assert found.links == (("base", "a"), ("a", "b"), ("b", "c"))
    np.testing.assert_allclose(found.positions, [[1.0, 0.1, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], atol=1e-7)
    assert angles(found) == pytest.approx({"a": 1.5707963, "b": 0.7, "c": -0.45})


def test_a_reported_position_goes_before_that_of_the_mimicked_joint() -> None:
    found = frames_of(MIMIC).at(["twice", "slide"], [0.2, 0.1])
    assert angles(found) == pytest.approx({"a": 1.5707963, "b": 0.2, "c": 0.05})


def test_a_joint_without_a_known_position_has_no_frame() -> None:
    frames = frames_of(MIMIC)
    assert frames.unsupported == ("loose",) and frames.fixed.links == ()
    assert frames.at(["slide"], [math.nan]).links == ()
    assert frames.at([], []).links == frames.at(["other"], [1.0]).links == ()
    assert frames.at(["slide", "twice"], [math.nan, 0.1]).links == (("a", "b"), ("b", "c"))
    # JointState's positions may be shorter than its names, or empty.
    assert frames.at(["twice", "slide"], [0.1]).links == (("a", "b"), ("b", "c"))


def test_joints_that_mimic_each_other_have_no_frames() -> None:
    text = MIMIC.replace('name="slide" type="prismatic">', 'name="slide" type="prismatic"><mimic joint="again"/>')
    assert frames_of(text).at(["other"], [1.0]).links == ()


def test_several_publishers_of_joints_are_taken_in_turn_and_one_that_changes_its_names_fills_no_memory() -> None:
    frames = frames_of(MIMIC)
    for i in range(200):
        assert angles(frames.at(["slide"], [0.1]))["b"] == pytest.approx(0.7)
        assert angles(frames.at(["twice"], [0.2]))["b"] == pytest.approx(0.2)
        assert frames.at([f"other_{i}"], [0.0]).links == ()
    assert len(frames._taken) <= 64
