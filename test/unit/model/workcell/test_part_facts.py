"""What an action type's author may ask of a part."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.definitions.action_type import Part
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

BENT = (0.2, 0.5, -0.3, 0.8, 0.1, 0.6, 0.0)


def arm() -> PartFacts:
    return PartFacts(sample_part(PartKind.ARM, name="arm", position=BENT))


def test_it_is_a_part_with_joints_limits_and_variables() -> None:
    part: Part = arm()
    assert (part.name, part.kind, part.dof) == ("arm", PartKind.ARM, 7)
    assert part.joint_units == ("rad",) * 7 and CommandMode.VELOCITY in part.command_modes
    np.testing.assert_array_equal(part.limits("velocity_limit"), [1.5] * 7)
    np.testing.assert_array_equal(part.limits("position_lower"), [-2.9] * 7)
    np.testing.assert_array_equal(part.position, BENT)
    assert part.state_variables["arm.position[3]"] == "rad" and part.state_variables["arm.tool.z"] == "m"
    assert list(part.workcell) == ["arm"]
    with pytest.raises(DefinitionError, match="part 'arm': limit; expected position_lower, .*; got 'speed'"):
        part.limits("speed")


def test_inverse_kinematics_undoes_forward_kinematics() -> None:
    part = arm()
    p_WT, q_WT = part.forward()
    np.testing.assert_allclose(part.inverse_kinematics(p_WT, q_WT), BENT, atol=1e-6, err_msg="from where it is")
    goal = np.add(BENT, 0.1)
    found = part.inverse_kinematics(*part.forward(goal), seed=goal)
    np.testing.assert_allclose(found, goal, atol=1e-6)
    assert (found >= part.limits("position_lower")).all() and (found <= part.limits("position_upper")).all()
    with pytest.raises(DefinitionError, match="part 'arm': position; expected 7 values; got 2"):
        part.forward([0.0, 0.0])
    with pytest.raises(DefinitionError, match="part 'arm': inverse kinematics: no joint positions found"):
        part.inverse_kinematics([9.0, 0.0, 0.0], q_WT)


def test_a_sensor_has_neither_joints_nor_kinematics() -> None:
    eye = PartFacts(sample_part(PartKind.RANGEFINDER, name="eye"))
    assert not eye.has_kinematics and eye.state_variables["eye.distance"] == "m"
    with pytest.raises(DefinitionError, match="forward kinematics; expected an arm; got a rangefinder without a chain"):
        eye.forward()
