"""Any tick of a recording, also of one that is cut off, damaged, or lacks ticks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_recording import URDF, write_recording

from robot_rt_control.recording.tick_index import TickIndex
from robot_rt_control.recording.tick_reader import TickFile, read_event
from robot_rt_control.vocabulary.errors import RobotControlError

TICKS = 3000
"""Some chunks."""
ZSTD = b"\x28\xb5\x2f\xfd"
"""Begin of what a chunk holds."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "whole.mcap"
    events = [(tick, "action_started", {"part": "arm", "current_action": "go"}) for tick in (7, 8, 2990)]
    return write_recording(path, TICKS, first=5, without=range(1000, 1300), events=events)


def indexed(path: Path) -> TickIndex:
    return TickIndex(TickFile(path))


def all_rows(path: Path) -> np.ndarray:
    return np.concatenate(list(TickFile(path).rows()))


def test_any_range_has_the_rows_that_a_reader_from_the_begin_finds(whole: Path) -> None:
    index, rows = indexed(whole), all_rows(whole)
    assert (index.first, index.last, index.problems) == (5, TICKS + 4, [])
    assert np.array_equal(index.rows(5, TICKS + 4), rows)
    random = np.random.default_rng(1)
    for _ in range(50):
        first, last = sorted(random.integers(0, TICKS + 50, 2).tolist())
        wanted = rows[(rows[:, 0] >= first) & (rows[:, 0] <= last)]
        assert np.array_equal(index.rows(first, last), wanted)
    assert len(index.rows(1000, 1299)) == 0 and index.rows(990, 1310)[:, 0].tolist() == [*range(990, 1000),
                                                                                        *range(1300, 1311)]  # fmt: skip
    assert len(index.rows(9, 8)) == len(index.rows(TICKS + 5, 2 * TICKS)) == 0
    index.close()
    index.close()


def test_events_descriptions_and_the_end_come_back(whole: Path) -> None:
    index = indexed(whole)
    assert [(e.tick, e.kind, e.part, e.current_action) for e in map(read_event, index.events())] == [
        (tick, "action_started", "arm", "go") for tick in (7, 8, 2990)
    ]
    assert list(index.events()) == list(TickFile(whole).events())
    assert index.descriptions() == [(5, URDF)]
    assert index.end == TickFile(whole).end() and index.end["reason"] == "stopped"


def test_few_ticks_are_read_without_the_rest(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    data = TickIndex._data

    def noted(self: TickIndex, chunk: Any) -> bytes:
        read.append(chunk.start)
        return data(self, chunk)

    monkeypatch.setattr(TickIndex, "_data", noted)
    index = indexed(whole)
    assert len(index._chunks) > 4
    opened = len(set(read))
    assert opened <= 3, "the channels, the first tick and the last one"
    index.rows(index.first, index.first + 3)
    assert len(set(read)) <= opened + len(index._chunks).bit_length(), "it is searched by halves"
    assert len(set(read)) < len(index._chunks)


def test_H4_a_file_that_was_cut_off_anywhere_has_its_whole_chunks(whole: Path, tmp_path: Path) -> None:
    data, rows = whole.read_bytes(), all_rows(whole)
    read = []
    for part in (0.3, 0.5, 0.77):
        path = tmp_path / f"{part}.mcap"
        path.write_bytes(data[: int(part * len(data))])
        index = indexed(path)
        found = index.rows(0, 2 * TICKS)
        assert np.array_equal(found, rows[: len(found)]) and np.array_equal(found, all_rows(path))
        assert "has no end" in " ".join(index.problems) and index.end == {}
        read.append(len(found))
    assert read == sorted(read) and 0 < read[0] < read[-1]
    path = tmp_path / "summary.mcap"
    path.write_bytes(data[:-100])  # of the summary at its end
    assert indexed(path).problems == [] and np.array_equal(indexed(path).rows(0, 2 * TICKS), rows)


def test_a_file_without_its_writers_end_is_read(tmp_path: Path) -> None:
    index = indexed(write_recording(tmp_path / "killed.mcap", TICKS, ended=False))
    assert index.first == 1 and 1000 < index.last < TICKS and "has no end" in index.problems[0]


def test_a_damaged_chunk_is_left_out_and_named(whole: Path, tmp_path: Path) -> None:
    data, rows = bytearray(whole.read_bytes()), all_rows(whole)
    second = data.find(ZSTD, data.find(ZSTD) + 1)
    data[second + 200] ^= 0xFF
    path = tmp_path / "damaged.mcap"
    path.write_bytes(data)
    index = indexed(path)
    found = index.rows(0, 2 * TICKS)
    lacks = sorted({*rows[:, 0].tolist()} - {*found[:, 0].tolist()})
    assert 100 < len(lacks) < 1000, "one chunk"
    assert np.array_equal(found, rows[~np.isin(rows[:, 0], lacks)])
    assert index.problems == [f"Ticks are missing: a chunk of the file is damaged after tick {lacks[0] - 1}."]


def test_a_record_of_another_kind_ends_what_can_be_read(whole: Path, tmp_path: Path) -> None:
    index = indexed(whole)
    place = index._chunks[3].start - 8 - len("zstd") - 32 - 9
    data = bytearray(whole.read_bytes())
    assert data[place] == 6, "a chunk"
    data[place] = 0xEE
    path = tmp_path / "other.mcap"
    path.write_bytes(data)
    index = indexed(path)
    assert index.problems == [f"The file is damaged at byte {place}: what follows cannot be shown."]
    found = index.rows(0, 2 * TICKS)
    assert 0 < len(found) < TICKS - 300 and np.array_equal(found, all_rows(whole)[: len(found)])


def test_a_recording_without_a_tick_is_refused(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "empty.mcap", 0)
    with pytest.raises(RobotControlError, match=r"empty\.mcap; expected ticks that can be read; got none"):
        indexed(path)
