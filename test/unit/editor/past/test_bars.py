"""What parts did in recorded ticks, and which are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from written_recording import write_recording

from robot_rt_control.editor.past.bars import bars
from robot_rt_control.editor.past.recorded import Recorded
from robot_rt_control.recording.columns import split_rows

FIRST, LAST = 11, 1010
LOST = {*range(100, 150), 151, *range(1000, 1003)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recording(tmp_path_factory.mktemp("bars") / "a.mcap", LAST - FIRST + 1, first=FIRST, without=LOST)


@pytest.mark.parametrize(
    ("first", "last"), [(0, 5000), (FIRST, LAST), (120, 150), (149, 152), (1000, 1002), (150, 150)]
)
def test_bars_and_gaps_are_those_of_the_ticks(path: Path, first: int, last: int) -> None:
    it = Recorded(path)
    found = bars(it, first, last)
    ticks = set(split_rows(it.index.rows(first, last), it.file.columns)["tick"].tolist())
    it.close()
    within = range(max(first, FIRST), min(last, LAST) + 1)
    assert ticks == set(within) - LOST
    assert [tick for begin, end in found["gaps"] for tick in range(begin, end + 1)] == sorted(set(within) & LOST)
    assert [tick for _, _, begin, end in found["bars"] for tick in range(begin, end + 1)] == sorted(ticks)
    assert {(part, action) for part, action, _, _ in found["bars"]} <= {(0, 0)}, "the eye has none"
    ends = [end for _, _, _, end in found["bars"]]
    assert all(end + 1 in LOST or end == within[-1] for end in ends), "a bar ends at what is missing alone"


def test_bars_follow_the_action_of_each_tick(path: Path) -> None:
    it = Recorded(path)
    numbers = np.array([-1] * 5 + [0] * 40 + [-2] * 44)
    it.action_numbers = lambda identities: numbers[identities]  # type: ignore[method-assign]
    rows = it.index.rows(FIRST, 99).copy()
    place = next(i for i, column in enumerate(it.file.columns) if column.name == "arm.action")
    place = sum(column.width for column in it.file.columns[:place])
    rows[:, place] = np.arange(len(rows))
    it.index.blocks = lambda first, last: iter([rows[:30], rows[30:]])  # type: ignore[method-assign]
    found = bars(it, FIRST, 99)
    it.close()
    assert found["gaps"] == []
    assert [each[1] for each in found["bars"][:84]] == numbers[5:].tolist()
    assert [each[2] for each in found["bars"][:84]] == list(range(FIRST + 5, 100))


def test_nothing_is_said_of_ticks_beside_the_recording(path: Path) -> None:
    it = Recorded(path)
    assert bars(it, LAST + 1, LAST + 9) == bars(it, 0, FIRST - 1) == {"bars": [], "gaps": []}
    it.close()
