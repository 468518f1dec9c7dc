"""The world of a workcell: what the tick finds in it before its first run."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.process_image import Manifest
from robot_rt_control.memory.layout import offset_of, part_dtype, world_dtype
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import OperationalState
from robot_rt_control.vocabulary.errors import CapacityError, HardwareError


def manifest(workcell: Workcell) -> Manifest:
    info = hardware_info(workcell, workcell.devices[0])
    return Manifest.of(info, standard_state_interfaces(info), standard_command_interfaces(info))


def test_parts_and_limits_are_those_of_the_workcell(workcell: Workcell, world: World) -> None:
    w = world.memory
    assert (w.n_parts, w.n_devices, w.period, w.speed, w.tick) == (5, 1, 0.001, 1.0, 0)
    for part in workcell.parts:
        live, runtime = w.parts[part.index], w.parts_runtime[part.index]
        assert live.dof == part.dof and live.dt == 0.001
        np.testing.assert_array_equal(live.velocity_limit, part.record.velocity_limit)
        np.testing.assert_array_equal(w.limits[part.index].acceleration, part.system_limits.acceleration)
        assert (runtime.kind, runtime.active_action, runtime.fault_joint) == (part.kind, -1, -1)
        assert runtime.state == OperationalState.DISABLED
    assert w.parts[0].chain.n_joints == 7


def test_nothing_is_defined_and_variables_of_actions_are_unknown(world: World) -> None:
    w = world.memory
    assert (w.tables["default_action"] == -1).all() and (w.tables["safety_action"] == -1).all()
    assert np.isnan(w.state_arena).all() and not w.tables["n_actions"].any()


def test_measured_values_are_unknown_until_a_tick_has_read_them(workcell: Workcell, world: World) -> None:
    arm = world.memory.parts[workcell.part("arm").index]
    assert np.isnan(arm.position[: arm.dof]).all() and np.isnan(arm.velocity[: arm.dof]).all()


def test_interfaces_are_linked_with_the_fields_of_their_parts(workcell: Workcell, world: World) -> None:
    w, names = world.memory, manifest(workcell)
    assert (w.n_reads, w.n_writes) == (len(names.state), len(names.command))
    for i, name in enumerate(names.state):
        w.devices[0].state[i] = 100.0 + i
        link = w.reads[i]
        part = workcell.parts[int(link.part)]
        assert name.split("/")[0] == part.name and link.interface == i
        start = offset_of(world_dtype, "parts", part.index)
        assert start <= link.offset < start + part_dtype.itemsize
    arm = workcell.part("arm")
    k = names.state.index("arm/joint_4/velocity")
    assert w.reads[k].offset == offset_of(world_dtype, "parts", arm.index, "velocity", 3)
    w.parts[arm.index].commanded_position[2] = 0.75
    k = names.command.index("arm/joint_3/position")
    assert ctypes.c_double.from_address(world.address + int(w.writes[k].offset)).value == 0.75


def test_a_device_that_lacks_an_interface_is_refused(workcell: Workcell, world: World) -> None:
    whole = manifest(workcell)
    broken = Manifest(**{**vars(whole), "state": tuple(n for n in whole.state if n != "arm/joint_2/velocity")})
    text = "device 'sim' does not export the state interface 'arm/joint_2/velocity'; expected .* state interfaces"
    with pytest.raises(HardwareError, match=text):
        world.link_device(0, broken)


def test_interfaces_of_a_plugins_own_are_passed_over(workcell: Workcell, world: World) -> None:
    whole = manifest(workcell)
    w = world.memory
    w.n_reads = w.n_writes = 0
    world.link_device(0, Manifest(**{**vars(whole), "state": ("sim/temperature", *whole.state)}))
    assert w.n_reads == len(whole.state) and w.reads[0].interface == 1


def test_too_many_interfaces_are_refused(workcell: Workcell, world: World) -> None:
    world.memory.n_reads = capacities.MAX_INTERFACE_LINKS
    with pytest.raises(CapacityError, match="interfaces of all devices; expected at most 8192"):
        world.link_device(0, manifest(workcell))


def test_the_age_that_is_tolerated_is_the_plugins_or_the_workcells(workcell: Workcell, tmp_path: Path) -> None:
    assert World(workcell).memory.devices[0].max_age == 1
    text = workcell.path.read_text().replace("  sim:\n", "  sim:\n    max_age_ticks: 7\n", 1)
    assert "max_age_ticks" in text
    file = tmp_path / "cell.yaml"
    file.write_text(text.replace("urdf: robots/", f"urdf: {workcell.path.parent}/robots/"))
    assert World(load_workcell(file)).memory.devices[0].max_age == 7


def test_links_say_where_the_loop_reads_and_writes(workcell: Workcell, world: World) -> None:
    w, names = world.memory, manifest(workcell)
    w.devices[0].state[3], w.devices[0].command[4] = 1.5, 2.5
    assert ctypes.c_double.from_address(world.address + int(w.reads[3].place)).value == 1.5
    link = w.writes[4]
    assert names.command[4].split("/")[0] == workcell.parts[int(link.part)].name
    assert ctypes.c_double.from_address(world.address + int(link.place)).value == 2.5
    w.parts_runtime[int(link.part)].written = 7
    assert ctypes.c_int64.from_address(world.address + int(link.written)).value == 7
