"""The URDF of the whole workcell, read back by Pinocchio."""

from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

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
    assert len(files) == {"iiwa": 24, "panda": 29, "arm7": 0}[cell]
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
    own = data.oMf[model.getFrameId(part.name + "_tool")]
    np.testing.assert_allclose(own.translation, p, atol=1e-9)
    np.testing.assert_allclose(own.rotation, X.rotation @ part.tool.matrix[:3, :3], atol=1e-9)


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


SENSORS = """\
name: seen
parts:
  arm: {kind: arm, device: sim, urdf: %s, base_link: base, tip_link: flange, base_pose: {position: [1, 0, 0]}}
  above:
    {kind: rangefinder, device: sim, pose: {position: [0, 0, 2], orientation: [1, 0, 0, 0]}}
  eye:
    {kind: rangefinder, device: sim, mounted_on: arm, pose: {position: [0, 0, 0.1]}}
  wrist: {kind: force_torque_sensor, device: sim, mounted_on: arm, link: link_3}
devices: {sim: {mock: {}}}
"""


def test_sensors_are_where_the_file_mounts_them(config_folder, tmp_path):
    (tmp_path / "cell.yaml").write_text(SENSORS % (config_folder / "robots" / "arm7.urdf"))
    workcell = load_workcell(tmp_path / "cell.yaml")
    assert workcell.frame_names() == {
        "arm": "arm_tool",
        "above": "above_frame",
        "eye": "eye_frame",
        "wrist": "wrist_frame",
    }
    model = pin.buildModelFromXML(workcell.robot_description())
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.linspace(-0.5, 0.5, model.nq))
    frames = {name: data.oMf[model.getFrameId(name)] for name in ("above_frame", "eye_frame", "wrist_frame")}
    # sensor_msgs/Range: x of the frame is the direction that is measured, which is z of the sensor.
    np.testing.assert_allclose(frames["above_frame"].rotation @ [1, 0, 0], [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(frames["above_frame"].translation, [0, 0, 2], atol=1e-12)
    flange, link = data.oMf[model.getFrameId("flange")], data.oMf[model.getFrameId("link_3")]
    np.testing.assert_allclose(frames["eye_frame"].translation, flange.act(np.array([0, 0, 0.1])), atol=1e-12)
    np.testing.assert_allclose(frames["eye_frame"].rotation[:, 0], flange.rotation[:, 2], atol=1e-12)
    np.testing.assert_allclose(frames["wrist_frame"].homogeneous, link.homogeneous, atol=1e-12)


def test_a_robots_own_link_keeps_its_name(config_folder, tmp_path):
    urdf = (config_folder / "robots" / "arm7.urdf").read_text().replace('"flange"', '"arm_tool"')
    (tmp_path / "arm.urdf").write_text(urdf)
    text = "name: c\nparts:\n  arm: {kind: arm, device: d, urdf: arm.urdf, base_link: base, tip_link: arm_tool}\n"
    (tmp_path / "cell.yaml").write_text(text + "devices: {d: {mock: {}}}\n")
    assert load_workcell(tmp_path / "cell.yaml").frame_names() == {"arm": "arm_tool_frame"}


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("link: link_3", "link: lnk_3", "parts.wrist.link; expected .*did you mean 'link_3'.*; got 'lnk_3'"),
        ("mounted_on: arm, link", "link", "parts.wrist.link; expected mounted_on, the part that has the link"),
        ("mounted_on: arm, link", "mounted_on: eye, link", "parts.wrist.mounted_on; expected one of: arm; got 'eye'"),
        ("mounted_on: arm, pose", "mounted_on: arm, range: [-1, 2], pose", "eye.range; expected distances from 0 on"),
        ("mounted_on: arm, pose", "field_of_view: 4, pose", "eye.field_of_view; expected less than or equal to 3"),
        ("[1, 0, 0, 0]", "[1, 1, 0, 0]", "above.pose.orientation; expected a quaternion x, y, z, w of length 1"),
    ],
)
def test_a_wrong_mount_is_named_with_its_line(config_folder, tmp_path, old, new, text):
    assert old in SENSORS
    (tmp_path / "cell.yaml").write_text(SENSORS.replace(old, new) % (config_folder / "robots" / "arm7.urdf"))
    with pytest.raises(DefinitionError, match=text) as error:
        load_workcell(tmp_path / "cell.yaml")
    assert "cell.yaml:" in str(error.value)
