"""govern_tool by itself: the test writes what laws would command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.govern_tool import GovernTool
from robot_rt_control.memory.layout import degree_dtype
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import CommandMode, PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

Harness = Any


def command(h: Harness, mode: CommandMode, **velocities: float) -> None:
    """What laws would command in the next tick, in this mode."""
    for i, degree in enumerate(GovernTool.degrees_of_freedom):
        if degree.name in velocities:
            d = h.state.degrees[i]
            d.command_mode = int(mode)
            d.position_command = d.commanded_position + velocities[degree.name] * h.period
            d.velocity_command = velocities[degree.name]


def move(h: Harness, ticks: int, mode: CommandMode = CommandMode.POSITION, **velocities: float) -> None:
    for _ in range(ticks):
        command(h, mode, **velocities)
        assert h.step() == 0


def started(harness: Harness, **parameters: Any) -> Harness:
    h = harness(GovernTool, compiled=True, **{"heading": 0.0, **parameters})
    h.start()
    h.step(2)
    return h


def pose(h: Harness) -> tuple[np.ndarray, np.ndarray]:
    return h.parts["arm"].forward()


@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY])
def test_in_the_world_frame_turned_by_a_heading(harness: Harness, mode: CommandMode) -> None:
    h = started(harness, heading=np.pi / 2)
    (p0, q0), x0 = pose(h), float(h.state.degrees[0].commanded_position)
    assert x0 == pytest.approx(p0[1]) and h.state.degrees[1].commanded_position == pytest.approx(-p0[0])
    move(h, 500, mode, x=0.1, z=-0.05)
    p, q = pose(h)
    np.testing.assert_allclose(p - p0, [0.0, 0.05, -0.025], atol=3e-5)
    assert abs(float(q @ q0)) > 1.0 - 1e-9, "what has no law holds"
    assert h.state.degrees[0].commanded_position == pytest.approx(x0 + 0.05)
    assert h.state.degrees[0].position == pytest.approx(p[1], abs=2e-4), "as measured, a tick before"
    assert h.state.degrees[0].velocity == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("frame", ["entry", "tool"])
def test_the_axes_of_the_tool(harness: Harness, frame: str) -> None:
    h = started(harness, frame=frame)
    (p0, q0) = pose(h)
    x, y, z, w = q0
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    assert h.state.degrees[2].commanded_position == 0.0
    move(h, 400, z=0.1)
    np.testing.assert_allclose(pose(h)[0] - p0, 0.04 * axis, atol=3e-5)
    assert h.state.degrees[2].commanded_position == pytest.approx(0.04)
    assert np.isfinite(h.state.degrees[2].position) == (frame == "entry"), "no position in a frame that moves"


def test_axes_of_the_tool_turn_with_it_and_those_of_the_entry_stay(harness: Harness) -> None:
    moved = {}
    for frame in ("entry", "tool"):
        h = started(harness, frame=frame)
        move(h, 1000, ry=0.5)
        before = pose(h)[0]
        move(h, 300, ry=0.0, x=0.1)
        moved[frame] = pose(h)[0] - before
        assert np.linalg.norm(moved[frame]) == pytest.approx(0.03, rel=0.01)
    cosine = float(moved["entry"] @ moved["tool"]) / 0.03**2
    assert np.arccos(cosine) == pytest.approx(0.5, abs=0.02)


def test_it_shows_the_motion_from_which_laws_go_on(harness: Harness) -> None:
    """With constant jerk its velocity and acceleration are exactly those of the last command's end."""
    h = started(harness)
    degree, jerk, start = h.state.degrees[0], 20.0, float(h.state.degrees[0].commanded_position)
    for n in range(1, 80):
        t = n * h.period
        degree.command_mode, degree.position_command = int(CommandMode.POSITION), start + jerk * t**3 / 6.0
        h.step()
        if n > 3:
            assert degree.motion_acceleration == pytest.approx(jerk * t, rel=1e-6)
            assert degree.motion_velocity == pytest.approx(jerk * t * t / 2.0, rel=1e-6)


def test_the_whole_tool_is_slowed_and_keeps_its_direction(harness: Harness) -> None:
    h = started(harness)
    move(h, 300, x=0.1, y=-0.05)
    arm = h.part("arm")
    arm.velocity_limit[:] = 0.5 * np.abs(arm.commanded_velocity).max()
    before = pose(h)[0]
    x0 = float(h.state.degrees[0].commanded_position)
    move(h, 200, x=0.1, y=-0.05)
    way = pose(h)[0] - before
    assert h.state.slowed == pytest.approx(0.5, abs=0.05)
    assert way[1] / way[0] == pytest.approx(-0.5, rel=0.01) and abs(way[2]) < 1e-4
    assert float(h.state.degrees[0].commanded_position) - x0 == pytest.approx(way[0], abs=1e-4)


def test_without_laws_a_moving_tool_comes_to_rest(harness: Harness) -> None:
    h = started(harness)
    move(h, 200, x=0.2, rz=0.3)
    for degree in h.state.degrees:
        degree.command_mode = int(CommandMode.NONE)
    h.start()  # anew, from the motion
    h.step(1000)
    before = pose(h)
    h.step(100)
    np.testing.assert_allclose(pose(h)[0], before[0], atol=1e-7)


@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY])
def test_no_law_makes_it_faster_than_its_parameters_permit(harness: Harness, mode: CommandMode) -> None:
    h = started(harness, linear_velocity=0.05)
    (p0, _) = pose(h)
    move(h, 300, mode, x=3.0)
    assert pose(h)[0][0] - p0[0] == pytest.approx(0.05 * 0.3, rel=0.1)
    assert float(h.state.degrees[0].motion_velocity) <= 0.05 * 1.000001


def test_a_lower_limit_takes_effect_within_the_acceleration(harness: Harness) -> None:
    h = started(harness, linear_velocity=0.2)
    move(h, 300, x=0.2)
    h.set_parameters(linear_velocity=0.05)
    move(h, 200, x=0.2)
    assert float(h.state.degrees[0].motion_velocity) == pytest.approx(0.05, rel=0.01)


def test_what_is_not_known_is_no_command(harness: Harness) -> None:
    h = started(harness)
    command(h, CommandMode.POSITION, x=float("nan"))
    assert h.step() < 0, "the action fails, and its part takes its safety action"


def test_an_axis_whose_law_commands_nothing_comes_to_rest_from_its_present_motion(harness: Harness) -> None:
    h = started(harness)
    move(h, 200, x=0.2)
    h.start()  # anew, from the motion
    move(h, 500, x=-0.1)
    before = pose(h)[0][0]
    h.state.degrees[0].command_mode = int(CommandMode.NONE)
    h.step()
    assert pose(h)[0][0] - before == pytest.approx(-0.1 * h.period, rel=0.1), "not forward, as at the start"
    h.step(1000)
    at_rest = pose(h)[0]
    h.step(100)
    np.testing.assert_allclose(pose(h)[0], at_rest, atol=1e-7)


def test_frame_and_heading_are_those_of_the_start(harness: Harness) -> None:
    h = started(harness)
    before = pose(h)[0]
    h.set_parameters(heading=np.pi / 2, frame="tool")
    move(h, 200, x=0.1)
    np.testing.assert_allclose(pose(h)[0] - before, [0.02, 0.0, 0.0], atol=3e-5)


def test_a_tool_that_was_held_back_does_not_catch_up(harness: Harness) -> None:
    h = started(harness)
    move(h, 100, x=0.1)
    h.part("arm").commanded_position[0] += 0.1  # a limit behind the action
    moved = pose(h)[0]
    move(h, 3, x=0.0)
    assert np.linalg.norm(pose(h)[0] - moved) < 1e-3
    assert h.state.degrees[0].commanded_position == pytest.approx(pose(h)[0][0], abs=1e-3)


def test_an_effort_is_nothing_it_can_carry_out(harness: Harness) -> None:
    h = started(harness)
    h.state.degrees[2].command_mode = int(CommandMode.EFFORT)
    assert h.step() == Status.DEGREE_MODE


def test_laws_are_checked_against_its_limits() -> None:
    h = ActionHarness(GovernTool, parameters={"linear_velocity": 0.2, "angular_acceleration": 3.0, "ramp_time": 0.1})
    limits: Any = np.zeros(6, degree_dtype)
    h.action.prepare_degrees(h.params, limits)
    assert list(limits["velocity_limit"]) == [0.2] * 3 + [1.0] * 3
    assert limits[5]["acceleration_limit"] == 3.0 and limits[5]["jerk_limit"] == pytest.approx(30.0)


def test_a_part_without_kinematics_is_refused() -> None:
    arm = FakePart(name="arm", kind=PartKind.ARM, dof=2)
    arm.memory["chain"]["n_joints"] = 0
    with pytest.raises(DefinitionError, match="govern_tool of 'arm'; expected an arm with a tool; got one without"):
        ActionHarness(GovernTool, parts={"arm": arm})
