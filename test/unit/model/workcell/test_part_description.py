import pytest

from robot_rt_control.hardware.from_workcell import hardware_part
from robot_rt_control.memory.layout import offset_of, part_dtype
from robot_rt_control.model.workcell.interfaces import command_interfaces, state_interfaces
from robot_rt_control.model.workcell.workcell import load_workcell


@pytest.fixture(scope="module")
def workcell(config_folder):
    return load_workcell(config_folder / "arm7.yaml")


def test_the_hardware_sees_the_same_interfaces(workcell):
    for part in workcell.parts:
        seen = hardware_part(part)
        assert state_interfaces(seen) == part.state_interfaces and part.state_interfaces
        assert command_interfaces(seen) == part.command_interfaces
        assert bool(part.command_interfaces) == bool(part.dof or part.outputs)


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


def test_the_loop_brakes_a_part_in_the_time_that_its_slowest_joint_needs(config_folder, workcell):
    assert workcell.part("arm").braking_time == pytest.approx(0.25 * 1.05 / 1.2), "default limits, with their margins"
    assert workcell.part("rangefinder").braking_time == 0.0
    base = load_workcell(config_folder / "base_push_smooth.yaml").part("base")
    assert base.braking_time == pytest.approx(2.1 / 4.8)
    base.system_limits.jerk[:3] = [48.0, 48.0, 9.6]
    assert base.braking_time == pytest.approx(2.1 / 9.6 + 9.6 / 9.6), "the last joint: 2.1 rad/s, 9.6 rad/s^2"
