"""What the URDF reader refuses, and in which words."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.robot.urdf_reader import read_urdf, rotation_of_rpy
from robot_rt_control.vocabulary.errors import DefinitionError

GOOD = """<robot name="r"><link name="base"/><link name="tip">
<inertial><origin xyz="0 0 1" rpy="1.57079632679489662 0 0"/>
<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="tip"/><origin xyz="1 2 3"/>
<limit lower="-1" upper="1" velocity="2" effort="0"/></joint></robot>"""


def _read(tmp_path, text):
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    return read_urdf(path)


def test_a_good_one(tmp_path):
    urdf = _read(tmp_path, GOOD)
    assert urdf.root == "base" and urdf.name == "r"
    joint = urdf.joint("j")
    np.testing.assert_array_equal(joint.axis, [1, 0, 0])  # the default of URDF
    assert joint.velocity == 2.0 and joint.effort is None
    inertial = urdf.links["tip"]
    assert inertial is not None and inertial.mass == 2.0
    np.testing.assert_allclose(inertial.inertia, np.diag([1, 3, 2]), atol=1e-12)


@given(*[st.floats(-3.2, 3.2)] * 3)
def test_rpy(roll, pitch, yaw):
    np.testing.assert_allclose(rotation_of_rpy(roll, pitch, yaw), pin.rpy.rpyToMatrix(roll, pitch, yaw), atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("</robot>", "", "5: URDF; expected well-formed XML; got no element found in column 62"),
        ('robot name="r"', 'sdf name="r"', "5: URDF; expected well-formed XML; got mismatched tag in column"),
        ('type="revolute"', 'type="ball"', "4: joint 'j', type; expected one of revolute, continuous, prismatic"),
        ('lower="-1"', 'lower="1"', "5: joint 'j', <limit>; expected lower < upper; got lower 1, upper 1"),
        ('lower="-1"', 'lower="a"', "5: joint 'j', <limit lower>; expected a finite number; got 'a'"),
        ('velocity="2"', 'velocity="-2"', "5: joint 'j', <limit velocity>; expected at least 0; got -2"),
        ('xyz="1 2 3"', 'xyz="1 2"', "4: joint 'j', <origin xyz>; expected three finite numbers; got '1 2'"),
        ('<child link="tip"/>', "", "4: joint 'j'; expected an element <child>; got none"),
        ('<child link="tip"/>', '<child link="top"/>', "4: joint 'j', child 'top'; expected one of the known names"),
        ('<mass value="2"/>', "", "2: link 'tip'; expected an element <mass>; got none"),
        ('<mass value="2"/>', '<mass value="-2"/>', "3: link 'tip', <mass value>; expected a mass [kg] of at least 0"),
        (
            '<link name="base"/>',
            '<link name="base"/><link name="base"/>',
            "1: link 'base'; expected names that occur once",
        ),
        ('<link name="base"/>', '<link name="base"/><link name="alone"/>', "1: tree of links; expected exactly one"),
        ('<link name="base"/>', "<link/>", "1: a link; expected an attribute 'name' in <link>; got none"),
        ('<child link="tip"/>', '<child link="tip"/><axis xyz="0 0 0"/>', "4: joint 'j', <axis xyz>; expected a dir"),
    ],
)
def test_refusals_name_file_line_item_and_reason(tmp_path, old, new, text):
    assert old in GOOD
    with pytest.raises(DefinitionError) as error:
        _read(tmp_path, GOOD.replace(old, new, 1))
    assert str(error.value).startswith(f"{tmp_path / 'robot.urdf'}:{text}")
    assert error.value.line == int(text.split(":")[0])


def test_xacro_and_other_roots(tmp_path):
    with pytest.raises(DefinitionError, match="expected the root element <robot>; got <sdf>"):
        _read(tmp_path, "<sdf></sdf>")


def test_loops_and_two_parents(tmp_path):
    def joint(name, parent, child):
        return f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'

    links = '<link name="r"/><link name="a"/><link name="b"/>'
    with pytest.raises(DefinitionError, match="expected every link below 'r'; got a loop through a, b"):
        _read(tmp_path, f'<robot name="x">{links}{joint("1", "a", "b")}{joint("2", "b", "a")}</robot>')
    with pytest.raises(DefinitionError, match="link 'a'; expected one joint above it; got the joints '1' and '2'"):
        _read(tmp_path, f'<robot name="x">{links}{joint("1", "r", "a")}{joint("2", "b", "a")}</robot>')


def test_missing_file(tmp_path):
    with pytest.raises(DefinitionError, match="expected a file; got nothing there"):
        read_urdf(tmp_path / "none.urdf")


def test_macros_in_a_plain_file_are_an_error(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text('<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:arm/>\n</robot>')
    text = r"arm.urdf:2: URDF; expected no macros; got <xacro:arm>. Name the file ….xacro"
    with pytest.raises(DefinitionError, match=text):
        read_urdf(path)
    path.write_text(path.read_text().replace("<xacro:arm/>", '<link name="b"/>'))
    with pytest.raises(DefinitionError, match=r"arm.urdf: xacro arguments; expected none, or a file .* with .xacro"):
        read_urdf(path, xacro_arguments={"a": "1"})
