"""Jogging the tool: the twist is met in its axes, what it leaves at zero is held, the watchdog brings to rest."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from robot_rt_control.actions.follow_twist_stream import FollowTwistStream
from robot_rt_control.model.kinematics.kinematics import forward, orientation_error, quaternion_rotate
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm
from robot_rt_control.vocabulary.errors import DefinitionError

DT = 0.001
TIMEOUT = 0.1


@pytest.fixture
def jog(bent):
    def make(**parameters):
        given = {"goal_timeout": TIMEOUT, **parameters}
        arm = FakeArm(position=bent)
        made = ActionHarness(FollowTwistStream, parts={"part": arm}, parameters=given, compiled=True)
        made.start()
        return made

    return make


def pose(part) -> tuple[np.ndarray, np.ndarray]:
    position, orientation = np.zeros(3), np.zeros(4)
    forward(part.chain, part.commanded_position, position, orientation)
    return position, orientation


def write(h, ticks: int, *twist: float) -> tuple[np.ndarray, np.ndarray]:
    """Stream this twist each 10 ms; returns the commanded positions of the joints and of the tool."""
    joints, tools = [], []
    for k in range(ticks):
        if twist and k % 10 == 0:
            h.stream("goal").write([*twist, *[0.0] * (6 - len(twist))])
        assert h.step() == 0
        joints.append(np.array(h.part("part").commanded_position[:7]))
        tools.append(pose(h.part("part"))[0])
    return np.array(joints), np.array(tools)


def check_limits(positions: np.ndarray, part) -> None:
    for order, limit in ((1, part.velocity_limit), (2, part.acceleration_limit), (3, part.jerk_limit)):
        highest = np.abs(np.diff(positions, order, axis=0)).max(axis=0) / DT**order
        assert (highest <= limit[:7] * (1 + 1e-3) + 1e-6).all(), (order, highest / limit[:7])


def turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    rotation = np.zeros(3)
    orientation_error(after, before, rotation)
    return rotation


def test_the_tool_moves_straight_and_keeps_its_orientation(jog):
    h = jog()
    before, orientation = pose(h.part("part"))
    joints, tools = write(h, 1500, 0.0, 0.1, 0.0)
    velocity = (tools[-1] - tools[-101]) / 0.1
    np.testing.assert_allclose(velocity, [0.0, 0.1, 0.0], atol=2e-3)
    assert np.abs(tools[:, [0, 2]] - before[[0, 2]]).max() < 1e-3, "on its line [m]"
    assert np.abs(turned(orientation, pose(h.part("part"))[1])).max() < 2e-3, "[rad]"
    assert h.state.is_following == 1.0 and h.state.slowed > 0.99
    check_limits(joints, h.part("part"))


def test_in_the_tools_frame_its_axes_count(jog):
    h = jog(frame="tool")
    _, orientation = pose(h.part("part"))
    axis, moved = np.array([1.0, 0.0, 0.0]), np.zeros(3)
    quaternion_rotate(orientation, axis, moved)
    _, tools = write(h, 800, 0.05)
    np.testing.assert_allclose((tools[-1] - tools[-101]) / 0.1, 0.05 * moved, atol=2e-3)


def test_a_turn_keeps_the_tool_where_it_is(jog):
    h = jog()
    before, orientation = pose(h.part("part"))
    _, tools = write(h, 1000, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4)
    after = pose(h.part("part"))[1]
    assert np.abs(tools - before).max() < 2e-3
    assert turned(orientation, after)[2] == pytest.approx(0.4 * 0.9, abs=0.05), "it takes 0.1 s to get there"


def test_more_than_the_largest_speed_is_that_speed(jog):
    h = jog(linear_velocity=0.05)
    _, tools = write(h, 800, 0.0, 3.0, 4.0)
    assert np.linalg.norm(tools[-1] - tools[-101]) / 0.1 == pytest.approx(0.05, rel=0.03)


def test_it_comes_to_rest_by_the_time_out_and_goes_on_when_samples_come_again(jog):
    h = jog()
    part = h.part("part")
    joints = [write(h, 500, 0.0, 0.1)[0], write(h, 600)[0]]
    assert h.state.is_following == 0.0 and not part.commanded_velocity[:7].any()
    speed = np.abs(np.diff(np.concatenate(joints), axis=0)).max(axis=1) / DT
    assert speed[500 + 80] > 0.9 * speed[499] and speed[500 + 300] == 0.0
    joints.append(write(h, 500, 0.0, -0.1)[0])
    assert h.state.is_following == 1.0
    check_limits(np.concatenate(joints), part)


def test_at_the_edge_of_reach_and_in_all_directions_the_joints_keep_their_limits(jog):
    h, rng = jog(linear_velocity=3.0, angular_velocity=6.0), np.random.default_rng(4)
    part = h.part("part")
    joints = [write(h, 4000, 0.0, 0.0, 3.0)[0]]
    joints += [write(h, int(rng.integers(1, 200)), *rng.normal(0.0, 2.0, 6))[0] for _ in range(40)]
    positions = np.concatenate(joints)
    check_limits(positions, part)
    assert (positions <= part.position_upper[:7] + 1e-9).all() and (positions >= part.position_lower[:7] - 1e-9).all()


def test_it_takes_over_a_moving_arm_without_a_jump(harness):
    h = harness(FollowTwistStream, compiled=True, moving=True, goal_timeout=TIMEOUT)
    part = h.part("part")
    before = np.array(part.commanded_velocity[:7])
    h.start()
    h.step()
    change = np.abs(part.commanded_velocity[:7] - before) / DT
    assert (change <= part.acceleration_limit[:7] * 1.02).all()


def test_a_part_without_a_chain_is_refused():
    no_chain = SimpleNamespace(n_joints=0)
    with pytest.raises(DefinitionError, match="follow_twist_stream of .*no kinematic chain.*velocity_stream"):
        FollowTwistStream.create({"part": SimpleNamespace(name="x", record=SimpleNamespace(chain=no_chain))})
