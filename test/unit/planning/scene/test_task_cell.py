"""What a task may name in a workcell: a body that is a link of the robot, and the faces that it may touch."""

import math

import numpy as np
import pytest

from robot_rt_control.planning.scene.task_cell import TaskCell, find_shipped
from robot_rt_control.vocabulary.errors import DefinitionError

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SHAPE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
ROBOT = f"""\
<robot name="floater">
  <link name="world"/>
  <joint name="x" type="prismatic"><parent link="world"/><child link="slider"/><origin xyz="0 0 1"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="0" velocity="1"/></joint>
  <link name="slider"/>
  <joint name="yaw" type="continuous"><parent link="slider"/><child link="torso"/><axis xyz="0 0 1"/>
    <origin xyz="0.5 0 0" rpy="0 0 {math.pi / 2}"/></joint>
  <link name="torso">{INERTIAL}</link>
  <joint name="elbow" type="revolute"><parent link="torso"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="arm">{INERTIAL}{SHAPE}</link>
</robot>
"""
CELL = """\
name: floating
period: 0.001
default_hardware: simulator
parts:
  limb: {kind: arm, device: sim, urdf: floater.urdf, joints: [elbow], limits: {acceleration: [1]},
         base_pose: {position: [0, 2, 0]}}
devices:
  sim:
    world:
      objects:
        - {name: brick, box: {size: [1, 1, 1]}, fixed: true}
        - {name: can, cylinder: {radius: 0.1, height: 0.1}}
        - {name: ball, sphere: {radius: 0.1}}
"""


@pytest.fixture
def cell(tmp_path):
    (tmp_path / "floater.urdf").write_text(ROBOT)
    (tmp_path / "cell.yaml").write_text(CELL.replace("kind: arm", "kind: base"))
    return TaskCell(tmp_path / "cell.yaml")


def test_a_link_that_floats_is_a_body(cell):
    cell.check_body("limb.torso")
    X = cell.start_of("limb.torso")
    assert X[:3, 3] == pytest.approx((0.5, 2.0, 1.0)) and X[:3, 0] == pytest.approx((0, 1, 0))
    assert np.allclose(cell.start_of("brick"), np.eye(4))


def test_faces_of_a_link_that_floats_are_those_of_fixed_objects(cell):
    assert cell.check_face("brick.left", "limb.torso") == "brick.left"
    with pytest.raises(DefinitionError, match="<fixed object>.<face>, as the body is a link of the robot"):
        cell.check_face("left", "limb.torso")
    with pytest.raises(DefinitionError, match="face 'can.left'"):
        cell.check_face("can.left", "limb.torso")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("limb.slider", "body 'limb.slider'; expected a link with a mass; got a massless one"),
        ("limb.arm", "expected a link that floats: its joints belong to no part"),
        ("limb.tors", "expected one of the known names; did you mean 'limb.torso'"),
        ("brick", "body 'brick'; expected a free body: can, ball; got a fixed one"),
        ("ball", "expected a box or a cylinder, whose faces have names; got another shape"),
    ],
)
def test_what_is_no_body(cell, body, message):
    with pytest.raises(DefinitionError, match=message):
        cell.check_body(body)


def test_faces_of_a_cylinder(cell):
    cell.check_body("can")
    assert cell.check_face("can.top", "can") == "top"


def test_a_geometry_needs_a_shape(cell):
    cell.check_link("limb.arm")
    with pytest.raises(DefinitionError, match="'limb.torso'; expected a link with a collision shape: limb.arm; got no"):
        cell.check_link("limb.torso")


def test_a_workcell_without_simulated_world(tmp_path):
    (tmp_path / "floater.urdf").write_text(ROBOT)
    text = CELL.replace("kind: arm", "kind: base").replace("simulator", "mock").partition("    world:")[0]
    (tmp_path / "cell.yaml").write_text(text + "    mock: {}\n")
    with pytest.raises(DefinitionError, match="world"):
        TaskCell(tmp_path / "cell.yaml")


def test_files_of_the_package_by_name(tmp_path):
    assert find_shipped("push", tmp_path) == find_shipped("push.yaml", tmp_path)
    (tmp_path / "push.yaml").write_text("")
    assert find_shipped("push.yaml", tmp_path) == tmp_path / "push.yaml"
    assert find_shipped("push_box", tmp_path, "tasks").parent.name == "tasks"
