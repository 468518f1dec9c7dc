"""Following the tool: the pose leads, the twist moves it, and along a released axis nothing but the twist counts."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.cartesian import begin_tool, follow_tool, follow_tool_beside, tool_dtype
from robot_rt_control.actions.move_linear import MoveLinear
from robot_rt_control.actions.velocity_move import VelocityMove
from robot_rt_control.model.kinematics.kinematics import forward
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm

DT, GAIN = 0.001, 10.0
DOWN = np.array([0.0, 0.0, -1.0])


@realtime
def _held(tool, arm, axis):
    return follow_tool(tool, arm, GAIN)


@realtime
def _released(tool, arm, axis):
    return follow_tool_beside(tool, arm, GAIN, axis)


@pytest.fixture
def walk(bent):
    """Leads the tool of a bent arm with a twist; returns its commanded positions after each tick, and the tool."""

    def make(step, ticks, twist, nudge=()):
        arm, tool = FakeArm(position=bent), np.zeros(1, tool_dtype).view(np.recarray)[0]
        places = [np.zeros(3)]
        forward(arm.live.chain, arm.live.commanded_position, places[0], np.zeros(4))
        for tick in range(ticks):
            arm.measure(DT)
            if tick == 0:
                begin_tool(tool, arm.live)
                tool.position[: len(nudge)] += nudge
            arm.prepare_command()
            tool.twist[:] = twist
            assert step(tool, arm.live, DOWN) == 0
            arm.obey(DT)
            places.append(np.zeros(3))
            forward(arm.live.chain, arm.live.commanded_position, places[-1], np.zeros(4))
        return np.array(places), tool

    return make


@pytest.mark.parametrize("step", [_held, _released])
def test_from_the_first_tick_on_the_twist_and_nothing_else_moves_the_tool(walk, step):
    places, _ = walk(step, 200, [0.0, 0.05, -0.02, 0.0, 0.0, 0.0])
    moved = np.diff(places, axis=0) / DT
    # The damping of the inverse kinematics gives away a part of the speed, which the gain then brings back.
    np.testing.assert_allclose(moved, np.broadcast_to([0.0, 0.05, -0.02], moved.shape), atol=2e-3)


@pytest.mark.parametrize("step", [_held, _released])
def test_at_rest_it_stays_where_it_was_found(walk, step):
    places, _ = walk(step, 50, np.zeros(6))
    assert np.abs(places - places[0]).max() < 1e-12


def test_a_held_pose_is_closed_up_to_on_all_axes(walk):
    places, _ = walk(_held, 1000, np.zeros(6), nudge=[0.0, 0.005, 0.004])
    np.testing.assert_allclose(places[-1] - places[0], [0.0, 0.005, 0.004], atol=1e-4)


def test_along_the_released_axis_the_pose_is_where_the_tool_is(walk):
    places, tool = walk(_released, 1000, np.zeros(6), nudge=[0.0, 0.005, 0.004])
    np.testing.assert_allclose(places[-1] - places[0], [0.0, 0.005, 0.0], atol=1e-4)
    assert abs(tool.error[2]) < 1e-12 and tool.position[2] == pytest.approx(places[-2][2], abs=1e-12)


def test_a_pose_that_is_led_by_the_twist_is_neither_ahead_of_the_tool_nor_behind_it(walk):
    places, tool = walk(_held, 2000, [0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
    assert abs(tool.position[1] - places[-1][1]) < 0.1 * 0.05 * DT, "less than a tenth of a tick's way"


JOINTS = (VelocityMove, {"velocity": [0.6, -0.4, 0.3, 0.5, -0.2, 0.3, 0.1]})
TOOL = (VelocityMove, {"linear": [0.1, 0.0, -0.1], "angular": [0.0, 0.0, 0.3]})
LINE = (MoveLinear, {"offset": [0.1, 0.1, -0.1]})


@pytest.mark.long
@pytest.mark.parametrize(("first", "second"), [(JOINTS, TOOL), (TOOL, JOINTS), (TOOL, LINE), (LINE, TOOL)])
@pytest.mark.parametrize("ticks", [17, 60, 95])
def test_a_tool_motion_takes_over_and_is_taken_over_without_a_jump(bent, first, second, ticks):
    """The jerk of the joints' commands across the switch is not above that of the two motions."""
    arm = FakeArm(position=bent)
    positions: list[np.ndarray] = []
    for kind, parameters in (first, second):
        h = ActionHarness(kind, parts={kind.slots[0].name: arm}, parameters=parameters, compiled=True)
        h.start()
        for _ in range(ticks if len(positions) < ticks else 120):
            assert h.step() == 0
            positions.append(arm.live.commanded_position[:7].copy())
    jerk = np.abs(np.diff(positions, 3, axis=0)).max(axis=1) / DT**3
    before, across, after = np.split(jerk, [ticks - 4, ticks + 1])
    assert across.max() <= 1.01 * max(before.max(), after.max())
