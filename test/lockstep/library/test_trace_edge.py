"""trace_edge: the tool finds an edge and follows it, in and out across it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from library.bench_run import Outcome, run

from robot_rt_control.testing.lockstep_cell import LockstepCell

EDGE = 0.66 - 0.06
"""[m] x of the tool when the rangefinder, 0.06 m ahead of it, is above the table's edge."""
FAST: dict[str, Any] = {"across": 0.08, "acceleration": 1.0}


class Path:
    """Where the tool was while it followed the edge."""

    def __init__(self) -> None:
        self.points: list[np.ndarray] = []

    def __call__(self, cell: LockstepCell) -> None:
        if cell.active("arm") in ("inward", "outward"):
            self.points.append(np.array(cell.part("arm").tool_position))


def trace(**parameters: Any) -> tuple[Outcome, np.ndarray]:
    path = Path()
    outcome = run("trace_edge", each_tick=path, **{**FAST, **parameters})
    return outcome, np.array(path.points)


def test_it_follows_the_edge_within_millimetres_and_with_the_same_bits_twice() -> None:
    first, path = trace(length=0.15, speed=-0.08)
    assert first.exit == "done" and first.states[:4] == ["ready", "seek", "inward", "outward"]
    assert first.states[-1] == "traced"
    assert first.values["watch.y"] == pytest.approx(-0.15, abs=5e-3)
    assert np.abs(path[:, 0] - EDGE).max() < 0.009 and np.abs(path[400:, 0] - EDGE).max() < 0.006
    assert np.abs(path[:, 2] - 0.122).max() < 1e-3, "at its height"
    assert trace(length=0.15, speed=-0.08)[0].digest == first.digest


def test_where_the_edge_ends_it_stops() -> None:
    outcome, path = trace(length=1.0, speed=-0.2, search_time=0.3)
    assert outcome.exit == "edge_ended" and outcome.states[-1] == "edge_ended"
    assert -0.40 - 0.3 * 0.2 - 0.05 < path[-1, 1] < -0.40, "the table ends at y = -0.40"


def test_a_collision_on_the_way_is_an_exit() -> None:
    outcome, _ = trace(length=0.5, speed=0.05)
    assert outcome.exit == "collided" and outcome.tool[1] < 0.035, "the wall begins at y = 0.035"
    assert outcome.peak < 25.0


def test_no_edge_and_too_long() -> None:
    assert trace(max_way=0.02)[0].exit == "not_found"
    assert trace(max_time=0.6)[0].exit == "failed"
