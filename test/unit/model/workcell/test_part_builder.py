"""Parts: where chains are placed, what may be mounted on what, where joints start."""

import numpy as np
import pytest

from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

LIMIT = '<limit lower="-2" upper="2" velocity="1" effort="10"/>'
ROBOT = f"""<robot name="two">
<link name="root"/><link name="left"/><link name="right"/>
<link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="fl" type="fixed"><parent link="root"/><child link="left"/><origin xyz="0 1 0"/></joint>
<joint name="fr" type="fixed"><parent link="root"/><child link="right"/><origin xyz="0 -1 0"/></joint>
<joint name="l" type="revolute"><parent link="left"/><child link="a"/><axis xyz="0 0 1"/>{LIMIT}</joint>
<joint name="r" type="revolute"><parent link="right"/><child link="b"/><axis xyz="0 0 1"/>{LIMIT}</joint>
<joint name="g" type="prismatic"><parent link="b"/><child link="c"/>
<limit lower="0.1" upper="0.3" velocity="1"/></joint>
<joint name="h" type="prismatic"><parent link="b"/><child link="d"/><limit lower="0" upper="0.3" velocity="1"/>
<mimic joint="g" multiplier="2" offset="0.1"/></joint></robot>"""

CELL = """\
name: two_arms
parts:
  left_arm:
    kind: arm
    device: sim
    urdf: two.urdf
    base_link: left
    tip_link: a
    tool: {position: [0.5, 0, 0]}
    base_pose: {position: [0, 0, 2], orientation: [0, 0, 1, 0]}
  right_arm:
    kind: arm
    device: sim
    mounted_on: left_arm
    base_link: right
    tip_link: b
  gripper:
    kind: gripper
    device: sim
    mounted_on: right_arm
    joints: [g]
devices:
  sim: {mock: {}}
"""


@pytest.fixture
def load(tmp_path):
    (tmp_path / "two.urdf").write_text(ROBOT)

    def from_text(text):
        path = tmp_path / "cell.yaml"
        path.write_text(text)
        return load_workcell(path)

    return from_text


def _tool(part, q):
    p, quat = np.zeros(3), np.zeros(4)
    forward(part.record.chain, np.array(q, dtype=float), p, quat)
    return p


def test_two_arms_of_one_body(load):
    workcell = load(CELL)
    left, right, gripper = workcell.parts
    # base_pose places base_link, here turned by half a turn about z: the root is 1 m further along y
    np.testing.assert_allclose(left.base.position, [0, 0, 2], atol=1e-12)
    np.testing.assert_allclose(left.root.position, [0, 1, 2], atol=1e-12)
    np.testing.assert_allclose(right.base.position, [0, 2, 2], atol=1e-12)
    assert right.root == left.root == gripper.root
    np.testing.assert_allclose(_tool(left, [0.0]), [-0.5, 0, 2], atol=1e-12)
    np.testing.assert_allclose(left.record.tool_position, [-0.5, 0, 2], atol=1e-12)
    assert left.tool.position == (0.5, 0.0, 0.0)


def test_grippers(load):
    gripper = load(CELL).part("gripper")
    assert gripper.units == ("m",) and gripper.record.chain.n_joints == 0
    np.testing.assert_allclose(gripper.start_position, [0.2])  # zero is out of its range: the middle
    assert [(f.name, f.joint, f.multiplier, f.offset) for f in gripper.followers] == [("h", "g", 2.0, 0.1)]
    # no effort limit is given: no effort commands
    assert gripper.command_modes == (CommandMode.POSITION, CommandMode.VELOCITY)
    assert gripper.record.effort_limit[0] == np.inf
    assert load(CELL.replace("[g]", "[g, h]")).part("gripper").followers == ()


def test_record(load):
    record = load(CELL).part("left_arm").record
    assert record.dof == 1 and record.dt == 0.001 and record.at_rest == 1.0
    assert record.velocity_limit[0] == 1.0 and record.acceleration_limit[0] == 4.0 and record.effort_limit[0] == 10.0
    assert np.isnan(record.distance) and np.isnan(record.age) and np.isnan(record.wrench).all()
    np.testing.assert_array_equal(record.chain.gravity, [0, 0, -9.81])


def test_gravity_of_the_workcell(load):
    record = load("gravity: [0, 1, -3]\n" + CELL).part("left_arm").record
    np.testing.assert_array_equal(record.chain.gravity, [0, 1, -3])


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("urdf: two.urdf", "urdf: to.urdf", ":6: parts.left_arm.urdf: 'to.urdf'; expected a file; got nothing at"),
        (
            "mounted_on: left_arm",
            "mounted_on: arm",
            ":14: parts.right_arm.mounted_on; expected one of: left_arm; got 'arm'",
        ),
        ("    mounted_on: left_arm\n", "", ":11: parts.right_arm; expected either urdf or mounted_on; got"),
        ("base_link: right", "base_link: righ", "two.urdf: base_link 'righ'; expected one of the known names; did yo"),
        ("base_link: right", "base_link: righ", "cell.yaml:11: parts.right_arm: "),
        (
            "base_link: right",
            "base_pose: {}\n    base_link: right",
            ":15: parts.right_arm.base_pose; expected none, as",
        ),
        ("tip_link: b", "tip_link: c\n    base_link: b", "key 'base_link' is given twice"),
        (
            "joints: [g]",
            "joints: [gg]",
            ":21: parts.gripper.joints[0]; expected one of the known names; did you mean 'g'",
        ),
        (
            "joints: [g]",
            "joints: [fl]",
            ":21: parts.gripper.joints[0]; expected revolute, continuous, prismatic; got a fi",
        ),
        ("joints: [g]", "joints: [g, g]", ":21: parts.gripper.joints[1]; expected each joint once; got 'g' again"),
        (
            "joints: [g]",
            "joints: [r]",
            "parts.gripper, joint 'r'; expected a joint of no other part; got one that is alr",
        ),
        ("joints: [g]", "joints: []", ":21: parts.gripper.joints; expected"),
        (
            "joints: [g]",
            "joints: [g]\n    command_modes: [effort]",
            "parts.gripper.command_modes; expected an effort limi",
        ),
        (
            "joints: [g]",
            "joints: [g]\n    command_modes: []",
            "expected at least one of position, velocity, effort; got no",
        ),
        (
            "joints: [g]",
            "joints: [g]\n    start_position: [0]",
            "joint 'g'; expected a position within 0.1 and 0.3; got",
        ),
        (
            "joints: [g]",
            "joints: [g]\n    start_position: [0.2, 1]",
            "start_position; expected 1 numbers, one for each j",
        ),
    ],
)
def test_refusals(load, old, new, text):
    assert old in CELL
    with pytest.raises(DefinitionError) as error:
        load(CELL.replace(old, new, 1))
    assert text in str(error.value)


def test_a_chain_must_not_start_behind_a_joint_that_it_does_not_contain(load):
    cell = CELL.replace("base_link: right\n    tip_link: b", "base_link: b\n    tip_link: c").split("  gripper:")[0]
    with pytest.raises(DefinitionError) as error:
        load(cell + "devices:\n  sim: {mock: {}}\n")
    assert (
        "base_link; expected a link that does not move against the URDF's root 'root'; got 'b' after the joints r"
        in (str(error.value))
    )
