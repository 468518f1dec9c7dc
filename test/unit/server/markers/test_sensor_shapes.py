"""The shapes of measured forces and distances, and of unknown ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.drawing.shape import GREY, RED, ShapeKind
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.server.markers.sensor_shapes import (
    LEAST_FORCE,
    LONGEST_ARROW,
    METRES_PER_NEWTON,
    force_shapes,
    ray_shapes,
)

CONFIG = Path(__file__).parents[4] / "config"


@pytest.fixture(scope="module")
def cell() -> Workcell:
    return load_workcell(CONFIG / "arm7.yaml", "mock")


def test_a_force_is_an_arrow_along_it_and_never_longer_than_what_one_can_see(cell: Workcell) -> None:
    measured = cell.part("wrist").record
    measured.wrench[:] = (3.0, 0.0, -4.0, 1.0, 1.0, 1.0)
    (arrow,) = force_shapes("wrist_frame", measured)
    assert (arrow.namespace, arrow.frame, arrow.kind) == ("contact_force", "wrist_frame", ShapeKind.ARROW)
    assert arrow.points[0] == (0.0, 0.0, 0.0)
    assert arrow.points[1] == pytest.approx(METRES_PER_NEWTON * np.array([3.0, 0.0, -4.0]))
    measured.wrench[:3] = (0.0, 1e4, 0.0)
    assert force_shapes("f", measured)[0].points[1] == pytest.approx((0.0, LONGEST_ARROW, 0.0))


@pytest.mark.parametrize(
    "force", [(0.0, 0.0, 0.0), (0.9 * LEAST_FORCE, 0.0, 0.0), (5.0, math.nan, 0.0), (math.inf, 0.0, 0.0)]
)
def test_a_small_or_unknown_force_has_no_arrow(cell: Workcell, force: tuple[float, float, float]) -> None:
    measured = cell.part("wrist").record
    measured.wrench[:3] = force
    assert force_shapes("wrist_frame", measured) == []


@pytest.mark.parametrize(
    ("distance", "length", "hits"),
    [
        (0.5, 0.5, True),
        (math.inf, 4.0, False),  # nothing within the range
        (math.nan, 4.0, False),
        (-math.inf, 0.02, True),  # something nearer than the range
    ],
)
def test_a_ray_is_red_to_what_it_hits_and_else_grey_over_its_range(
    cell: Workcell, distance: float, length: float, hits: bool
) -> None:
    part = cell.part("rangefinder")
    measured = part.record
    measured.distance = distance
    line, *dot = ray_shapes(part, "rangefinder_frame", measured)
    assert (line.frame, line.points) == ("rangefinder_frame", ((0.0, 0.0, 0.0), (length, 0.0, 0.0)))
    assert line.color == (RED if hits else GREY)
    expected = [(ShapeKind.SPHERE, ((length, 0.0, 0.0),), RED)] if hits else []
    assert [(d.kind, d.points, d.color) for d in dot] == expected


def test_a_ray_of_unknown_range_is_drawn_only_to_what_it_hits(tmp_path: Path) -> None:
    file = tmp_path / "cell.yaml"
    file.write_text("name: c\nparts: {eye: {kind: rangefinder, device: d, pose: {}}}\ndevices: {d: {mock: {}}}\n")
    eye = load_workcell(file).part("eye")
    measured = eye.record
    assert eye.range is None
    for distance, n in ((math.nan, 0), (math.inf, 0), (1.5, 2)):
        measured.distance = distance
        assert len(ray_shapes(eye, "eye_frame", measured)) == n
