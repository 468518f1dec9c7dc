"""A smooth curve through points, and the spiral."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.tool_path import (
    PATH_PARAMS,
    PIECES,
    find_direction,
    find_nearest,
    find_point,
    prepare_path,
    spiral,
)
from robot_rt_control.memory.layout import record
from robot_rt_control.vocabulary.errors import DefinitionError

DTYPE = record(
    [(name, *(("f8", given[1:]) if isinstance(given, tuple) else ("f8",))) for name, given in PATH_PARAMS.items()]
)
ARC = np.linspace(0.0, np.pi, 25)
CIRCLE = np.column_stack((0.1 * np.cos(ARC), 0.1 * np.sin(ARC), 0.02 * ARC))


def path(points: Any, acceleration: float = 2.0, jerk: float = 100.0) -> Any:
    params: Any = np.zeros(1, DTYPE).view(np.recarray)[0]
    prepare_path(np.asarray(points, float), acceleration, jerk, params, "x")
    return params


def at(params: Any, s: float) -> np.ndarray:
    point = np.zeros(3)
    find_point(params, s, point)
    return point


def test_it_goes_through_all_points_and_its_parameter_is_the_way() -> None:
    params = path(CIRCLE)
    assert params.length == pytest.approx(np.pi * np.hypot(0.1, 0.02), rel=1e-5)
    ways = np.linspace(0.0, params.length, 2000)
    samples = np.array([at(params, s) for s in ways])
    for point in CIRCLE:
        assert np.linalg.norm(samples - point, axis=1).min() < 1e-4
    assert np.linalg.norm(np.diff(samples, axis=0), axis=1) == pytest.approx(ways[1], rel=1e-4)
    np.testing.assert_allclose(at(params, 0.0), CIRCLE[0], atol=1e-9)
    np.testing.assert_allclose(at(params, params.length), CIRCLE[-1], atol=1e-6)


def test_direction_and_curvature_are_the_derivatives() -> None:
    params, direction, bend = path(CIRCLE), np.zeros(3), np.zeros(3)
    ahead, behind, scratch = np.zeros(3), np.zeros(3), np.zeros(3)
    for s in np.linspace(0.01, params.length - 0.01, 50):
        find_direction(params, s, direction, bend)
        np.testing.assert_allclose((at(params, s + 1e-6) - at(params, s - 1e-6)) / 2e-6, direction, atol=1e-6)
        find_direction(params, s + 1e-6, ahead, scratch)
        find_direction(params, s - 1e-6, behind, scratch)
        np.testing.assert_allclose((ahead - behind) / 2e-6, bend, atol=0.05)
        assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-4)
        assert np.linalg.norm(bend) == pytest.approx(0.1 / (0.1**2 + 0.02**2), rel=0.02), "the curvature of a helix"


def test_before_the_start_it_goes_on_straight() -> None:
    params = path([[0.0, 0.0, 0.0], [0.3, 0.0, 0.4]])
    np.testing.assert_allclose(at(params, -0.01), [-0.006, 0.0, -0.008], atol=1e-12)


def test_its_velocity_keeps_the_limits_of_acceleration_and_jerk() -> None:
    assert path([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]]).path_velocity > 1e3, "a straight line needs no limit"
    curved = path(CIRCLE)
    assert curved.path_velocity == pytest.approx(np.sqrt(2.0 * 0.104), rel=0.05), "v^2 / r"
    assert path(CIRCLE, jerk=1.0).path_velocity == pytest.approx(np.cbrt(1.0 * 0.104**2), rel=0.1), "v^3 / r^2"


def test_the_nearest_place() -> None:
    params = path(CIRCLE)
    found = find_nearest(params, at(params, 0.2) + [0.0, 0.0, 0.01], np.zeros(3))
    assert found == pytest.approx(0.2, abs=0.01)


def test_a_spiral_has_turns_of_its_pitch() -> None:
    points = spiral(0.004, 0.0006)
    r = np.linalg.norm(points, axis=1)
    assert r[0] == 0.0 and r.max() == pytest.approx(0.004, abs=1e-4) and (np.diff(r) > 0.0).all()
    params = path(points)
    assert params.length == pytest.approx(np.pi * 0.004**2 / 0.0006, rel=0.02)
    ways = np.linspace(0.0, params.length, 4000)
    samples = np.array([at(params, s) for s in ways])
    grid = np.stack(np.meshgrid(*[np.linspace(-0.0028, 0.0028, 15)] * 2), -1).reshape(-1, 2)
    grid = grid[np.linalg.norm(grid, axis=1) < 0.0034]
    distances = np.linalg.norm(grid[:, None] - samples[None, :, :2], axis=2).min(axis=1)
    assert distances.max() < 0.55 * 0.0006, "no place within is farther than half a pitch"


def test_what_is_wrong_with_points_is_said() -> None:
    with pytest.raises(DefinitionError, match="x: points 1 and 2; expected a distance of at least 0.01 mm; got 0 mm"):
        path([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.0, 0.0]])
    zigzag = [[0.01 * i, 0.01 * (i % 2), 0.0] for i in range(1500)]
    with pytest.raises(
        DefinitionError, match=f"expected a path that {PIECES} pieces meet within 0.1 mm.*Split the path"
    ):
        path(zigzag)
