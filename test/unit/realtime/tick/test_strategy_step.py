"""How a degree of freedom is shown to its law; what selects it is tested as rules Y1 to Y16."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.joint_modes import commanded_modes, unpack_modes
from robot_rt_control.memory.layout import COMMAND_FIELDS, JOINT_FIELDS, degree_dtype, part_dtype
from robot_rt_control.realtime.tick import strategy_step
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.enums import CommandMode

PER_JOINT = {n for n in part_dtype.names or () if part_dtype[n].shape == (MAX_JOINTS,)}


def zero(dtype: np.dtype) -> Any:
    return np.zeros(1, dtype)[0]


def test_every_field_with_one_number_for_each_joint_is_shown() -> None:
    assert PER_JOINT - set(COMMAND_FIELDS) - {"inputs", "input_age", "outputs", "commanded_outputs"} - {
        "output_lower", "output_upper", "former_acceleration",
    } == set(JOINT_FIELDS)  # fmt: skip


def test_a_joint_is_shown_with_all_its_numbers() -> None:
    part, axis = zero(part_dtype), zero(part_dtype)
    for n, name in enumerate(JOINT_FIELDS):
        part[name][:] = 100 * n + np.arange(MAX_JOINTS)
    strategy_step._show_joint(part, 5, axis)
    assert [float(axis[name][0]) for name in JOINT_FIELDS] == [100.0 * n + 5 for n in range(len(JOINT_FIELDS))]
    assert not any(axis[name][1:].any() for name in JOINT_FIELDS)


def test_a_declared_degree_of_freedom_is_shown_with_all_its_numbers() -> None:
    degree, axis = zero(degree_dtype), zero(part_dtype)
    for n, name in enumerate(JOINT_FIELDS):
        degree[name] = n + 1
    strategy_step._show_degree(address_of(degree), axis)
    assert [float(axis[name][0]) for name in JOINT_FIELDS] == [n + 1.0 for n in range(len(JOINT_FIELDS))]


def test_it_holds_unless_its_law_commands() -> None:
    part, axis = zero(part_dtype), zero(part_dtype)
    part.dt, part.age, part.at_rest, part.operational_state = 0.001, 2.0, 1.0, 3.0
    axis.commanded_position[0] = 0.4
    axis.command_mode, axis.velocity_command[0], axis.effort_command[0] = int(CommandMode.EFFORT), 7.0, 8.0
    strategy_step._show_rest(part, axis)
    assert (axis.dof, axis.dt, axis.age, axis.at_rest, axis.operational_state) == (1, 0.001, 2.0, 1.0, 3.0)
    assert axis.command_mode == CommandMode.NONE and axis.position_command[0] == 0.4
    assert axis.velocity_command[0] == axis.effort_command[0] == 0.0


def test_a_law_gives_its_joint_its_command_and_its_mode() -> None:
    part, axis = zero(part_dtype), zero(part_dtype)
    part.dof, part.command_mode = 4, int(CommandMode.POSITION)
    axis.position_command[0], axis.velocity_command[0], axis.effort_command[0] = 0.1, 0.2, 0.3
    axis.command_mode = int(CommandMode.POSITION)
    strategy_step._command_joint(part, 0, axis)
    assert part.joint_modes == 0, "no mode of its own"
    axis.command_mode = int(CommandMode.EFFORT)
    strategy_step._command_joint(part, 2, axis)
    axis.command_mode = int(CommandMode.NONE)
    strategy_step._command_joint(part, 3, axis)
    P, N, E = CommandMode.POSITION, CommandMode.NONE, CommandMode.EFFORT
    assert unpack_modes(commanded_modes(part), 4) == (P, P, E, N)
    assert (part.position_command[2], part.velocity_command[2], part.effort_command[2]) == (0.1, 0.2, 0.3)
    assert not part.position_command[1]
