"""Straight lines with smooth curves between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.motion_group.path import blended_path

from .conftest import positions


@settings(max_examples=tries(25, whole=100), deadline=None, derandomize=True)
@given(st.lists(positions(), min_size=3, max_size=6), st.floats(1e-4, 1.0))
def test_it_passes_near_each_point_and_bends_smoothly(points, blend):
    path = blended_path(np.array(points), blend)
    if path is None:
        assert np.ptp(points, axis=0).max() < 1e-8
        return
    s = path.curve.x
    np.testing.assert_allclose(path.curve(s[[0, -1]]), [points[0], points[-1]], atol=2e-9)
    middle = (s[1:-1:2] + s[2:-1:2]) / 2.0  # of the curves: each belongs to one point, in their order
    nearest = np.abs(path.curve(middle)[:, None] - np.array(points)).max(axis=2).min(axis=1)
    assert np.all(nearest <= blend * (1.0 + 1e-6) + 1e-9)
    ends = s[1:-1]
    for order in range(3):
        before, after = (path.curve(np.nextafter(ends, side), order) for side in (-np.inf, np.inf))
        scale = np.repeat(1.0 / np.diff(s)[1::2], 2)[:, None] ** max(order - 1, 0)
        assert np.all(np.abs(before - after) <= 1e-9 * (1.0 + scale**2))
    dense = path.curve(np.linspace(s[0], s[-1], 500))
    assert np.all(dense >= np.min(points, axis=0) - 1e-9) and np.all(dense <= np.max(points, axis=0) + 1e-9)


def test_a_curve_uses_its_whole_distance_if_the_lines_are_long_enough():
    points = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]])
    path = blended_path(points, 0.1)
    assert path is not None
    nearest = np.abs(path.curve(np.linspace(0.0, path.curve.x[-1], 10_001)) - points[1]).max(axis=1).min()
    assert nearest == pytest.approx(0.1, abs=1e-6)
    # 16/3 of the distance before and behind the corner, which turns each joint by 1
    assert path.blend_lengths == pytest.approx([2.0 * 16.0 / 3.0 * 0.1])


def test_points_that_are_the_same_are_one():
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1e-12], [1.0, 1.0]])
    path = blended_path(points, 0.1)
    assert path is not None and len(path.tangents) == 2
    assert blended_path(points[:2], 0.1) is None
