"""move_to_corner: figures 3A to 3E and table 1 of document 2: for each axis one list of three laws, in one state."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library.bench_run import Outcome, place_object, run
from library.corner_bench import corner

from robot_rt_control.testing.lockstep_cell import LockstepCell

FAST: dict[str, Any] = {"speed": 0.1, "slow_speed": 0.02, "near": 0.03}


@dataclass
class Trace:
    """In each tick of the state `corner` or `settle`: the pushes [N] and measured velocities [m/s] along x and y."""

    pushes: list[tuple[float, float]] = field(default_factory=list)
    velocities: list[tuple[float, float]] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)

    def __call__(self, cell: LockstepCell) -> None:
        if cell.active("arm") in ("corner", "settle"):
            (session,) = (s.id for s in cell.server.sessions())
            self.pushes.append((cell.value(session, "watch.push_x"), cell.value(session, "watch.push_y")))
            self.velocities.append(tuple(cell.part("arm").tool_twist[:2]))
            self.ticks.append(cell.tick)

    def between(self, outcome: Outcome, first: str, last: str) -> slice:
        """The ticks from one change to another one, without those in which the first change settles."""
        tick = {text: tick for tick, text in outcome.changes}
        return slice(tick[first] - self.ticks[0] + 300, tick[last] - self.ticks[0])


def test_table_1_the_laws_of_both_axes_in_one_state() -> None:
    trace = Trace()
    first = run("move_to_corner", each_tick=trace, **FAST)
    assert first.exit == "in_corner" and first.states[:3] == ["ready", "corner", "settle"]
    assert first.states[-2:] == ["settle", "in_corner"]
    assert [text for _, text in first.changes if "→" in text] == [
        "x: velocity → distance",  # figure 3B
        "x: distance → force",  # figure 3D
        "y: velocity → distance",  # figure 3C
        "y: distance → force",  # figure 3E
    ]
    pushes, velocities = np.array(trace.pushes), np.array(trace.velocities)
    free = slice(300, trace.between(first, "x: velocity → distance", "x: distance → force").start - 300)
    assert velocities[free] == pytest.approx(0.1, rel=0.01), "figure 3A"
    slow = trace.between(first, "x: velocity → distance", "x: distance → force")
    assert velocities[slow, 0] == pytest.approx(0.02, rel=0.02)
    assert velocities[slow, 1] == pytest.approx(0.1, rel=0.01), "movement along y is unchanged"
    held = trace.between(first, "x: distance → force", "y: velocity → distance")
    assert pushes[held, 0][400:] == pytest.approx(5.0, rel=0.05), "the force is held while it slides along the wall"
    assert velocities[held, 1] == pytest.approx(0.1, rel=0.01)
    assert pushes[-500:] == pytest.approx(5.0, rel=0.05), "it leaves when both forces have been right for half a second"
    assert first.values["watch.push_x"] == pytest.approx(5.0, rel=0.05), "it holds its place, and so the force"
    assert first.values["watch.push_y"] == pytest.approx(5.0, rel=0.05)
    assert first.tool[:2] == pytest.approx([0.5895, 0.3375], abs=1e-3), "half a finger from x = 0.60 and y = 0.36"
    assert first.peak < 15.0
    assert run("move_to_corner", **FAST).digest == first.digest


@pytest.mark.parametrize("gaps", [(0.10, 0.04), (0.10, 0.07), (0.04, 0.10), (0.06, 0.06)])
def test_in_whatever_order_it_meets_the_walls_peaks_are_bounded_and_the_force_is_held(
    gaps: tuple[float, float], tmp_path: Path
) -> None:
    """Where the tool leans on one wall, the rangefinder sees the other one, also at the corner's very end."""
    outcome = run("move_to_corner", workcell=corner(tmp_path, gaps), settle=1.0, **FAST)
    assert outcome.exit == "in_corner"
    first = next(text for _, text in outcome.changes if "→ force" in text)
    assert gaps[0] == gaps[1] or first == f"{'x' if gaps[0] < gaps[1] else 'y'}: distance → force"
    assert outcome.values["watch.push_x"] == pytest.approx(5.0, rel=0.05)
    assert outcome.values["watch.push_y"] == pytest.approx(5.0, rel=0.05)
    assert outcome.peak < 15.0


STARTS = [(0.10, 0.04), (0.10, 0.07), (0.04, 0.10), (0.06, 0.06), (0.02, 0.05), (0.05, 0.02), (0.08, 0.12),
          (0.12, 0.08), (0.02, 0.02), (0.11, 0.30)]  # fmt: skip
"""[m] From the fingers to the walls, see `corner`."""


@pytest.mark.long
@pytest.mark.parametrize("stiffness", [2e3, 1e4, 5e4])
@pytest.mark.parametrize("friction", [0.0, 0.2, 0.5, 0.8])
def test_the_corner_is_held_for_ten_seconds_over_friction_and_stiffness(
    friction: float, stiffness: float, tmp_path: Path
) -> None:
    """It ends only if both forces have been within 5 % in each of 10 000 ticks."""
    for gaps in STARTS:
        file = corner(tmp_path, gaps, friction=friction, stiffness=stiffness)
        outcome = run("move_to_corner", workcell=file, settle=10.0, at_most=60_000)
        assert outcome.exit == "in_corner", gaps


def test_where_the_first_wall_is_taken_away_velocity_governs_again_in_that_tick() -> None:
    taken: list[int] = []
    lost: list[int] = []

    def take_away(cell: LockstepCell) -> None:
        (session,) = (s.id for s in cell.server.sessions())
        if cell.active("arm") != "corner":
            return
        push = cell.value(session, "watch.push_x")
        if not taken and push > 4.9 and cell.part("arm").tool_position[1] > 0.15:
            place_object(cell, "wall_x", (1.5, 1.5, 0.12))
            taken.append(cell.tick)
        if taken and not lost and push <= 4.5:
            lost.append(cell.tick)

    outcome = run("move_to_corner", each_tick=take_away, max_way=0.3, **FAST)
    assert outcome.exit == "not_found", "there is no corner any more"
    after = [(tick, text) for tick, text in outcome.changes if taken and tick > taken[0]]
    assert after[0] == (lost[0], "x: force → velocity") and lost[0] - taken[0] < 20


def test_without_walls_within_its_way_it_gives_up() -> None:
    outcome = run("move_to_corner", max_way=0.05, **FAST)
    assert outcome.exit == "not_found" and outcome.states == ["ready", "corner", "at_the_end"]


def test_too_much_force_or_time_is_a_failure() -> None:
    outcome = run("move_to_corner", force=100.0, max_force=10.0, **FAST)
    assert outcome.exit == "failed" and outcome.states[-1] == "failed" and 10.0 < outcome.values["watch.peak"] < 30.0
    assert run("move_to_corner", max_time=0.4, **FAST).exit == "failed"
