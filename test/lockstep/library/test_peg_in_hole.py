"""peg_in_hole: a spiral search with compliance, the drop, and the insertion, in one state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library.bench_run import MARGIN, Outcome, object_position, place_object, run

from robot_rt_control.model.workcell.simulators import default_simulator
from robot_rt_control.testing.lockstep_cell import LockstepCell

PEG = Path(__file__).parents[3] / "config" / "peg.yaml"
BLOCK = ("base", "ahead", "behind", "left", "right")
HOLE = np.array([0.503, -0.148])
"""[m] Its middle; the peg starts above (0.5, -0.15)."""
HALF, RADIUS = 0.0105, 0.009
"""[m] half the width of the hole; the peg's radius without the simulator's margin."""


def insert(move: tuple[float, float] = (0.0, 0.0), **given: Any) -> Outcome:
    """Run the program, with the hole moved by this [m]."""

    def prepare(cell: LockstepCell) -> None:
        for name in BLOCK:
            x, y, z = object_position(cell, name)
            place_object(cell, name, (x + move[0], y + move[1], z))

    return run("peg_in_hole", workcell=PEG, prepare=prepare, at_most=30_000, **given)


def test_the_peg_is_found_its_hole_and_inserted(simulator: str) -> None:
    outcome = insert()
    assert outcome.exit == "inserted" and outcome.states == ["ready", "approach", "search", "in_the_hole"]
    assert outcome.peak < 18.0 and outcome.values["watch.peak"] < 18.0
    assert np.abs(outcome.tool[:2] - HOLE).max() < HALF - RADIUS - MARGIN[simulator] + 2e-4
    assert outcome.tool[2] < 0.19 - 0.02
    found = [
        tick
        for tick, text in outcome.changes
        if text in ("s: spiral → in_hole", "x: spiral → soft", "y: spiral → soft")
    ]
    assert len(found) >= 3 and found[0] == found[1] == found[2], "in one tick"
    assert outcome.ticks < 12_000
    assert insert().digest == outcome.digest


def test_wherever_it_is_within_the_radius() -> None:
    place = (-0.005, -0.003)
    outcome = insert(place)
    assert outcome.exit == "inserted" and outcome.peak < 18.0
    clearance = HALF - RADIUS - MARGIN[default_simulator()]
    assert np.abs(outcome.tool[:2] - HOLE - place).max() < clearance + 2e-4


@pytest.mark.long
def test_without_a_hole_within_the_radius_it_gives_up() -> None:
    outcome = insert((0.01, 0.0), radius=0.003)
    assert outcome.exit == "not_found" and outcome.states == ["ready", "approach", "search", "at_the_end"]
    assert outcome.peak < 25.0, "[N] the surface has seams between the boxes"


def test_nothing_within_reach_is_not_found() -> None:
    outcome = insert(reach=0.005)
    assert outcome.exit == "not_found" and outcome.states[-2:] == ["approach", "at_the_end"]


def test_too_much_force_or_time_is_a_failure() -> None:
    outcome = insert(max_force=6.0)
    assert outcome.exit == "failed" and 6.0 < outcome.values["watch.peak"] < 12.0
    assert insert(max_time=2.0).exit == "failed"
