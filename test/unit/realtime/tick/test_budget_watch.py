"""Which clock an action's time is taken from, and when it has been far above its budget too often."""

from __future__ import annotations

from typing import Any

import pytest

from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.defaults import FAR_ABOVE_BUDGET, FAR_STRIKES
from robot_rt_control.vocabulary.enums import BudgetPolicy, Status

BUDGET = 1000  # [ns]
FAR = FAR_ABOVE_BUDGET * BUDGET + 1


class Watched:
    """An action in slot 0 whose code takes given times of both clocks."""

    def __init__(self, workcell: Workcell, monkeypatch: pytest.MonkeyPatch) -> None:
        self.twin = interpreted("robot_rt_control.realtime.tick.budget_watch")
        self.w: Any = World(workcell).memory
        self.w.watching, self.w.budget_policy = 1, BudgetPolicy.WARN
        self.w.tables[self.w.active_tables].types[0].budget_ns = BUDGET
        self.wall = self.processor = 0
        monkeypatch.setattr(self.twin, "now_ns", lambda: self.wall)
        monkeypatch.setattr(self.twin, "thread_ns", lambda: self.processor)
        monkeypatch.setattr(self.twin, "begin_event", lambda *_: -1)

    def tick(self, wall: int, processor: int, ticks: int = 1) -> int:
        """One tick, `ticks` after the last one. Returns the status."""
        self.w.tick += ticks
        began = self.twin.begin_timing(self.w, 0)
        self.wall += wall
        self.processor += processor
        self.w.actions_runtime[0].busy_ns = self.twin.elapsed_ns(self.w, 0, began)
        return int(self.twin.judge_budget(self.w, None, 0))


@pytest.fixture
def watched(workcell: Workcell, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(workcell, monkeypatch)


def test_K18_the_first_time_makes_it_suspect_and_then_its_own_time_counts(watched: Watched) -> None:
    found = [watched.tick(FAR, FAR) for _ in range(FAR_STRIKES + 1)]
    assert found == [Status.OK] * FAR_STRIKES + [Status.FAR_ABOVE_BUDGET]


def test_K18_time_in_which_the_system_did_something_else_ends_nothing(watched: Watched) -> None:
    assert all(watched.tick(100 * FAR, BUDGET // 2) == Status.OK for _ in range(1000))
    assert watched.w.actions_runtime[0].suspect == 1
    assert watched.w.actions_runtime[0].busy_ns == BUDGET // 2


def test_K18_ticks_between_do_not_forgive_but_a_minute_does(watched: Watched) -> None:
    far = [watched.tick(FAR, FAR)]
    for _ in range(2):
        far.append(watched.tick(FAR, FAR))
        assert all(watched.tick(1, 1) == Status.OK for _ in range(50))
    watched.w.tick += watched.w.far_window
    far += [watched.tick(FAR, FAR) for _ in range(2)]
    assert far == [Status.OK] * 5
    assert watched.tick(FAR, FAR, 100) == Status.FAR_ABOVE_BUDGET


def test_K18_nothing_is_judged_in_lockstep(watched: Watched) -> None:
    watched.w.watching = 0
    assert all(watched.tick(FAR, FAR) == Status.OK for _ in range(10))
