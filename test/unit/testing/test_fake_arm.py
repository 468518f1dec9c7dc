"""The fake arm follows its commands exactly."""

import numpy as np
import pytest

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

DT = 0.001


def drive(arm, mode, field, value, ticks=1):
    for _ in range(ticks):
        arm.measure(DT)
        arm.prepare_command()
        arm.live.command_mode = int(mode)
        arm.live[field][0] = value
        arm.obey(DT)


def test_it_is_a_part():
    part: Part = FakeArm()
    assert (part.name, part.kind, part.dof) == ("arm", PartKind.ARM, 7)
    assert part.joint_names[0] == "arm_joint_1" and len(part.joint_names) == 7
    part.record.position[0] = 9.0
    assert part.record.position[0] == 0.0, "the record is a copy"


def test_position_velocity_and_effort():
    arm = FakeArm(position=[0.5, 0, 0, 0, 0, 0, 0])
    assert arm.live.position[0] == 0.5
    drive(arm, CommandMode.POSITION, "position_command", 0.501)
    assert arm.live.commanded_position[0] == 0.501
    assert arm.live.commanded_velocity[0] == pytest.approx(1.0)
    assert arm.live.commanded_acceleration[0] == pytest.approx(1000.0)
    drive(arm, CommandMode.VELOCITY, "velocity_command", 2.0, ticks=100)
    assert arm.live.commanded_position[0] == pytest.approx(0.701)
    assert arm.live.velocity[0] == 2.0 and arm.live.at_rest == 0.0
    drive(arm, CommandMode.EFFORT, "effort_command", -2.0, ticks=1000)
    assert arm.live.commanded_velocity[0] == pytest.approx(0.0, abs=1e-9)
    assert arm.live.commanded_effort[0] == -2.0


def test_without_command_it_holds():
    arm = FakeArm(position=[0.5, 0, 0, 0, 0, 0, 0])
    arm.live.commanded_velocity[0] = 1.0
    drive(arm, CommandMode.NONE, "velocity_command", 9.0)
    assert arm.live.commanded_position[0] == 0.5 and arm.live.commanded_velocity[0] == 0.0


def test_its_chain_reaches_straight_up():
    from robot_rt_control.model.kinematics.kinematics import forward

    position, orientation = np.zeros(3), np.zeros(4)
    forward(FakeArm().record.chain, np.zeros(16), position, orientation)
    np.testing.assert_allclose(position, [0.0, 0.0, 1.6], atol=1e-12)


def test_sensors_measure_what_a_test_writes():
    sensor = FakePart(kind=PartKind.RANGEFINDER)
    assert np.isnan(sensor.live.distance)
    sensor.live.distance = 0.3
    sensor.measure(DT)
    assert sensor.record.distance == 0.3


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="dof = 17: expected 0 to 16"):
        FakePart(dof=17)
    with pytest.raises(ValueError, match="position has 3 values, expected one for each of 7 joints"):
        FakeArm(position=[1, 2, 3])
