import numpy as np
import pytest

from robot_rt_control.memory.layout import measured_dtype, offset_of, part_dtype
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.names import check_variable


@pytest.fixture(scope="module")
def variables(config_folder):
    workcell = load_workcell(config_folder / "arm7.yaml")
    return {part.name: {v.name: v for v in part_state_variables(part)} for part in workcell.parts}


@pytest.mark.parametrize(
    ("name", "kind", "unit", "path"),
    [
        ("arm.position[0]", "float", "rad", ("position", 0)),
        ("arm.joint_3.position", "float", "rad", ("position", 2)),
        ("arm.velocity[6]", "float", "rad/s", ("velocity", 6)),
        ("arm.effort[1]", "float", "Nm", ("effort", 1)),
        ("arm.commanded_position[0]", "float", "rad", ("commanded_position", 0)),
        ("arm.commanded_acceleration[5]", "float", "rad/s^2", ("commanded_acceleration", 5)),
        ("arm.tool.z", "float", "m", ("tool_position", 2)),
        ("arm.tool.qw", "float", "", ("tool_orientation", 3)),
        ("arm.tool.velocity.y", "float", "m/s", ("tool_twist", 1)),
        ("arm.tool.angular_velocity.x", "float", "rad/s", ("tool_twist", 3)),
        ("arm.at_rest", "bool", "", ("at_rest",)),
        ("arm.age", "int", "ticks", ("age",)),
        ("arm.operational_state", "int", "", ("operational_state",)),
        ("gripper.position[1]", "float", "m", ("position", 1)),
        ("gripper.finger_1.effort", "float", "N", ("effort", 0)),
        ("rangefinder.distance", "float", "m", ("distance",)),
        ("wrist.force.x", "float", "N", ("wrench", 0)),
        ("wrist.torque.z", "float", "Nm", ("wrench", 5)),
        ("wrist.force_norm", "float", "N", ("force_norm",)),
        ("wrist.torque_norm", "float", "Nm", ("torque_norm",)),
        ("io.input[3]", "bool", "", ("inputs", 3)),
        ("io.output[0]", "bool", "", ("outputs", 0)),
    ],
)
def test_names_types_units_offsets(variables, name, kind, unit, path):
    variable = variables[name.split(".")[0]][name]
    assert (variable.type, variable.unit) == (kind, unit)
    assert variable.offset == offset_of(part_dtype, *path)
    assert variable.description


def test_all_are_measured_and_can_be_named_in_conditions(variables):
    for part, found in variables.items():
        assert len(found) > 2
        for variable in found.values():
            check_variable("state variable", variable.name)
            assert variable.name.startswith(part + ".")
            assert variable.offset % 8 == 0 and variable.offset < measured_dtype.itemsize  # so snapshots hold it


def test_parts_have_what_belongs_to_their_kind(variables):
    assert not any(".tool." in name for name in variables["gripper"])
    assert set(variables["rangefinder"]) == {
        "rangefinder.distance",
        "rangefinder.age",
        "rangefinder.operational_state",
    }


@pytest.mark.parametrize(
    ("name", "length", "unit", "first"),
    [
        ("arm.position", 7, "rad", "arm.position[0]"),
        ("arm.commanded_effort", 7, "Nm", "arm.commanded_effort[0]"),
        ("arm.tool.velocity", 3, "m/s", "arm.tool.velocity.x"),
        ("arm.tool.angular_velocity", 3, "rad/s", "arm.tool.angular_velocity.x"),
        ("gripper.position", 2, "m", "gripper.position[0]"),
        ("wrist.torque", 3, "Nm", "wrist.torque.x"),
    ],
)
def test_vectors_begin_at_their_first_element(variables, name, length, unit, first):
    found = variables[name.split(".")[0]]
    vector = found[name]
    assert (vector.length, vector.unit, vector.offset) == (length, unit, found[first].offset)
    assert vector.description and found[first].length == 1


def test_offsets_point_at_the_float64(config_folder):
    part = load_workcell(config_folder / "arm7.yaml").part("arm")
    record = part.record
    numbers = np.frombuffer(record.tobytes(), dtype="f8")
    table = {v.name: v for v in part_state_variables(part)}
    assert numbers[table["arm.position[3]"].offset // 8] == record.position[3] == 1.5708
    assert numbers[table["arm.tool.z"].offset // 8] == record.tool_position[2]
