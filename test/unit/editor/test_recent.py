"""Which runs of blueprints belong to the ticks that are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_rt_control.editor.recent import _MOST_RUNS, Recent
from robot_rt_control.ros.tick_batches import TickBatch, TickNames


def names(version: int) -> TickNames:
    return TickNames(version=version, period=0.001, columns=1, variables={}, actions={}, integers=frozenset({0}))


def ticks(recent: Recent, names: TickNames, *, first: int = 1) -> None:
    rows = np.arange(first, first + 10, dtype=np.int64)[:, None]
    recent.take(TickBatch(version=names.version, rows=rows, action_names={}), names)


def state(**runs: str) -> list[dict[str, Any]]:
    return [{"run": run, "path": path, "state": state} for run, state in runs.items() for path in ("", "a")]


def test_runs_that_went_on_while_ticks_are_kept_are_named() -> None:
    recent, loop = Recent(), names(7)
    recent.saw(state(before="ended", first="runs"), 1)
    assert recent.about() == {"loop": 0, "first": 0, "last": 0, "runs": []}
    ticks(recent, loop)
    recent.saw(state(before="ended", first="ended", second="stands", third="waits"), 1)
    recent.saw(state(third="runs", at_once="ended"), 1)
    about = recent.about(7, 0)
    assert about == {"loop": 7, "first": 1, "last": 10, "runs": ["first", "second", "third", "at_once"]}


def test_a_run_that_began_with_another_executor_is_not_taken_for_one_of_these_ticks() -> None:
    recent = Recent()
    ticks(recent, names(7))
    recent.saw(state(old="runs"), 1)
    assert recent.about()["runs"] == ["old"]
    ticks(recent, names(8))
    recent.saw(state(old="runs"), 1)
    recent.saw(state(old="ended", new="runs"), 1)
    assert recent.about()["runs"] == ["new"]


def test_nothing_is_kept_of_the_runs_once_nobody_looks_back_and_no_more_than_a_number() -> None:
    recent, loop = Recent(), names(7)
    ticks(recent, loop)
    recent.saw(state(a="runs"), 1)
    recent.saw(state(a="ended"), 1)
    recent.forget()
    ticks(recent, loop, first=11)
    assert recent.about()["runs"] == []
    for n in range(_MOST_RUNS + 5):
        recent.saw(state(**{f"r{n}": "runs"}), 1)
    assert recent.about()["runs"] == [f"r{n}" for n in range(5, _MOST_RUNS + 5)]


def test_H18_runs_of_before_are_left_out_if_the_loop_began_anew_while_nobody_looked() -> None:
    recent = Recent()
    recent.saw(state(old="waits"), 5000)
    recent.saw(state(old="waits"), 10)
    ticks(recent, names(7))
    recent.saw(state(old="ended", new="runs"), 30)
    assert recent.about()["runs"] == ["new"]
