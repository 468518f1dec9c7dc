"""The log of a run as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from blueprint_driver import Driver, calls, graph, leaf, node, sequence

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.runs.run_history import RunHistory
from robot_rt_control.blueprint.runs.run_log import KEPT, RunLog, outputs_of, present_nodes, read_log, was_interrupted
from robot_rt_control.vocabulary.errors import DefinitionError


def test_N30_what_is_written_is_read_also_of_a_process_that_died(tmp_path: Path) -> None:
    outer = graph("g", node("seat", "drinks", leaf("wish")), node("drinks", (), calls("inner")))
    run = Driver(outer, graph("inner", *sequence("open", "pour")))
    run.end("seat", wish="tea")
    run.end("drinks/open")
    log = RunLog(tmp_path / "runs", "2026-01-01")
    for record in run.log:
        log.write(record)
    log.close()
    with log.path.open("a") as file:
        file.write('{"tick": 4, "what": "en')
    records = read_log(log.path)
    assert records == run.log and was_interrupted(records)
    assert present_nodes(records) == ("drinks", "drinks/pour") and outputs_of(records) == {"seat.wish": "tea"}
    again = Driver(outer, graph("inner", *sequence("open", "pour")), at=("drinks", "pour"), outputs=outputs_of(records))
    assert again.started == ["drinks/pour"]


def test_outputs_of_a_node_that_was_cut_are_those_before(tmp_path: Path) -> None:
    run = Driver(graph("g", node("a", "a", leaf("x"))))
    run.end("a", x=1.0)
    run.give(events.Pause(now=True))
    run.end("a", "cancelled", x=2.0)
    assert outputs_of(run.log) == {"a.x": 1.0}


def test_only_so_many_runs_are_kept(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        RunLog(tmp_path, f"{number:05}").close()
    names = sorted(path.stem for path in tmp_path.iterdir())
    assert len(names) == KEPT and names[0] == "00003"
    with pytest.raises(FileExistsError):
        RunLog(tmp_path, names[-1])


def test_a_file_that_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"what": "node"}\n[]\n{"what": "end"}\n')
    with pytest.raises(DefinitionError, match=r"x.jsonl:2: not a record of a run; got no record"):
        read_log(path)
    with pytest.raises(DefinitionError, match="cannot be read"):
        read_log(tmp_path / "missing")


def test_N40_killed_in_the_middle_of_a_line(tmp_path: Path) -> None:
    """Wherever a log is cut: it is listed as interrupted with its node, or if nothing of it was written, not at all."""
    first = {"what": "run", "tick": 0, "time": 0.0, "run": "r", "skill": "tour", "began": "now", "source": "é",
             "rehearsed": False}  # fmt: skip
    records: list[dict[str, Any]] = [
        first,
        {"what": "node", "tick": 1, "time": 0.001, "path": "seat", "visit": 1, "attempt": 1},
        {"what": "start", "tick": 1, "time": 0.001, "path": "seat", "skill": "guide"},
        {"what": "ended", "tick": 9, "time": 0.009, "path": "seat", "result": "done", "failure": False, "reason": "",
         "outputs": {"wish": "tea"}},
        {"what": "node", "tick": 9, "time": 0.009, "path": "drinks", "visit": 1, "attempt": 1},
    ]  # fmt: skip
    whole = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    path = tmp_path / "r.jsonl"
    seen = set()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        found = RunHistory(tmp_path).runs()
        complete = whole[:length].count(b"\n")
        if not found:
            assert complete == 0
            continue
        (run,) = found
        assert run.result == "" and run.interrupted_at
        seen.add(run.interrupted_at)
        assert outputs_of(read_log(path)) in ({}, {"seat.wish": "tea"})
        history = RunHistory(tmp_path)
        assert history.interrupted() == ["r"]
        history.care_for("r")
        assert history.interrupted() == RunHistory(tmp_path).interrupted() == [], "it is found once"
        assert history.runs() == found and path.read_bytes().count(b"\n") == complete + 1
    assert seen == {"the beginning", "seat", "drinks"}
