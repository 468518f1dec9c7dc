from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.move_joint import MoveJoint
from robot_rt_control.vocabulary.errors import DefinitionError


def test_it_arrives_exactly_and_settles_there(harness, goal):
    h = harness(MoveJoint, compiled=True, moving=True, position=list(goal))
    h.start()
    h.step()
    assert h.state.is_done == 0.0
    distances, progress = [], []
    for _ in range(3000):
        h.step()
        distances.append(float(h.state.distance_to_goal))
        progress.append(float(h.state.progress))
        if h.state.is_settled == 1.0:
            break
    np.testing.assert_allclose(h.part("part").commanded_position[:7], goal, atol=1e-12)
    assert h.state.is_done == 1.0 and h.state.remaining_time == 0.0
    assert distances[-1] < 1e-9 < distances[0]
    assert h.state.tool_distance_to_goal < 1e-9
    assert progress == sorted(progress) and progress[-1] == 1.0


def test_new_parameters_while_moving_lead_to_the_new_goal_without_a_jump(harness, goal):
    h = harness(MoveJoint, compiled=True, position=list(goal))
    part = h.part("part")
    h.start()
    h.step(150)
    other = [-q for q in goal[:3]] + list(goal[3:])
    h.set_parameters(position=other)
    for _ in range(4000):
        h.step()
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7] * 1.02).all()
    np.testing.assert_allclose(part.commanded_position[:7], other, atol=1e-9)
    assert h.state.is_done == 1.0


def test_a_target_outside_the_limits_is_refused_with_the_joint_and_the_range(harness):
    with pytest.raises(DefinitionError, match=r"target of joint 'arm_joint_2' is outside its limits") as error:
        harness(MoveJoint, position=[0.0, 3.5, 0, 0, 0, 0, 0])
    assert "expected -2.9000 to 2.9000; got 3.5000" in str(error.value)


def test_a_tool_pose_becomes_joint_positions(harness):
    h = harness(MoveJoint, tool_position=[0.4, 0.1, 0.9])
    part = h.part("part")
    before = h.parts["part"].forward()[1]
    h.start()
    h.step(3000)
    p_WT, q_WT = h.parts["part"].forward()
    np.testing.assert_allclose(p_WT, [0.4, 0.1, 0.9], atol=1e-5)
    np.testing.assert_allclose(q_WT, before, atol=1e-5, err_msg="the orientation stays")
    np.testing.assert_allclose(part.tool_position, p_WT, atol=1e-9)
    assert h.state.is_settled == 1.0 and h.state.tool_distance_to_goal < 1e-9
    h.set_parameters(tool_orientation=[0.0, 0.0, 0.0, 1.0])
    h.step(4000)
    p_WT, q_WT = h.parts["part"].forward()
    np.testing.assert_allclose([*p_WT, *q_WT], [0.4, 0.1, 0.9, 0.0, 0.0, 0.0, 1.0], atol=1e-5)


def test_a_goal_is_given_in_one_way(harness):
    with pytest.raises(DefinitionError, match="expected either `position`, or `tool_position` .* got none of them"):
        harness(MoveJoint, velocity_scale=0.5)
    with pytest.raises(DefinitionError, match="got `position` and `tool_orientation`"):
        harness(MoveJoint, position=[0.0] * 7, tool_orientation=[0.0, 0.0, 0.0, 1.0])
    with pytest.raises(DefinitionError, match="part 'arm': inverse kinematics: no joint positions found"):
        harness(MoveJoint, tool_position=[5.0, 0.0, 0.0])


@pytest.mark.parametrize("velocity", [0.95, 0.3, -0.2])
def test_a_low_acceleration_scale_keeps_the_velocity_limit_of_a_motion_that_it_takes_over(harness, goal, velocity):
    """Its own jerk, 5 rad/s^3, would end this acceleration 0.5 s and 5 rad/s later."""
    h = harness(MoveJoint, compiled=True, position=list(goal), acceleration_scale=0.05)
    part = h.part("part")
    part.commanded_velocity[0] = velocity
    part.commanded_acceleration[0] = part.former_acceleration[0] = 10.0
    h.start()
    fastest = 0.0
    for _ in range(1000):
        h.step()
        fastest = max(fastest, float(part.commanded_velocity[0]))
    assert velocity + 0.3 < fastest <= float(part.velocity_limit[0]) * 1.0001
