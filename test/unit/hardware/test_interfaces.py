"""Names of interfaces, and the fields of a part that they belong to."""

import numpy as np

from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.testing.devices import bench


def test_names_are_those_of_ros2_control():
    names = [interface.name for interface in standard_state_interfaces(bench())]
    assert names[:4] == ["arm/joint_1/position", "arm/joint_1/velocity", "arm/joint_1/effort", "arm/joint_2/position"]
    assert names[6] == "gripper/finger/position"
    assert names[9:15] == ["wrist/" + n for n in ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"]]
    assert names[15:] == ["rangefinder/distance", "io/input_0", "io/input_1", "io/output_0"]
    commands = [interface.name for interface in standard_command_interfaces(bench())]
    assert commands == names[:9] + ["io/output_0"]


def test_each_state_belongs_to_its_own_element_of_a_part():
    info = bench()
    memory = {part.name: np.zeros(1, part_dtype) for part in info.parts}
    for interface in standard_state_interfaces(info):
        memory[interface.part].view(np.float64)[interface.offset // 8] += 1.0
    filled = {name: records[0] for name, records in memory.items()}
    assert filled["arm"].position.tolist()[:3] == [1.0, 1.0, 0.0]
    assert filled["arm"].effort.tolist()[:3] == [1.0, 1.0, 0.0]
    assert filled["gripper"].velocity.tolist()[:2] == [1.0, 0.0]
    assert filled["wrist"].wrench.tolist() == [1.0] * 6
    assert filled["rangefinder"].distance == 1.0
    assert filled["io"].inputs.tolist()[:3] == [1.0, 1.0, 0.0]
    assert filled["io"].outputs.tolist()[:2] == [1.0, 0.0]
