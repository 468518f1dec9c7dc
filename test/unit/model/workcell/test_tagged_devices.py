"""Devices that a <ros2_control> tag configures, and whether it fits their parts (control_tag_fit.py)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from robot_rt_control.hardware.lifecycle import BUILT_IN_PLUGINS
from robot_rt_control.model.workcell.tagged_devices import OWN_PLUGINS
from robot_rt_control.model.workcell.workcell import NOT_PYTHON, Workcell, load_workcell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

URDF = """<robot name="r">
<link name="base"/><link name="a"/><link name="b"/><link name="tip"/><link name="jaw"/><link name="other_jaw"/>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="-2" upper="2" velocity="3" effort="50"/></joint>
<joint name="j2" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
  <limit velocity="3" effort="50"/></joint>
<joint name="t" type="fixed"><parent link="b"/><child link="tip"/></joint>
<joint name="jaw_joint" type="prismatic"><parent link="tip"/><child link="jaw"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="0.04" velocity="0.1" effort="20"/></joint>
<joint name="other_joint" type="prismatic"><parent link="tip"/><child link="other_jaw"/><axis xyz="0 -1 0"/>
  <limit lower="0" upper="0.04" velocity="0.1" effort="20"/><mimic joint="jaw_joint"/></joint>
<ros2_control name="robot" type="system">
  <hardware><plugin>mock_components/GenericSystem</plugin>
    <param name="calculate_dynamics">true</param><param name="time_constant">0.1</param></hardware>
  <joint name="j1">
    <command_interface name="position"><param name="min">-1</param><param name="max">3</param></command_interface>
    <command_interface name="velocity"><param name="min">-0.5</param><param name="max">2</param></command_interface>
    <state_interface name="position"><param name="initial_value">0.25</param></state_interface>
    <state_interface name="velocity"/>
  </joint>
  <joint name="j2">
    <command_interface name="position"/><command_interface name="velocity"/>
    <state_interface name="position"/>
  </joint>
  <joint name="jaw_joint"><command_interface name="position"/><state_interface name="position"/></joint>
  <joint name="other_joint"><state_interface name="position"/><param name="mimic">jaw_joint</param></joint>
  <sensor name="wrist">
    <state_interface name="force.x"/><state_interface name="force.y"/><state_interface name="force.z">
      <param name="initial_value">-4</param></state_interface>
    <state_interface name="torque.x"/><state_interface name="torque.y"/><state_interface name="torque.z"/>
  </sensor>
  <gpio name="io">
    <command_interface name="lamp"/><state_interface name="lamp"/><state_interface name="button"/>
  </gpio>
</ros2_control>
</robot>
"""
CELL = """name: c
parts:
  arm: {kind: arm, device: sim, urdf: r.urdf, base_link: base, tip_link: tip}
  hand: {kind: gripper, device: sim, mounted_on: arm, joints: [jaw_joint]}
  wrist: {kind: force_torque_sensor, device: sim, mounted_on: arm}
  io: {kind: io, device: sim, inputs: {button: {}}, outputs: {lamp: {}}}
devices:
  sim: {ros2_control: robot}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.urdf").write_text(URDF)
    (tmp_path / "cell.yaml").write_text(CELL)
    return tmp_path


def changed(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    text = (folder / name).read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / name).write_text(text)
    return folder


def load(folder: Path, hardware: str | None = None) -> Workcell:
    return load_workcell(folder / "cell.yaml", hardware)


def message(folder: Path) -> str:
    with pytest.raises(DefinitionError) as caught:
        load(folder)
    return str(caught.value)


def test_own_plugins_are_those_that_there_are() -> None:
    assert set(OWN_PLUGINS) == {*BUILT_IN_PLUGINS, *NOT_PYTHON}


def test_the_tag_configures_its_device_and_parts(folder: Path) -> None:
    workcell = load(folder)
    device, arm, hand = workcell.device("sim"), workcell.part("arm"), workcell.part("hand")
    assert (device.plugin, workcell.hardware, workcell.warnings) == ("mock", "mock", ())
    assert device.config == {"time_constant": 0.1, "values": {"wrist": {"force.z": -4.0}}}
    assert arm.command_modes == (CommandMode.POSITION, CommandMode.VELOCITY)
    assert hand.command_modes == (CommandMode.POSITION,)
    assert arm.start_position.tolist() == [0.25, 0.0]
    record = arm.record
    assert record.position_lower[:2].tolist() == [-1.0, -math.inf]
    assert record.position_upper[:2].tolist() == [2.0, math.inf], "the tighter one of URDF and tag"
    assert record.velocity_limit[:2].tolist() == [0.5, 3.0], "symmetric: the tighter one"


def test_another_plugin_is_chosen_unless_the_user_chooses_the_mock(folder: Path) -> None:
    changed(
        folder,
        "r.urdf",
        ("mock_components/GenericSystem", "robot_rt_control/pybullet"),
        (
            '<param name="calculate_dynamics">true</param><param name="time_constant">0.1</param>',
            '<param name="world">{timestep: 0.001}</param>',
        ),
    )
    workcell = load(folder)
    assert (workcell.hardware, workcell.device("sim").plugin) == ("mock,sim=pybullet", "pybullet")
    assert load(folder, workcell.hardware).digest == workcell.digest
    assert workcell.device("sim").config == {"world": {"timestep": 0.001}}
    mock = load(folder, "mock").device("sim")
    assert (mock.plugin, mock.config) == ("mock", {"values": {"wrist": {"force.z": -4.0}}})
    changed(folder, "cell.yaml", ("name: c\n", "name: c\ndefault_hardware: mock\n"))
    assert load(folder).device("sim").plugin == "mock"


def test_the_workcell_files_plugin_replaces_hardware_alone(folder: Path) -> None:
    changed(folder, "r.urdf", ("mock_components/GenericSystem", "some_driver/SomeRobot"))
    changed(folder, "cell.yaml", ("robot}", "robot, plugin: 'my.module:Arm', 'my.module:Arm': {port: 1}}"))
    device = load(folder).device("sim")
    assert (device.plugin, device.config) == ("my.module:Arm", {"port": 1})
    assert load(folder).part("arm").start_position[0] == 0.25


def test_an_unused_tag_is_said(folder: Path) -> None:
    changed(folder, "cell.yaml", ("sim: {ros2_control: robot}", "sim: {mock: {}}"))
    assert load(folder).warnings == (
        f"{folder}/r.urdf:12: <ros2_control> 'robot' is not used. `ros2_control: robot` in a device of the workcell "
        "file would use it",
    )


def test_a_prefix_goes_before_the_names_in_the_tag(folder: Path) -> None:
    changed(
        folder,
        "cell.yaml",
        (
            "urdf: r.urdf, base_link: base, tip_link: tip",
            "urdf: r.urdf, prefix: l_, base_link: l_base, tip_link: l_tip",
        ),
        ("[jaw_joint]", "[l_jaw_joint]"),
        ("  wrist:", "  l_wrist:"),
        ("  io:", "  l_io:"),
        ("l: robot", "l: l_robot"),
    )
    workcell = load(folder)
    assert workcell.part("arm").joint_names == ("l_j1", "l_j2") and workcell.part("arm").start_position[0] == 0.25


@pytest.mark.parametrize(
    ("file", "old", "new", "text"),
    [
        (
            "cell",
            "l: robot",
            "l: robt",
            "cell.yaml:8: devices.sim.ros2_control; expected .*did you mean 'robot'; got 0",
        ),
        (
            "r",
            '<joint name="j2">',
            '<joint name="j9">',
            "r.urdf:12: .*expected a <joint> 'j2', which the workcell has on",
        ),
        (
            "r",
            '<joint name="j2">',
            '<joint name="j9">',
            "r.urdf:21: .*joint 'j9'; expected one of: j1, j2, jaw_joint, other_joint",
        ),
        ("r", '<sensor name="wrist">', '<sensor name="rist">', "sensor 'rist'; expected .* did you mean 'wrist'"),
        ("r", '<sensor name="wrist">', '<sensor name="rist">', "a <sensor> or <gpio> 'wrist', which the workcell has"),
        ("r", 'name="torque.z"', 'name="torque.zz"', "r.urdf:30: .*'torque.zz'; expected .*did you mean 'torque.z'"),
        ("r", 'name="torque.z"', 'name="torque.zz"', "r.urdf:27: .*state_interface; expected also torque.z; got none"),
        ("r", '<command_interface name="lamp"/>', "", "gpio 'io', command_interface; expected also lamp; got none"),
        (
            "r",
            'effort="50"/></joint>\n<joint name="j2"',
            'effort="50"/><mimic joint="j2"/></joint>\n<joint name="j2"',
            "mimics 'j2'",
        ),
        (
            "r",
            'name="velocity"/>\n    <state_interface name="position"/>',
            'name="acceleration"/>\n    <state_interface name="position"/>',
            "'acceleration'; expected one of position, vel",
        ),
        (
            "r",
            '<command_interface name="position"/><command_interface name="velocity"/>',
            '<command_interface name="position"/>',
            "the same command interfaces for all joints of one part",
        ),
        (
            "r",
            '<param name="max">3</param>',
            '<param name="max">-1</param>',
            "expected min below max.*got min -1.0, max -1",
        ),
        (
            "r",
            '<param name="mimic">jaw_joint',
            '<param name="mimic">j1',
            "<param> 'mimic'; expected 'jaw_joint', as in",
        ),
        (
            "r",
            '<joint name="other_joint"><',
            '<joint name="other_joint" mimic="false"><',
            'no commands and no mimic="false"',
        ),
        (
            "r",
            '<joint name="jaw_joint"><',
            '<joint name="jaw_joint" mimic="true"><',
            'mimic="false", as the joint belongs',
        ),
        (
            "r",
            '<state_interface name="velocity"/>',
            '<state_interface name="velocity"><param name="initial_value">1</param></state_interface>',
            "initial_value; expected 0: every part starts at rest",
        ),
        ("r", "mock_components/GenericSystem", "ur", ".*<plugin>; expected .*or package/Class for .*got 'ur'"),
        (
            "r",
            "mock_components/GenericSystem",
            "mock",
            "<plugin>; expected mock_components/GenericSystem, robot_rt_cont",
        ),
        ("r", "mock_components/GenericSystem", "robot_rt_control/canopen", "`canopen` in the workcell file configures"),
        (
            "r",
            'dynamics">true',
            'dynamics">false',
            "<param> 'calculate_dynamics'; expected true: the mock has no other",
        ),
        ("r", 'type="system"', 'type="sensor"', "no command interfaces, as its type is sensor; got those of j1, j2"),
        ("r", 'type="system"', 'type="actuator"', "one joint with commands, as its type is actuator"),
        ("cell", "tip_link: tip}", "tip_link: tip, start_position: [0, 0]}", "start_position of the workcell file"),
        (
            "cell",
            "tip_link: tip}",
            "tip_link: tip, command_modes: [effort]}",
            "the command interfaces effort, which are",
        ),
        (
            "cell",
            "robot}",
            "robot, mock: {time_constant: 1}}",
            "parameter 'time_constant'; expected one value; got one in",
        ),
    ],
)
def test_whatever_does_not_fit_is_an_error(folder: Path, file: str, old: str, new: str, text: str) -> None:
    changed(folder, "cell.yaml" if file == "cell" else "r.urdf", (old, new))
    with pytest.raises(DefinitionError, match=text):
        load(folder)


def test_all_mistakes_are_reported_at_once(folder: Path) -> None:
    changed(
        folder,
        "r.urdf",
        ('<joint name="j2">', '<joint name="j9">'),
        ('<gpio name="io">', '<gpio name="o">'),
        ('name="torque.z"', 'name="torque.zz"'),
        ('dynamics">true', 'dynamics">false'),
    )
    lines = message(folder).splitlines()
    assert len(lines) == 7 and all(line.startswith(f"{folder}/r.urdf:") for line in lines)


def test_a_group_of_two_devices_is_refused(folder: Path) -> None:
    second = URDF.replace('name="robot"', 'name="second"').replace("<plugin>", "<group>g</group><plugin>")
    (folder / "second.urdf").write_text(second)
    changed(folder, "r.urdf", ("<plugin>", "<group>g</group><plugin>"))
    parts = CELL.split("parts:\n")[1].split("devices:")[0].replace("sim", "two").replace("r.urdf", "second.urdf")
    for name in ("wrist", "io"):
        parts = parts.replace(f"  {name}:", f"  {name}_2:")
        (folder / "second.urdf").write_text((folder / "second.urdf").read_text().replace(f'"{name}"', f'"{name}_2"'))
    parts = parts.replace("arm:", "arm_2:").replace("hand:", "hand_2:").replace("mounted_on: arm", "mounted_on: arm_2")
    changed(folder, "cell.yaml", ("devices:\n", f"{parts}devices:\n  two: {{ros2_control: second}}\n"))
    assert "<group>; expected a <group> of one device: put the parts that fail together on one device; got 'g'" in (
        message(folder)
    )


def test_I28_a_plugin_in_cpp_is_hosted_by_the_foreign_driver_and_may_offer_more(folder: Path) -> None:
    changed(
        folder,
        "r.urdf",
        ("mock_components/GenericSystem", "ur/UR"),
        ("</hardware>", '<param name="headless">{no: yaml</param></hardware><joint name="j9" rw_rate="5"/>'),
    )
    workcell = load(folder)
    device = workcell.device("sim")
    assert (device.plugin, device.control_tag, device.config) == ("external", "robot", {})
    assert device.external is not None and device.external.command is None
    assert device.driver_command == ("ros2_control_driver",)
    assert load(folder, "mock").device("sim").plugin == "mock"
