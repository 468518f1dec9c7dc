"""Names of interfaces, and the fields of a part that they belong to."""

import numpy as np
import pytest

from robot_rt_control.hardware.interfaces import part_field, standard_command_interfaces, standard_state_interfaces
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.testing.devices import bench
from robot_rt_control.vocabulary.errors import HardwareError


def test_names_are_those_of_ros2_control():
    names = [interface.name for interface in standard_state_interfaces(bench())]
    assert names[:4] == ["arm/joint_1/position", "arm/joint_1/velocity", "arm/joint_1/effort", "arm/joint_2/position"]
    assert names[6] == "gripper/finger/position"
    assert names[9:15] == ["wrist/" + n for n in ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"]]
    assert names[15:] == ["rangefinder/distance", "io/input_0", "io/input_1", "io/output_0"]
    commands = [interface.name for interface in standard_command_interfaces(bench())]
    assert commands == names[:9] + ["io/output_0"]


def test_limits_come_with_the_interfaces():
    position, velocity, effort = standard_command_interfaces(bench())[:3]
    assert (position.minimum, position.maximum) == (-3.0, 3.0)
    assert (velocity.minimum, velocity.maximum) == (-2.0, 2.0)
    assert (effort.minimum, effort.maximum) == (-100.0, 100.0)


def test_each_state_belongs_to_its_own_element_of_a_part():
    info = bench()
    parts = {part.name: part for part in info.parts}
    filled = {name: np.zeros(1, part_dtype)[0] for name in parts}
    for interface in standard_state_interfaces(info):
        found = part_field(parts[interface.part], interface.name)
        assert found is not None
        field, index = found
        np.atleast_1d(filled[interface.part][field])[index] += 1.0
        if field == "distance":
            filled[interface.part][field] += 1.0
    assert filled["arm"].position.tolist()[:3] == [1.0, 1.0, 0.0]
    assert filled["arm"].effort.tolist()[:3] == [1.0, 1.0, 0.0]
    assert filled["gripper"].velocity.tolist()[:2] == [1.0, 0.0]
    assert filled["wrist"].wrench.tolist() == [1.0] * 6
    assert filled["rangefinder"].distance == 1.0
    assert filled["io"].inputs.tolist()[:3] == [1.0, 1.0, 0.0]
    assert filled["io"].outputs.tolist()[:2] == [1.0, 0.0]


def test_interfaces_of_a_plugin_s_own_have_no_field():
    info = bench()
    assert part_field(info.parts[0], "arm/joint_1/temperature") is None
    assert part_field(info.parts[4], "io/input_2") is None
    assert part_field(info.parts[0], "arm/distance") is None


def test_another_part_s_interface_is_refused():
    with pytest.raises(HardwareError, match="interface 'wrist/force.x'; expected an interface of the part 'arm'"):
        part_field(bench().parts[0], "wrist/force.x")
