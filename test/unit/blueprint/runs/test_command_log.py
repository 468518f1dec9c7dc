"""What was asked for beside runs."""

from __future__ import annotations

import json
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.runs.command_log import COMMANDS_FILE, note


def test_a_disk_that_takes_a_part_of_a_line_leaves_all_lines_whole(tmp_path: Path) -> None:
    def say(text: str) -> None:
        note(tmp_path, Moment(tick=1, time=0.001), "now", "sentence", "Ann", text)

    say("first")
    size, before = (tmp_path / COMMANDS_FILE).stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
    try:
        with pytest.raises(OSError, match="No space left on device"):
            say("second")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    say("third")
    lines = [json.loads(line)["content"] for line in (tmp_path / COMMANDS_FILE).read_text().splitlines()]
    assert lines == ["first", "third"]


def test_threads_that_note_at_once_keep_each_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robot_rt_control.blueprint.runs.command_log._BYTES", 0)  # each line begins a new file

    def say(n: int) -> None:
        note(tmp_path, Moment(tick=1, time=0.001), "now", "sentence", "Ann", str(n))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(say, range(500)))
    for file in (tmp_path / COMMANDS_FILE, (tmp_path / COMMANDS_FILE).with_suffix(".old")):
        assert len(file.read_text().splitlines()) == 1
