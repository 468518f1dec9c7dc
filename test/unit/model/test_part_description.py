import numpy as np
import pytest

from robot_rt_control.hardware import interfaces as hardware
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart, JointLimits
from robot_rt_control.memory.layout import offset_of, part_dtype
from robot_rt_control.model.part_description import Pose
from robot_rt_control.model.workcell import load_workcell


@pytest.fixture(scope="module")
def workcell(config_folder):
    return load_workcell(config_folder / "arm7.yaml")


def test_interfaces_are_those_that_the_hardware_layer_expects(workcell):
    """Both layers name interfaces on their own; this keeps them the same."""
    for part in workcell.parts:
        limits = part.system_limits
        n = part.dof
        info = HardwarePart(
            name=part.name,
            index=part.index,
            kind=part.kind,
            joint_names=part.joint_names,
            limits=JointLimits(
                **{
                    field: tuple(limits[field][:n])
                    for field in ("position_lower", "position_upper", "velocity", "acceleration", "effort")
                }
            ),
            n_inputs=part.inputs,
            n_outputs=part.outputs,
        )
        whole = HardwareInfo(name="sim", parts=(info,))
        states = [i.name for i in hardware.standard_state_interfaces(whole)]
        commands = [i.name for i in hardware.standard_command_interfaces(whole)]
        assert [i.name for i in part.state_interfaces] == states
        assert [i.name for i in part.command_interfaces] == commands
        for interface in part.state_interfaces:
            field = hardware.part_field(info, interface.name)
            assert field is not None
            path = field if part_dtype[field[0]].shape else field[:1]
            assert interface.offset == offset_of(part_dtype, *path)


def test_names_and_units(workcell):
    names = {i.name: i.unit for part in workcell.parts for i in part.state_interfaces}
    assert names["arm/joint_1/position"] == "rad"
    assert names["gripper/finger_2/velocity"] == "m/s"
    assert names["rangefinder/distance"] == "m"
    assert names["wrist/torque.z"] == "Nm"
    assert names["io/input_0"] == ""
    commands = {i.name: i.offset for part in workcell.parts for i in part.command_interfaces}
    assert commands["arm/joint_2/position"] == offset_of(part_dtype, "commanded_position", 1)
    assert commands["io/output_3"] == offset_of(part_dtype, "commanded_outputs", 3)


def test_the_record_is_a_copy(workcell):
    part = workcell.part("arm")
    part.record.position[0] = 9.0
    assert part.record.position[0] == 0.0


def test_pose_round_trip():
    pose = Pose(position=(1.0, 2.0, 3.0), orientation=(0.5, -0.5, 0.5, 0.5))
    back = Pose.of_matrix(pose.matrix)
    np.testing.assert_allclose(back.position, pose.position)
    np.testing.assert_allclose(back.orientation, pose.orientation, atol=1e-15)
