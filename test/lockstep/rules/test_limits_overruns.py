"""Rule L15 of docs/semantics: what missed deadlines lead to, by policy. The misses are injected, without a clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rules.changed_workcell import changed_workcell

from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import OperationalState


def cell_with(folder: Path, **overruns: Any) -> LockstepCell:
    cell = LockstepCell(changed_workcell(folder, {"overruns": overruns}))
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.2))
    session.start("a")
    cell.step(100)
    return cell


def miss(cell: LockstepCell, count: int) -> int:
    cell.executor.miss_deadlines(count)
    return cell.step()


def misses(cell: LockstepCell) -> int:
    return int(cell.executor.channel.memory.timing.deadline_misses)


def test_L15_policy_count_only_counts(tmp_path: Path) -> None:
    with cell_with(tmp_path, policy="count", limit=2) as cell:
        for _ in range(20):
            miss(cell, 5)
        assert misses(cell) == 100 and not cell.kinds("overrun", "part_faulted")
        assert cell.executor.overrun_policy == "count"


def test_L15_policy_warn_reports_at_most_once_in_a_second_with_how_many(tmp_path: Path) -> None:
    with cell_with(tmp_path, policy="warn", limit=2) as cell:
        first = miss(cell, 3)
        cell.step(10)
        for _ in range(4):
            miss(cell, 2)
            cell.step(100)
        assert [(e.tick, e.reason) for e in cell.kinds("overrun")] == [
            (first, "3 deadlines missed since the last report")
        ]
        cell.step(1000)
        assert [(e.tick, e.reason) for e in cell.kinds("overrun")][1:] == [
            (first + 1000, "8 deadlines missed since the last report")
        ]
        cell.step(3000)
        assert len(cell.kinds("overrun")) == 2 and misses(cell) == 11 and not cell.kinds("part_faulted")
        last = miss(cell, 1)
        assert cell.kinds("overrun")[-1].tick == last


def test_L15_policy_fault_faults_all_enabled_parts_when_too_many_fall_into_the_window(tmp_path: Path) -> None:
    with cell_with(tmp_path, policy="fault", limit=3, window=0.1) as cell:
        cell.server.set_motion(["tool"], "disable")
        miss(cell, 2)
        cell.step(98)
        assert not cell.kinds("part_faulted")
        tick = miss(cell, 1)
        faults = {e.part: (e.tick, e.reason) for e in cell.kinds("part_faulted")}
        assert faults["left"] == faults["right"] == (tick, "the loop missed too many deadlines")
        assert "tool" not in faults
        assert cell.kinds("overrun")[-1].tick == tick, "it is said why"
        state = OperationalState(int(cell.part("tool").operational_state))
        assert state == OperationalState.DISABLED
        cell.step(200)
        assert cell.part("left").at_rest == 1.0


def test_L15_misses_that_lie_apart_do_not_fault(tmp_path: Path) -> None:
    with cell_with(tmp_path, policy="fault", limit=3, window=0.1) as cell:
        for _ in range(20):
            miss(cell, 1)
            cell.step(49)  # never three within 100 ticks
        assert not cell.kinds("part_faulted") and misses(cell) == 20


def test_L15_one_long_miss_counts_as_all_its_periods(tmp_path: Path) -> None:
    with cell_with(tmp_path, policy="fault", limit=10, window=1.0) as cell:
        tick = miss(cell, 25)
        assert {e.tick for e in cell.kinds("part_faulted")} == {tick}
        # afterwards the count restarts
        cell.server.set_motion([], "clear_faults")
        cell.server.set_motion([], "enable")
        cell.step()
        miss(cell, 9)
        assert len({e.tick for e in cell.kinds("part_faulted")}) == 1
        miss(cell, 1)
        assert len({e.tick for e in cell.kinds("part_faulted")}) == 2


@pytest.mark.parametrize("policy", ["sometimes", "FAULT"])
def test_an_unknown_policy_is_refused(tmp_path: Path, policy: str) -> None:
    with pytest.raises(Exception, match="overruns.*policy"):
        changed_workcell(tmp_path, {"overruns": {"policy": policy}})
