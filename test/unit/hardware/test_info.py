"""The device's description refuses what does not fit, and says what."""

import math

import pytest

from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePart, JointLimits
from robot_rt_control.model.workcell.channels import numbered_channels
from robot_rt_control.testing.devices import arm, limits
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, HardwareError


def test_an_arm_needs_joints():
    with pytest.raises(HardwareError, match="part 'arm' of kind ARM; expected joint_names; got none"):
        HardwarePart(name="arm", index=0, kind=PartKind.ARM)


def test_limits_have_one_value_for_each_joint():
    text = r"part 'arm': limits.position_lower; expected one value for each of 2 joints; got 3 values"
    with pytest.raises(HardwareError, match=text):
        arm(limits=limits(3))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan])
def test_limits_are_positive(bad):
    wrong = JointLimits(
        position_lower=(-1.0,), position_upper=(1.0,), velocity=(bad,), acceleration=(1.0,), effort=(1.0,)
    )
    with pytest.raises(HardwareError, match=r"joint 'joint_1': limits.velocity; expected a positive number; got"):
        arm(n=1, limits=wrong)


def test_the_range_is_not_empty():
    wrong = JointLimits(
        position_lower=(1.0,), position_upper=(-1.0,), velocity=(1.0,), acceleration=(1.0,), effort=(1.0,)
    )
    with pytest.raises(HardwareError, match="expected position_lower <= position_upper; got 1.0 and -1.0"):
        arm(n=1, limits=wrong)


def test_start_position_has_one_value_for_each_joint():
    with pytest.raises(HardwareError, match="start_position; expected one value for each of 2 joints; got 1 values"):
        arm(start_position=(0.0,))


def test_joints_start_within_their_limits():
    only_negative = JointLimits(
        position_lower=(-3.0,), position_upper=(-0.1,), velocity=(1.0,), acceleration=(1.0,), effort=(1.0,)
    )
    assert arm(n=1, limits=only_negative).initial_position == (-0.1,)
    assert arm(start_position=(0.5, 0.6)).initial_position == (0.5, 0.6)


def test_capacities_are_named():
    with pytest.raises(CapacityError, match="part 'arm': joints; expected at most 16; got 17"):
        arm(n=17, limits=limits(17))
    with pytest.raises(CapacityError, match="part 'io': channels; expected 0 to 16 inputs; got 17"):
        HardwarePart(name="io", index=0, kind=PartKind.IO, inputs=numbered_channels("input", 17))
    with pytest.raises(CapacityError, match="hardware 'many': parts; expected at most 64; got 65"):
        HardwareInfo(name="many", parts=tuple(arm(f"arm_{i}", index=min(i, 63)) for i in range(65)))


def test_part_names_are_unique_and_periods_positive():
    with pytest.raises(HardwareError, match="hardware 'd': the part 'arm' is listed twice"):
        HardwareInfo(name="d", parts=(arm(), arm()))
    with pytest.raises(HardwareError, match="hardware 'd': parts; expected indices that differ; got 3 for 'a'"):
        HardwareInfo(name="d", parts=(arm("a", index=3), arm("b", index=3)))
    with pytest.raises(HardwareError, match="hardware 'd': period; expected a positive number of seconds; got 0.0"):
        HardwareInfo(name="d", period_s=0.0)
