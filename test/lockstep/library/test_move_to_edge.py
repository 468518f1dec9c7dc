"""move_to_edge: its two exits, a drop-off and a collision, lead to two states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from library.bench_run import place_object, run

from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

EDGE = 0.66
"""[m] x of the table's edge; the rangefinder is 0.06 m before the tool."""


def test_a_drop_off_leads_to_one_state_with_the_same_bits_twice() -> None:
    first = run("move_to_edge", speed=0.1)
    assert first.exit == "dropped_off" and first.states == ["ready", "advance", "dropped_off"]
    assert first.tool[0] + 0.06 == pytest.approx(EDGE, abs=0.005), "it has braked from 0.1 m/s"
    assert first.values["surface.drop"] == pytest.approx(0.1, abs=1e-3), "the floor is 0.1 m below the table"
    assert run("move_to_edge", speed=0.1).digest == first.digest


def test_a_collision_leads_to_the_other_state(simulator: str) -> None:
    outcome = run("move_to_edge", heading=math.pi / 2, speed=0.1)
    assert outcome.exit == "collided" and outcome.states == ["ready", "advance", "collided"]
    assert outcome.tool[:2] == pytest.approx([0.48, 0.337], abs=2e-3), "at the wall y = 0.36, half a finger before it"
    assert outcome.peak < 25.0


def test_with_neither_it_gives_up_after_its_way() -> None:
    outcome = run("move_to_edge", max_way=0.03)
    assert outcome.exit == "not_found" and outcome.states[-1] == "at_the_end"
    assert outcome.tool[0] == pytest.approx(0.51, abs=2e-3)


def test_too_much_force_or_time_is_a_failure() -> None:
    outcome = run("move_to_edge", heading=math.pi / 2, speed=0.2, force=200.0, max_force=10.0)
    assert outcome.exit == "failed" and outcome.peak < 80.0
    assert run("move_to_edge", max_time=0.2).exit == "failed"


def test_without_a_surface_below_it_does_not_set_out() -> None:
    def take_away(cell: LockstepCell) -> None:
        for name in ("table", "floor"):
            place_object(cell, name, (0.0, 0.0, -3.0))

    outcome = run("move_to_edge", prepare=take_away)
    assert outcome.exit == "failed" and outcome.states == ["ready", "failed"]
    assert np.allclose(outcome.tool, [0.48, 0.0, 0.122], atol=1e-3)


def test_a_part_of_the_wrong_kind_or_an_unknown_one_is_refused() -> None:
    with pytest.raises(DefinitionError, match="rangefinder"):
        run("move_to_edge", parts={"below": "wrist"})
    with pytest.raises(DefinitionError, match="did you mean 'below'"):
        run("move_to_edge", parts={"belov": "below"})
    with pytest.raises(DefinitionError, match="parameter 'drop': out of range; expected 0.002 to 1 m; got 0"):
        run("move_to_edge", drop=0.0)
