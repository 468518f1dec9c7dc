from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.actions.move_linear import MoveLinear
from robot_rt_control.model.kinematics.kinematics import forward
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm
from robot_rt_control.vocabulary.errors import DefinitionError


def _tool(part):
    p, q = np.zeros(3), np.zeros(4)
    forward(part.chain, part.commanded_position, p, q)
    return p, q


def _way(h, part):
    """All places of the tool until the action is done, shape (n, 3)."""
    places = [_tool(part)[0]]
    h.start()
    for _ in range(20_000):
        assert h.step() == 0
        places.append(_tool(part)[0])
        if h.state.is_done:
            return np.array(places)
    raise AssertionError("it did not arrive")


def test_the_tool_goes_straight_by_the_offset_and_keeps_its_orientation(harness):
    h = harness(MoveLinear, compiled=True, offset=[0.1, -0.05, -0.12], speed=0.2)
    part = h.part("arm")
    p0, q0 = _tool(part)
    way = _way(h, part)
    h.step(200)
    p, q = _tool(part)
    np.testing.assert_allclose(p - p0, [0.1, -0.05, -0.12], atol=1e-4)
    assert abs(float(np.dot(q, q0))) > 1 - 1e-8
    direction = (p - p0) / np.linalg.norm(p - p0)
    across = (way - p0) - np.outer((way - p0) @ direction, direction)
    assert np.linalg.norm(across, axis=1).max() < 5e-4
    speed = np.linalg.norm(np.diff(way, axis=0), axis=1) / h.period
    assert speed.max() < 0.2 * 1.02
    assert np.abs(np.diff(speed)).max() / h.period < 0.5 * 1.2, "the acceleration of 0.5 m/s^2"
    h.step()
    assert h.state.is_settled == 1.0 and h.state.progress == 1.0 and h.state.distance_to_goal < 1e-3


def test_an_offset_in_the_tool_frame_and_a_heading_turn_the_way(harness):
    h = harness(MoveLinear, compiled=True, offset=[0.0, 0.0, 0.05], frame="tool")
    part = h.part("arm")
    p0, (x, y, z, w) = _tool(part)
    axis = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    way = _way(h, part)
    np.testing.assert_allclose(way[-1] - p0, 0.05 * np.array(axis), atol=5e-4)
    h = harness(MoveLinear, compiled=True, offset=[0.05, 0.0, 0.0], heading=math.pi / 2)
    way = _way(h, h.part("arm"))
    np.testing.assert_allclose(way[-1] - way[0], [0.0, 0.05, 0.0], atol=5e-4)


def test_a_pose_is_reached_position_and_orientation_together(harness):
    h = harness(MoveLinear, compiled=True, offset=[0.0, 0.0, 0.0])
    p0, q0 = _tool(h.part("arm"))
    half = 0.15
    turn = np.array([0.0, 0.0, math.sin(half), math.cos(half)])
    x, y, z, w = turn
    qx, qy, qz, qw = q0
    goal = np.array([
        w * qx + x * qw + y * qz - z * qy, w * qy - x * qz + y * qw + z * qx,
        w * qz + x * qy - y * qx + z * qw, w * qw - x * qx - y * qy - z * qz,
    ])  # fmt: skip
    h = harness(
        MoveLinear, compiled=True, position=(p0 + [0.02, 0.05, -0.03]).tolist(), orientation=goal.tolist(), speed=0.2
    )
    part = h.part("arm")
    _way(h, part)
    h.step(300)
    p, q = _tool(part)
    np.testing.assert_allclose(p - p0, [0.02, 0.05, -0.03], atol=1e-4)
    assert abs(float(np.dot(q, goal))) > 1 - 1e-8


def test_without_any_way_it_is_done_at_once(harness):
    h = harness(MoveLinear, compiled=True, offset=[0.0, 0.0, 0.0])
    h.start()
    h.step(2)
    assert h.state.is_done == 1.0 and h.state.progress == 1.0 and h.state.remaining_time == 0.0


def test_a_new_goal_while_it_moves_is_reached_from_that_motion_without_a_jump(harness):
    h = harness(MoveLinear, compiled=True, offset=[0.1, 0.0, 0.0])
    part = h.part("arm")
    p0, _ = _tool(part)
    h.start()
    h.step(500)
    h.set_parameters(offset=[0.0, 0.1, 0.0], speed=0.15)
    for _ in range(3000):
        h.step()
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7]).all()
    assert h.state.is_done == 1.0
    np.testing.assert_allclose(_tool(part)[0] - p0, [0.0, 0.1, 0.0], atol=2e-4)


def test_a_way_out_of_reach_is_given_up_and_the_arm_is_at_rest(harness):
    h = harness(MoveLinear, compiled=True, offset=[2.0, 0.0, 0.5], speed=0.3)
    part = h.part("arm")
    h.start()
    for _ in range(8_000):
        assert h.step() == 0
        assert (np.abs(part.commanded_velocity[:7]) <= part.velocity_limit[:7] + 1e-9).all()
    assert h.state.is_blocked == 1.0 and h.state.is_done == 0.0 and h.state.is_settled == 0.0
    assert np.abs(part.commanded_velocity[:7]).max() == 0.0
    assert h.state.distance_to_goal > 0.1 and h.state.progress < 1.0


@pytest.mark.long
@settings(max_examples=5, deadline=None)
@given(st.tuples(*[st.floats(-0.15, 0.15)] * 3), st.tuples(*[st.floats(-0.5, 0.5)] * 7))
def test_from_any_motion_it_arrives_at_rest_within_the_limits(offset, velocity):
    arm = FakeArm(position=(0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0))
    arm.live.commanded_velocity[:7] = velocity
    h = ActionHarness(
        MoveLinear, parts={"arm": arm}, parameters={"offset": list(offset), "acceleration": 3.0}, compiled=True
    )
    h.start()
    for _ in range(3500):
        assert h.step() == 0
        assert np.isfinite(arm.live.commanded_position[:7]).all()
        assert (np.abs(arm.live.commanded_velocity[:7]) <= arm.live.velocity_limit[:7] + 1e-9).all()
    if h.state.is_blocked == 0.0:
        assert h.state.is_done == 1.0 and h.state.distance_to_goal < 1e-3
    assert np.abs(arm.live.commanded_velocity[:7]).max() < 1e-3


def test_what_does_not_fit_together_is_refused(harness):
    with pytest.raises(DefinitionError, match="either `position` and/or `orientation`, or `offset`; got none"):
        harness(MoveLinear, speed=0.1)
    with pytest.raises(DefinitionError, match="got both"):
        harness(MoveLinear, offset=[0, 0, 0.1], position=[0, 0, 1.0])
    with pytest.raises(DefinitionError, match=r"quaternion x y z w of length 1.*got length 2"):
        harness(MoveLinear, orientation=[0, 0, 0, 2.0])
    with pytest.raises(DefinitionError, match=r"move_linear of 'arm': the goal: no joint positions found"):
        harness(MoveLinear, position=[3.0, 0, 0])
