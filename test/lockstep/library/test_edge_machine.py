"""examples/programs/edge_machine.yaml: figure 2 of document 2, four transitions between three states in one program."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from library.bench_run import Outcome, place_object, run

from robot_rt_control.testing.lockstep_cell import LockstepCell

MACHINE = (Path(__file__).parents[3] / "examples" / "programs" / "edge_machine.yaml").read_text()
EDGE, AHEAD = 0.66, 0.06  # [m] x of the table's edge; the rangefinder that looks down is before the tool
FORCE, DROP, TOLERANCE, TURN = 5.0, 0.03, 0.001, -0.8


@dataclass
class Trace:
    """In each tick: the arm's state, what its exits read, and the tool."""

    states: list[str] = field(default_factory=list)
    drops: list[float] = field(default_factory=list)
    pushes: list[float] = field(default_factory=list)
    ways: list[float] = field(default_factory=list)
    returning: list[bool] = field(default_factory=list)
    tool: list[np.ndarray] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)

    def __call__(self, cell: LockstepCell) -> None:
        arm = cell.part("arm")
        (session,) = cell.server.sessions()
        view, actions = cell.view, cell.server.contents(session).actions
        self.states.append(cell.active("arm"))
        self.drops.append(view.action_value(actions["surface"], "drop"))
        self.pushes.append(view.action_value(actions["watch"], "push"))
        self.ways.append(view.action_value(actions["watch"], "y"))
        self.returning.append(view.action_value(actions["C"], "y.strategy") == 3)
        self.tool.append(np.array(arm.tool_position))
        x, y, z, w = arm.tool_orientation
        self.turns.append(math.atan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z)))  # of the tool's x

    def switch(self, before: str, after: str) -> int:
        """The tick in which the one transition from a state to another one happens."""
        pairs = zip(self.states, self.states[1:], strict=False)
        (tick,) = (i + 1 for i, pair in enumerate(pairs) if pair == (before, after))
        return tick

    def where(self, state: str) -> np.ndarray:
        """(n, 3) [m] the tool in all ticks of a state."""
        return np.array([p for p, s in zip(self.tool, self.states, strict=True) if s == state])

    def seen(self) -> np.ndarray:
        """(n,) [m] x of the point on which the rangefinder looks down, in all ticks of B after the turn."""
        of_b = np.array([s == "B" for s in self.states])
        points = np.array(self.tool)[:, 0] + AHEAD * np.cos(self.turns)
        return points[of_b & (np.abs(np.array(self.turns) - TURN) < 0.005)]


def explore(x: float, length: float) -> tuple[Outcome, Trace]:
    """A run with the wall, 20 mm thick, at this x; its end is 20 mm to the right of the line."""
    trace = Trace()
    outcome = run(
        MACHINE,
        prepare=lambda cell: place_object(cell, "wall_x", (x, 0.1425, 0.12)),
        each_tick=trace,
        speed=0.1,
        length=length,
    )
    return outcome, trace


def check_end(outcome: Outcome, trace: Trace, length: float) -> None:
    """From B on, and the whole path."""
    assert outcome.exit == "done" and outcome.states[-2:] == ["B", "traced"]
    assert trace.turns[-1] == pytest.approx(TURN, abs=0.005)
    seen = trace.seen()
    along = seen[np.argmax(seen > EDGE) :]
    assert len(along) > 500 and np.abs(along - EDGE).max() < 3e-3, "it travels along the edge"
    assert trace.where("B")[-1][1] == pytest.approx(-length, abs=1e-3)
    assert np.abs(trace.where("A")[:, 1]).max() < 1.2e-3, "A is on its line"
    assert np.abs(np.array(trace.tool)[:, 2] - 0.122).max() < 1e-3, "at its height"
    assert outcome.peak < 20.0


def test_hit_around_line_resumed_and_drop() -> None:
    outcome, trace = explore(0.525, 0.08)
    assert outcome.states == ["ready", "A", "C", "A", "B", "traced"]
    hit, resumed, drop = trace.switch("A", "C"), trace.switch("C", "A"), trace.switch("A", "B")
    assert trace.pushes[hit - 1] <= FORCE < trace.pushes[hit], "in the tick in which it pushes with more"
    assert trace.ways[resumed - 1] <= -TOLERANCE < trace.ways[resumed] and trace.returning[resumed - 1]
    assert trace.drops[drop - 1] <= DROP < trace.drops[drop]
    assert max(trace.pushes[hit + 200 : resumed]) < 2.5, "around the obstacle it touches nothing"
    around = trace.where("C")
    assert around[:, 1].min() == pytest.approx(-0.057, abs=2e-3), "37 mm beside the wall's end"
    assert around[-1][0] == pytest.approx(0.57, abs=2e-3), "35 mm behind the wall"
    check_end(outcome, trace, 0.08)


@pytest.mark.long
def test_a_drop_on_the_way_around() -> None:
    outcome, trace = explore(0.61, 0.13)
    assert outcome.states == ["ready", "A", "C", "B", "traced"]
    hit, drop = trace.switch("A", "C"), trace.switch("C", "B")
    assert trace.pushes[hit - 1] <= FORCE < trace.pushes[hit]
    assert trace.drops[drop - 1] <= DROP < trace.drops[drop]
    assert trace.tool[drop][:2] == pytest.approx([EDGE - AHEAD, -0.057], abs=2e-3), "beside the wall"
    check_end(outcome, trace, 0.13)


def test_to_the_left_there_is_a_wall_at_the_edge() -> None:
    outcome = run(MACHINE, speed=0.1, turn=0.8, along=0.08)
    assert outcome.exit == "collided" and outcome.states == ["ready", "A", "B", "collided"]
    assert outcome.tool[1] < 0.035, "the wall begins there"


def test_without_an_edge_within_its_way_it_gives_up() -> None:
    assert run(MACHINE, max_way=0.02).exit == "not_found"
