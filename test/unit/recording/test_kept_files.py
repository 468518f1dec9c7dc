"""Files that give way to newer ones."""

from __future__ import annotations

import os
from pathlib import Path

from robot_rt_control.recording.kept_files import LOG, RECORDING, KeptFiles, free_path

STEM = "cell_20260101-120000_42"
OTHERS = ["cell_two_20260101-120000_42_001.mcap", "cell_mine.mcap", "cell_1.mcap", "notes.txt"]


def made(folder: Path, *names: str, size: int = 100) -> None:
    """Files, the first one the oldest."""
    for age, name in enumerate(names):
        (folder / name).write_bytes(bytes(size))
        os.utime(folder / name, ns=(10**18 + age, 10**18 + age))


def test_the_oldest_logs_of_this_workcell_give_way_and_nothing_else(tmp_path: Path) -> None:
    logs = [f"{STEM}_000.unfinished", *(f"{STEM}_{n:03d}.mcap" for n in range(1, 5)), f"{STEM}_tick_77.mcap"]
    recordings = [f"{STEM}.mcap", f"{STEM}-2.mcap"]
    made(tmp_path, *OTHERS, *recordings, *logs)
    KeptFiles(folder=tmp_path, name="cell", kind=LOG, files=2).give_way(tmp_path / logs[-1])
    assert sorted(os.listdir(tmp_path)) == sorted([*OTHERS, *recordings, *logs[-2:]])
    KeptFiles(folder=tmp_path, name="cell", kind=RECORDING, files=1).give_way(tmp_path / recordings[1])
    assert sorted(os.listdir(tmp_path)) == sorted([*OTHERS, recordings[1], *logs[-2:]])


def test_together_they_have_at_most_their_size_but_the_newest_stays(tmp_path: Path) -> None:
    names = [f"cell_20260101-12000{n}_42.mcap" for n in range(5)]
    made(tmp_path, *names)
    kept = KeptFiles(folder=tmp_path, name="cell", kind=RECORDING, files=20, size=300)
    kept.give_way(tmp_path / names[4])
    assert sorted(os.listdir(tmp_path)) == names[2:]
    (tmp_path / names[4]).write_bytes(bytes(1000))
    kept.give_way(tmp_path / names[4])
    assert os.listdir(tmp_path) == [names[4]]


def test_the_newest_stays_if_the_clock_was_set_back_since_the_others(tmp_path: Path) -> None:
    names = [f"cell_20260101-12000{n}_42.mcap" for n in range(4)]
    made(tmp_path, *names)
    KeptFiles(folder=tmp_path, name="cell", kind=RECORDING, files=2, size=200).give_way(tmp_path / names[0])
    assert sorted(os.listdir(tmp_path)) == [names[0], names[3]]


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    KeptFiles(folder=tmp_path / "none", name="cell", kind=LOG, files=1).give_way(tmp_path / f"{STEM}_001.mcap")


def test_a_second_recording_within_a_second_has_a_name_of_its_own(tmp_path: Path) -> None:
    for expected in (f"{STEM}.mcap", f"{STEM}-2.mcap", f"{STEM}-3.mcap"):
        path = free_path(tmp_path, STEM)
        assert path == tmp_path / expected
        path.touch()
