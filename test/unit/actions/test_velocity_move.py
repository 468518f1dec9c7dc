from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.velocity_move import VelocityMove
from robot_rt_control.model.kinematics.kinematics import forward, tool_twist
from robot_rt_control.vocabulary.errors import DefinitionError


def _tool(part):
    p, q, V = np.zeros(3), np.zeros(4), np.zeros(6)
    forward(part.chain, part.commanded_position, p, q)
    tool_twist(part.chain, part.commanded_position, part.commanded_velocity, V)
    return p, q, V


def test_the_tool_moves_straight_with_the_twist_and_keeps_its_orientation(harness):
    h = harness(VelocityMove, compiled=True, linear=[0.0, 0.05, -0.1])
    part = h.part("part")
    p0, q0, _ = _tool(part)
    h.start()
    h.step(1000)
    p, q, V = _tool(part)
    np.testing.assert_allclose(V, [0, 0.05, -0.1, 0, 0, 0], atol=2e-4)
    assert abs(float(np.dot(q, q0))) > 1 - 1e-8
    way = p - p0
    np.testing.assert_allclose(np.cross(way / np.linalg.norm(way), [0, 0.05, -0.1]), 0, atol=2e-5)
    assert h.state.is_done == 1.0 and h.state.slowed == 1.0


def test_in_the_tool_frame_the_twist_turns_with_the_tool_of_the_start(harness):
    h = harness(VelocityMove, compiled=True, linear=[0.0, 0.0, 0.1], frame="tool")
    part = h.part("part")
    h.start()
    h.step(500)
    _, q, V = _tool(part)
    x, y, z, w = q
    axis = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    np.testing.assert_allclose(V[:3], 0.1 * np.array(axis), atol=3e-4)


def test_the_opposite_twist_takes_over_from_a_moving_arm_within_the_limits(harness):
    down = harness(VelocityMove, compiled=True, linear=[0.0, 0.0, -0.1])
    down.start()
    down.step(800)
    arm = down.parts["part"]
    from robot_rt_control.testing.action_harness import ActionHarness

    up = ActionHarness(VelocityMove, parts={"part": arm}, parameters={"linear": [0.0, 0.0, 0.1]}, compiled=True)
    up.start()
    for _ in range(800):
        up.step()
        assert (np.abs(arm.live.commanded_acceleration[:7]) <= arm.live.acceleration_limit[:7] * 1.02).all()
    np.testing.assert_allclose(_tool(arm.live)[2][:3], [0, 0, 0.1], atol=2e-4)


def test_joint_velocities_are_reached_with_limited_jerk(harness):
    velocity = [0.2, -0.2, 0.1, 0.0, 0.3, -0.3, 0.1]
    h = harness(VelocityMove, compiled=True, velocity=velocity)
    part = h.part("part")
    h.start()
    last = np.zeros(16)
    for _ in range(500):
        h.step()
        jerk = (part.commanded_acceleration - last) / h.period
        last = part.commanded_acceleration.copy()
        assert (np.abs(jerk[:7]) <= part.jerk_limit[:7] * 1.05 + 1e-3).all()
    np.testing.assert_allclose(part.commanded_velocity[:7], velocity, atol=1e-9)


def test_either_joints_or_tool_and_within_the_limits(harness):
    with pytest.raises(DefinitionError, match="either `velocity`, or `linear` and/or `angular`; got none of them"):
        harness(VelocityMove, frame="world")
    with pytest.raises(DefinitionError, match="got both"):
        harness(VelocityMove, velocity=[0.0] * 7, linear=[0, 0, 1])
    with pytest.raises(DefinitionError, match=r"velocity of joint 'arm_joint_1' is above its limit; expected at most"):
        harness(VelocityMove, velocity=[5.0, 0, 0, 0, 0, 0, 0])


def test_a_heading_turns_the_twist_about_z(harness):
    h = harness(VelocityMove, compiled=True, linear=[0.1, 0.0, 0.02], heading=np.pi / 2)
    h.start()
    h.step(1000)
    np.testing.assert_allclose(_tool(h.part("part"))[2][:3], [0.0, 0.1, 0.02], atol=2e-4)


def test_a_component_that_hardly_changes_is_soon_rid_of_its_acceleration(harness):
    """It had next to nothing of the limits, and so went on accelerating for long."""
    from robot_rt_control.testing.action_harness import ActionHarness

    first = harness(VelocityMove, compiled=True, linear=[0.0, 0.1, 0.0])
    first.start()
    first.step(1000)
    arm = first.parts["part"]
    arm.live.commanded_acceleration[1] += 0.015  # [rad/s^2] a trace of acceleration across the way
    slow = {"linear": [0.0, 0.02, 0.0], "linear_acceleration": 2.0}
    second = ActionHarness(VelocityMove, parts={"part": arm}, parameters=slow, compiled=True)
    second.start()
    for _ in range(1000):
        second.step()
        assert np.abs(_tool(arm.live)[2][[0, 2]]).max() < 1e-3
    assert second.state.is_done == 1.0


def _steps_within_limits(h, ticks, largest):
    """Steps; each joint stays within its limits of acceleration and jerk. Returns the states after each."""
    part = h.part("part")
    shown = []
    for _ in range(ticks):
        last = part.commanded_acceleration.copy()
        assert h.step() == 0
        jerk = (part.commanded_acceleration - last) / h.period
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7] * 1.02).all()
        assert (np.abs(jerk[:7]) <= part.jerk_limit[:7] * largest + 1e-3).all()
        shown.append(part.commanded_velocity[:7].copy())
    return np.array(shown)


@pytest.mark.parametrize("compiled", [True, False])
def test_A16_new_joint_velocities_at_random_times_are_reached_within_the_limits(harness, compiled):
    random = np.random.default_rng(5)
    h = harness(VelocityMove, compiled=compiled, velocity=[0.0] * 7)
    h.start()
    _steps_within_limits(h, 2, 1.05)
    for _ in range(8):
        velocity = random.uniform(-0.5, 0.5, 7)
        h.set_parameters(velocity=velocity.tolist())
        _steps_within_limits(h, int(random.integers(1, 120)), 1.05)
    _steps_within_limits(h, 600, 1.05)
    np.testing.assert_allclose(h.part("part").commanded_velocity[:7], velocity, atol=1e-9)
    assert h.state.is_done == 1.0


def test_A16_compiled_equals_plain_on_random_parameters(harness):
    random = np.random.default_rng(6)
    sides = [harness(VelocityMove, compiled=compiled, linear=[0.0, 0.0, -0.05]) for compiled in (True, False)]
    for h in sides:
        h.start()
    for _ in range(4):
        changes = {
            "linear": random.uniform(-0.1, 0.1, 3).tolist(),
            "angular": random.uniform(-0.3, 0.3, 3).tolist(),
            "frame": str(random.choice(["world", "tool"])),
            "ramp_time": float(random.uniform(0.01, 0.1)),
        }
        ticks = int(random.integers(1, 25))
        for h in sides:
            h.set_parameters(**changes)
            h.step(ticks)
        one, two = (h.part("part") for h in sides)
        np.testing.assert_array_equal(one.commanded_position, two.commanded_position)


def test_A16_a_new_twist_is_reached_without_a_step_and_the_path_is_kept(harness):
    h = harness(VelocityMove, compiled=True, linear=[0.0, 0.0, -0.1], linear_acceleration=1.0)
    part = h.part("part")
    h.start()
    h.step(400)
    assert h.state.is_done == 1.0
    h.set_parameters(linear=[0.0, 0.1, 0.0])
    last = _tool(part)[2]
    h.step()
    assert np.abs(_tool(part)[2] - last)[:3].max() <= 1.0 * h.period * 1.1 + 1e-5
    last = _tool(part)[2]
    h.step()
    assert h.state.is_done == 0.0, "the new velocity is not reached yet"
    for _ in range(500):
        V = _tool(part)[2]
        assert np.abs(V - last)[:3].max() <= 1.0 * h.period * 1.1 + 1e-5
        last = V
        h.step()
    np.testing.assert_allclose(last, [0, 0.1, 0, 0, 0, 0], atol=3e-4)
    assert h.state.is_done == 1.0


def test_A16_a_velocity_of_zero_stops_it_and_equal_parameters_change_nothing(harness):
    h, twin = (harness(VelocityMove, compiled=True, linear=[0.05, 0.0, 0.0]) for _ in range(2))
    for one in (h, twin):
        one.start()
    for k in range(100):
        if k % 7 == 0:
            h.set_parameters(linear=[0.05, 0.0, 0.0])
        h.step()
        twin.step()
        np.testing.assert_array_equal(h.part("part").commanded_position, twin.part("part").commanded_position)
    h.set_parameters(linear=[0.0, 0.0, 0.0])
    h.step(2)
    h.step_until(lambda: h.state.is_done == 1.0)
    np.testing.assert_allclose(_tool(h.part("part"))[2], 0.0, atol=1e-4)
