"""move_to_corner: figures 3A to 3E and table 1 of document 2: for each axis one list of three laws, in one state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from library.bench_run import Outcome, place_object, run

from robot_rt_control.testing.lockstep_cell import LockstepCell

FAST: dict[str, Any] = {"speed": 0.1, "slow_speed": 0.02, "near": 0.03}


@dataclass
class Trace:
    """In each tick of the state `corner`: the pushes [N] and the measured velocities [m/s] along x and y."""

    pushes: list[tuple[float, float]] = field(default_factory=list)
    velocities: list[tuple[float, float]] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)

    def __call__(self, cell: LockstepCell) -> None:
        if cell.active("arm") == "corner":
            (session,) = (s.id for s in cell.server.sessions())
            self.pushes.append((cell.value(session, "watch.push_x"), cell.value(session, "watch.push_y")))
            self.velocities.append(tuple(cell.part("arm").tool_twist[:2]))
            self.ticks.append(cell.tick)

    def between(self, outcome: Outcome, first: str, last: str) -> slice:
        """The ticks from one change to another one, without those in which the first change settles."""
        tick = {text: tick for tick, text in outcome.changes}
        return slice(tick[first] - self.ticks[0] + 150, tick[last] - self.ticks[0])


def test_table_1_the_laws_of_both_axes_in_one_state() -> None:
    trace = Trace()
    first = run("move_to_corner", each_tick=trace, **FAST)
    assert first.exit == "in_corner" and first.states == ["ready", "corner", "press", "in_corner"]
    assert [text for _, text in first.changes if "→" in text] == [
        "x: velocity → distance",  # figure 3B
        "x: distance → force",  # figure 3D
        "y: velocity → distance",  # figure 3C
    ], "figure 3E is the exit, in the tick in which y would have changed to force"
    pushes, velocities = np.array(trace.pushes), np.array(trace.velocities)
    free = slice(300, trace.between(first, "x: velocity → distance", "x: distance → force").start - 150)
    assert velocities[free] == pytest.approx(0.1, rel=0.01), "figure 3A"
    slow = trace.between(first, "x: velocity → distance", "x: distance → force")
    assert velocities[slow, 0] == pytest.approx(0.02, rel=0.02)
    assert velocities[slow, 1] == pytest.approx(0.1, rel=0.01), "movement along y is unchanged"
    held = trace.between(first, "x: distance → force", "y: velocity → distance")
    assert pushes[held, 0] == pytest.approx(5.0, rel=0.05), "the force is held while it slides along the wall"
    assert velocities[held, 1] == pytest.approx(0.1, rel=0.01)
    assert pushes[-1, 0] > 3.0 and pushes[-1, 1] <= 3.0, "it leaves in the tick in which it touches the second wall"
    assert first.values["watch.push_x"] == pytest.approx(5.0, rel=0.2), "it holds its place, and the force no longer"
    assert first.values["watch.push_y"] == pytest.approx(5.0, rel=0.2)
    assert first.tool[:2] == pytest.approx([0.5895, 0.3375], abs=1e-3), "half a finger from x = 0.60 and y = 0.36"
    assert first.peak < 15.0
    assert run("move_to_corner", **FAST).digest == first.digest


def test_the_other_wall_first() -> None:
    outcome = run(
        "move_to_corner", prepare=lambda cell: place_object(cell, "wall_y", (0.48, 0.09, 0.12)), **FAST
    )  # the wall beside is 7 cm away, the one ahead 10 cm
    assert outcome.exit == "in_corner"
    texts = [text for _, text in outcome.changes if "→" in text]
    assert texts[0] == "y: velocity → distance" and [t for t in texts if "force" in t] == ["y: distance → force"]
    assert outcome.values["watch.push_x"] == pytest.approx(5.0, rel=0.2)
    assert outcome.values["watch.push_y"] == pytest.approx(5.0, rel=0.2)


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
        if taken and not lost and push <= 3.0:
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
