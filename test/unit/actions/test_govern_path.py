"""govern_path by itself: the test writes what laws would command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.govern_path import GovernPath
from robot_rt_control.memory.layout import degree_dtype
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.vocabulary.enums import CommandMode, Status
from robot_rt_control.vocabulary.errors import DefinitionError

Harness = Any
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 13)
HALF_CIRCLE = np.column_stack((0.08 * np.cos(ANGLES), 0.08 * (1.0 + np.sin(ANGLES)), 0.0 * ANGLES))
"""From the origin along x, then to the left, around and back."""
NAMES = [degree.name for degree in GovernPath.degrees_of_freedom]


def command(h: Harness, **velocities: float) -> None:
    """What laws would command in the next tick."""
    for name, velocity in velocities.items():
        degree = h.state.degrees[NAMES.index(name)]
        degree.command_mode = int(CommandMode.POSITION)
        degree.position_command = degree.commanded_position + velocity * h.period


def move(h: Harness, ticks: int, **velocities: float) -> np.ndarray:
    """Positions of the tool after each tick."""
    seen = []
    for _ in range(ticks):
        command(h, **velocities)
        assert h.step() == 0
        seen.append(tool(h))
    return np.array(seen)


def tool(h: Harness) -> np.ndarray:
    return h.parts["arm"].forward()[0]


def started(h: Harness) -> Harness:
    h.start()
    assert h.step() == 0
    return h


def way(h: Harness) -> float:
    """[m] The commanded way along the path."""
    return float(h.state.degrees[6].commanded_position)


@pytest.fixture
def here(harness: Harness) -> np.ndarray:
    """[m] Position of the tool at the start."""
    return tool(harness(GovernPath, compiled=False))


@pytest.fixture
def follow(harness: Harness, here: np.ndarray) -> Any:
    """Start a half circle in the world that begins at the tool, off by `away` [m]."""

    def start(away: tuple[float, float, float] = (0.0, 0.0, 0.0), **parameters: Any) -> Harness:
        points = (HALF_CIRCLE - HALF_CIRCLE[0] + here + away).ravel()
        h = harness(GovernPath, compiled=True, **{"points": points, **parameters})
        return started(h)

    return start


def test_the_tool_follows_the_path_and_offsets_without_a_law_stay(follow: Any, here: np.ndarray) -> None:
    h = follow(away=(0.0, 0.0, -0.003))
    q0 = h.parts["arm"].forward()[1]
    assert h.state.offset_z == pytest.approx(0.003, abs=1e-6) and h.state.start_distance == pytest.approx(0.003)
    seen = move(h, 1600, s=0.1)
    assert way(h) == pytest.approx(0.16) and h.state.way == pytest.approx(0.16 - 1e-4), "as sensed, a tick before"
    assert h.state.remaining == pytest.approx(0.08 * np.pi - h.state.way, abs=1e-4)
    center = here + [0.0, 0.08, 0.0]
    np.testing.assert_allclose(np.linalg.norm((seen - center)[:, :2], axis=1), 0.08, atol=5e-5)
    np.testing.assert_allclose(seen[:, 2], here[2], atol=5e-5)
    assert np.linalg.norm(np.diff(seen[100:], axis=0), axis=1) == pytest.approx(1e-4, rel=0.01)
    assert abs(float(h.parts["arm"].forward()[1] @ q0)) > 1.0 - 1e-8


def test_a_correction_does_not_change_the_speed_along_the_path(follow: Any) -> None:
    seen = move(follow(), 400, s=0.1)
    corrected = move(follow(), 400, s=0.1, z=-0.02)
    np.testing.assert_allclose(corrected[:, :2], seen[:, :2], atol=3e-5)
    assert seen[-1, 2] - corrected[-1, 2] == pytest.approx(0.008, abs=3e-5)


def test_axes_that_turn_with_the_path(follow: Any, here: np.ndarray) -> None:
    h = follow(turns_with_path=True)
    move(h, 250, y=0.02)
    seen = move(h, 1000, s=0.1, y=0.0)
    center = here + [0.0, 0.08, 0.0]
    np.testing.assert_allclose(np.linalg.norm((seen - center)[:, :2], axis=1), 0.075, atol=1e-4)
    assert h.state.degrees[1].position == pytest.approx(0.005, abs=1e-4)


def test_where_the_tool_is_slowed_it_stays_on_the_path(follow: Any, here: np.ndarray) -> None:
    h = follow()
    move(h, 300, s=0.1)
    arm = h.part("arm")
    arm.velocity_limit[:] = 0.5 * np.abs(arm.commanded_velocity).max()
    before = way(h)
    seen = move(h, 1000, s=0.1)
    assert h.state.slowed < 0.9 and 0.01 < way(h) - before < 0.095
    np.testing.assert_allclose(np.linalg.norm((seen - here - [0.0, 0.08, 0.0])[:, :2], axis=1), 0.08, atol=5e-5)


def test_it_takes_over_a_moving_tool_and_splits_its_motion(follow: Any) -> None:
    h = follow()
    move(h, 400, s=0.1, z=-0.02)
    before = way(h)
    started(h)  # anew, from the motion: it comes to rest
    assert way(h) == pytest.approx(before + 1e-4, abs=2e-6)
    assert h.state.degrees[6].motion_velocity == pytest.approx(0.1, rel=0.01)
    assert h.state.degrees[2].motion_velocity == pytest.approx(-0.02, rel=0.01)
    for i in (0, 1):
        assert abs(h.state.degrees[i].motion_velocity) < 1e-3, "the curvature is no motion beside the path"


def test_it_begins_where_the_path_is_nearest(follow: Any, here: np.ndarray) -> None:
    h = follow(away=tuple(HALF_CIRCLE[0] - HALF_CIRCLE[6]), start_tolerance=1e-3)
    assert way(h) == pytest.approx(0.04 * np.pi, abs=1e-5)


def test_before_the_path_it_goes_on_straight_towards_it(follow: Any) -> None:
    h = follow(away=(0.005, 0.0, 0.0))
    s = h.state.degrees[6]
    assert s.commanded_position == pytest.approx(-0.005, abs=1e-5) and s.position_lower == s.commanded_position
    assert abs(h.state.offset_x) < 1e-5
    move(h, 200, s=0.1)
    assert way(h) == pytest.approx(0.015, abs=1e-5) and s.position_lower == 0.0


def test_new_points_while_it_moves_are_followed_without_a_jump(follow: Any, here: np.ndarray) -> None:
    h = follow()
    seen = [move(h, 400, s=0.1, z=-0.01)]
    ahead = seen[0][-1] + [0.0, 0.0, 0.003]
    direction = seen[0][-1] - seen[0][-2]
    direction[2] = 0.0
    h.set_parameters(points=np.concatenate((ahead, ahead + 0.1 * direction / np.linalg.norm(direction))))
    seen.append(move(h, 500, s=0.1, z=0.0))
    assert np.linalg.norm(np.diff(np.concatenate(seen), axis=0), axis=1).max() < 1.02e-4
    assert seen[1][-1] - seen[0][-1] == pytest.approx(0.05 * direction / np.linalg.norm(direction), abs=1e-4)
    assert way(h) == pytest.approx(0.05, abs=1e-4)


def test_too_far_from_the_path_the_start_fails(harness: Harness, here: np.ndarray) -> None:
    h = harness(GovernPath, compiled=True, points=(HALF_CIRCLE + here + [0.0, 0.0, 0.02]).ravel())
    h.start()
    assert h.step() == Status.START_TOO_FAR and h.state.start_distance == pytest.approx(0.02)


def test_points_in_the_frame_of_the_entry_turned_by_a_heading(harness: Harness, here: np.ndarray) -> None:
    points = [0.0, 0.0, 0.0, 0.1, 0.0, 0.0]
    straight, turned = (harness(GovernPath, compiled=True, points=points, frame="entry", heading=a) for a in (0.0, 0.7))
    ways = []
    for h in (straight, turned):
        ways.append(move(started(h), 500, s=0.1)[-1] - here)
    assert np.linalg.norm(ways[0]) == pytest.approx(0.05, abs=1e-5)
    assert float(ways[0] @ ways[1]) / 0.05**2 == pytest.approx(np.cos(0.7), abs=1e-3)


def test_done_within_a_tenth_of_a_millimetre(harness: Harness) -> None:
    h = harness(GovernPath, compiled=True, points=[0.0, 0.0, 0.0, 0.05, 0.0, 0.0], frame="entry")
    move(started(h), 495, s=0.1)
    assert h.state.is_done == 0.0
    move(h, 5, s=0.1)
    assert h.state.is_done == 1.0


def test_laws_are_checked_against_the_path() -> None:
    slow = {"linear_acceleration": 0.02, "ramp_time": 0.1}
    h = ActionHarness(GovernPath, parameters={"points": HALF_CIRCLE.ravel(), **slow})
    limits: Any = np.zeros(7, degree_dtype)
    h.action.prepare_degrees(h.params, limits)
    assert limits[6]["velocity_limit"] == pytest.approx(np.sqrt(0.02 * 0.08), rel=0.1), "v^2 / r"
    assert limits[6]["position_upper"] == pytest.approx(0.08 * np.pi, rel=1e-3) and limits[6]["position_lower"] == 0.0
    assert limits[6]["acceleration_limit"] == 0.02 and limits[2]["velocity_limit"] == 0.5


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, "govern_path of 'arm'; expected either `points`, or `spiral_radius` and `spiral_pitch`; got none of them"),
        ({"spiral_pitch": 0.001}, "got spiral_pitch"),
        ({"points": [0.0] * 6, "spiral_pitch": 0.001, "spiral_radius": 0.01}, "got points, spiral_pitch, spiral_rad"),
        ({"points": [0.0, 0.1, 0.2]}, "points; expected x y z of at least two points; got 3 numbers"),
        ({"points": [0.0] * 7}, "got 7 numbers"),
        (
            {"spiral_pitch": 0.001, "spiral_radius": 0.1},
            "spiral_radius / spiral_pitch; expected 1 to 40 turns; got 100",
        ),
    ],
)
def test_a_path_that_is_none_is_refused(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(DefinitionError, match=text.replace("`", ".")):
        ActionHarness(GovernPath, parameters=parameters)
