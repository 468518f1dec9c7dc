"""act_on_object: press, hold, wipe with a force that stays within bounds, and come back."""

from __future__ import annotations

import math
from typing import Any

import pytest
from library.bench_run import place_object, run

from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

PRESS: dict[str, Any] = {"speed": 0.02, "force": 10.0, "hold_time": 0.1}


class Push:
    """[N] how hard the hand pushes down in each state, smallest and largest."""

    def __init__(self) -> None:
        self.range: dict[str, tuple[float, float]] = {}
        self._weight = math.nan

    def __call__(self, cell: LockstepCell) -> None:
        force = float(cell.part("wrist").wrench[2])  # along z of the tool, which points down
        state = cell.active("arm")
        if state == "ready":
            self._weight = force
        push = self._weight - force
        low, high = self.range.get(state, (push, push))
        self.range[state] = (min(low, push), max(high, push))


def test_it_presses_with_the_force_and_comes_back_with_the_same_bits_twice(simulator: str) -> None:
    push = Push()
    first = run("act_on_object", each_tick=push, **PRESS)
    assert first.exit == "done" and first.states == ["ready", "approach", "press", "hold", "retreat", "acted"]
    assert push.range["hold"][0] > 9.0 and push.range["hold"][1] < 13.0
    assert first.peak < 15.0
    assert first.tool == pytest.approx([0.48, 0.0, 0.1275], abs=1e-3), "20 mm above where it pressed"
    assert run("act_on_object", **PRESS).digest == first.digest


def tilt_pad(cell: LockstepCell) -> None:
    """The pad under the tool, sloping down along world x by 3 degrees."""
    half = math.radians(1.5)
    place_object(cell, "pad", (0.5, 0.0, 0.098), (0.0, math.sin(half), 0.0, math.cos(half)))


def test_it_wipes_over_a_slope_and_the_force_stays_within_its_bounds(simulator: str) -> None:
    push = Push()
    outcome = run("act_on_object", prepare=tilt_pad, each_tick=push, stroke=0.04, wipe_speed=0.02, **PRESS)
    assert outcome.exit == "done" and "wipe_harder" in outcome.states
    assert outcome.values["watch.x"] == pytest.approx(0.04, abs=2e-3)
    wiping = [push.range[s] for s in ("wipe", "wipe_harder", "wipe_softer") if s in push.range]
    assert min(low for low, _ in wiping) > 4.0 and max(high for _, high in wiping) < 16.0
    assert outcome.peak < 25.0


def test_with_nothing_to_touch_it_says_so() -> None:
    outcome = run("act_on_object", reach=0.01, **PRESS)
    assert outcome.exit == "missed" and outcome.states == ["ready", "approach", "missed"]


def test_too_much_force_too_long_too_deep() -> None:
    outcome = run("act_on_object", speed=0.04, force=50.0, max_force=20.0)
    assert outcome.exit == "failed" and 20.0 < outcome.peak < 40.0
    assert run("act_on_object", max_time=0.3, **PRESS).exit == "failed"


def test_an_object_that_gives_way_is_too_deep_or_gone() -> None:
    def pull_away(cell: LockstepCell) -> None:
        if cell.active("arm") == "press":
            place_object(cell, "table", (0.0, 0.0, -2.0))

    outcome = run("act_on_object", each_tick=pull_away, **PRESS)
    assert outcome.exit == "missed" and outcome.states[-2:] == ["press", "missed"]


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(DefinitionError, match="'high': out of range; expected 1 to 5; got 0.5"):
        run("act_on_object", high=0.5)
    with pytest.raises(DefinitionError, match="unit"):
        run("act_on_object", force={"value": 1.0, "unit": "kg"})
