"""The table of part kinds: complete, true to the memory's layout, and all that a new kind needs below the file."""

from __future__ import annotations

import math
from typing import cast, get_args

import numpy as np
import pytest

from robot_rt_control.hardware.mock import configure_mock
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePart
from robot_rt_control.memory.layout import device_dtype, measured_dtype, part_dtype
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.model.workcell.workcell_schema import AnyPart
from robot_rt_control.realtime.executor.sensor_topics import MESSAGES
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.names import check_name
from robot_rt_control.vocabulary.part_kinds import (
    JOINT_QUANTITIES,
    JOINTED_KINDS,
    PART_KINDS,
    WORKCELL_KINDS,
    KindDescription,
    Quantity,
)

IMU = cast("PartKind", 99)
TILT = Quantity(name="tilt", unit="rad", description="tilt of the hand", field="distance", idle=0.25)
SHAKE = tuple(
    Quantity(name=f"shake.{axis}", unit="m/s^2", description=f"shaking along {axis}", field="wrench", index=i)
    for i, axis in enumerate("xy")
)


def test_every_kind_is_in_the_table_and_in_the_workcell_file():
    assert set(PART_KINDS) == set(PartKind)
    sections = get_args(get_args(AnyPart)[0])
    kinds = [get_args(section.model_fields["kind"].annotation)[0] for section in sections]
    assert sorted(kinds) == sorted(kind.name.lower() for kind in WORKCELL_KINDS)
    assert set(PartKind) - set(WORKCELL_KINDS) == {PartKind.AXIS}
    assert {kind.topic for kind in PART_KINDS.values()} - {""} == set(MESSAGES)


def test_fields_are_measured_ones_and_each_element_is_filled_once():
    for described in PART_KINDS.values():
        places = [(q.field, q.index) for q in described.measured]
        assert len(set(places)) == len(places)
        for field, index in places:
            shape = measured_dtype[field].shape
            assert index in range(shape[0]) if shape else index is None
        for quantity in described.measured:
            for word in quantity.name.split("."):
                check_name("interface", word)
    assert all(part_dtype[q.field].shape for q in JOINT_QUANTITIES)
    assert JOINTED_KINDS == (PartKind.ARM, PartKind.GRIPPER, PartKind.BASE, PartKind.AXIS)


@pytest.fixture
def imu(monkeypatch):
    """A made-up kind."""
    monkeypatch.setitem(cast("dict", PART_KINDS), IMU, KindDescription(measured=(TILT, *SHAKE)))  # the table is a dict


@pytest.mark.usefixtures("imu")
def test_a_row_of_the_table_gives_interfaces_state_variables_and_a_simulated_device():
    part = sample_part(IMU, name="imu")
    assert [(i.name, i.unit) for i in part.state_interfaces] == [
        ("imu/tilt", "rad"),
        ("imu/shake.x", "m/s^2"),
        ("imu/shake.y", "m/s^2"),
    ]
    assert part.command_interfaces == []
    variables = {v.name: v for v in part_state_variables(part)}
    assert list(variables) == [
        "imu.tilt",
        "imu.shake.x",
        "imu.shake.y",
        "imu.age",
        "imu.operational_state",
        "imu.shake",
    ]
    assert (variables["imu.shake"].length, variables["imu.shake"].offset) == (2, variables["imu.shake.x"].offset)
    assert (variables["imu.shake.y"].unit, variables["imu.shake.y"].description) == ("m/s^2", "shaking along y")
    assert [i.offset for i in part.state_interfaces] == [v.offset for v in variables.values()][:3]
    assert np.isnan(part.record.distance) and np.isnan(part.record.wrench).all()
    hand = HardwarePart(name="imu", index=0, kind=IMU)
    info = HardwareInfo(name="d", parts=(hand,), parameters={"values": {"imu": {"shake.y": 2.0}}})
    device = np.zeros(1, device_dtype)[0]
    configure_mock(device, info)
    assert device.n_state == 3
    assert device.state[0] == 0.25 and math.isnan(device.state[1]) and device.state[2] == 2.0
