"""move_to_corner: figures 3A to 3E of document 2: fast in the open, slow near a wall, pressing once it is touched."""

from __future__ import annotations

from typing import Any

import pytest
from library.bench_run import run

FAST: dict[str, Any] = {"speed": 0.1, "near": 0.045, "acceleration": 0.4}


def test_it_reaches_the_corner_touching_both_walls_with_the_same_bits_twice() -> None:
    first = run("move_to_corner", **FAST)
    assert first.exit == "in_corner"
    assert first.states[:3] == ["ready", "free", "slow_x"], "figure 3A and 3B"
    assert any(state.startswith("on_x") for state in first.states), "figure 3D"
    assert first.states[-1] == "in_corner", "figure 3E"
    assert first.tool[:2] == pytest.approx([0.5895, 0.3375], abs=1e-3), "half a finger from x = 0.60 and y = 0.36"
    assert first.values["watch.push_x"] > 2.0 and first.values["watch.push_y"] > 2.0
    assert first.peak < 20.0
    assert run("move_to_corner", **FAST).digest == first.digest


def test_without_walls_within_its_way_it_gives_up() -> None:
    outcome = run("move_to_corner", max_way=0.05, **FAST)
    assert outcome.exit == "not_found" and outcome.states == ["ready", "free", "at_the_end"]


def test_too_much_force_or_time_is_a_failure() -> None:
    outcome = run("move_to_corner", force=100.0, max_force=10.0, **FAST)
    assert outcome.exit == "failed" and outcome.states[-1] == "failed" and 10.0 < outcome.values["watch.peak"] < 30.0
    assert run("move_to_corner", max_time=0.4, **FAST).exit == "failed"
