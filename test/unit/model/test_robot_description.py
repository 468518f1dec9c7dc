"""The URDF of the whole workcell, read back by Pinocchio."""

from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from robot_rt_control.model.forward import forward
from robot_rt_control.model.workcell import load_workcell

TWO = """\
name: two
parts:
  one:
    {kind: arm, device: sim, urdf: %s, base_link: base, tip_link: flange,
     base_pose: {position: [0, 1, 0], orientation: [0, 0, 0.6, 0.8]}}
  other:
    {kind: arm, device: sim, urdf: %s, base_link: base, tip_link: flange,
     base_pose: {position: [1, -1, 0.5], orientation: [0.5, 0.5, 0.5, 0.5]}}
devices: {sim: {mock: {}}}
"""


@pytest.mark.parametrize("cell", ["iiwa", "panda", "arm7"])
def test_meshes_are_absolute_and_exist(config_folder, cell):
    robot = ElementTree.fromstring(load_workcell(config_folder / f"{cell}.yaml", "mock").robot_description().encode())
    files = [mesh.attrib["filename"] for mesh in robot.iter("mesh")]
    assert len(files) == {"iiwa": 16, "panda": 22, "arm7": 0}[cell]
    for file in files:
        assert file.startswith("file:///")
        assert Path(unquote(urlsplit(file).path)).is_file()


def _check_tool(model, part, names):
    q = np.zeros(model.nq)
    start = part.start_position
    for name, value in zip(names, start, strict=True):
        q[model.joints[model.getJointId(name)].idx_q] = value
    data = model.createData()
    prefix = names[0].removesuffix(part.joint_names[0])
    pin.framesForwardKinematics(model, data, q)
    X = data.oMf[model.getFrameId(prefix + part.tip_link)]
    p, quat = np.zeros(3), np.zeros(4)
    forward(part.record.chain, start, p, quat)
    tool = X.act(np.array(part.tool.position))
    np.testing.assert_allclose(tool, p, atol=1e-9)
    np.testing.assert_allclose(X.rotation, pin.Quaternion(quat).toRotationMatrix(), atol=1e-9)


@pytest.mark.parametrize("cell", ["iiwa", "panda", "arm7"])
def test_tools_are_where_the_kernel_has_them(config_folder, cell):
    workcell = load_workcell(config_folder / f"{cell}.yaml", "mock")
    model = pin.buildModelFromXML(workcell.robot_description())
    assert model.existFrame("world")
    _check_tool(model, workcell.part("arm"), workcell.joint_state_names()["arm"])


def test_two_bodies_with_the_same_names(config_folder, tmp_path):
    urdf = config_folder / "robots" / "arm7.urdf"
    (tmp_path / "cell.yaml").write_text(TWO % (urdf, urdf))
    workcell = load_workcell(tmp_path / "cell.yaml")
    names = workcell.joint_state_names()
    assert names["one"][0] == "one_joint_1" and names["other"][6] == "other_joint_7"
    model = pin.buildModelFromXML(workcell.robot_description())
    assert model.nq == 14
    for part in workcell.parts:
        _check_tool(model, part, names[part.name])
