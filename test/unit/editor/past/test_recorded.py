"""What the browser is told of a recording, and the bytes of its ticks."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_recording import PARTS, URDF, position, write_recording

from robot_rt_control.editor.past.recorded import Recorded, opened
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState
from robot_rt_control.vocabulary.errors import RobotControlError

MISSING = 255


def decoded(it: Recorded, block: int) -> dict[str, np.ndarray]:
    """What `joints_of` says, as the page reads it."""
    data = it.joints_of(block)
    n, joints, parts, _ = struct.unpack_from("<4I", data)
    place, found = 16, {}
    for name, kind, width in (("time", "<f8", 1), ("q", "<f4", joints), ("actions", "<i4", parts),
                              ("states", "u1", parts), ("faults", "u1", parts)):  # fmt: skip
        found[name] = np.frombuffer(data, kind, n * width, place).reshape(n, width)
        place += found[name].nbytes
    assert place == len(data)
    return found


def test_H12_a_block_has_the_joints_states_and_actions_of_its_ticks(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.mcap", 2500, first=700, without=(1200, 1201), fault=("arm", 1500))
    it = Recorded(path)
    assert it.about() | {"parts": 0, "faults": 0} == {
        "name": "a.mcap", "workcell": "written", "hardware": "mock", "clock": "lockstep", "version": "0",
        "period": 0.001, "first": 700, "last": 3199, "reason": "stopped", "is_log": False, "block": 1000,
        "joints": ["turn", "slide"], "actions": ["go"], "problems": ["2 ticks were lost while it was recorded."],
        "parts": 0, "faults": 0,
    }  # fmt: skip
    assert it.about()["faults"][int(FaultReason.POSITION_LIMIT)] == "the measured position left its range"
    found = decoded(it, 1)
    ticks = np.arange(1000, 2000)
    is_there = ~np.isin(ticks, (1200, 1201))
    assert np.array_equal(~np.isnan(found["time"][:, 0]), is_there)
    assert np.allclose(found["time"][is_there, 0], (ticks[is_there] - 700) * 1e-3, atol=1e-9)
    wanted = [[position(tick, joint) for joint in (0, 1)] for tick in ticks[is_there]]
    assert np.allclose(found["q"][is_there], wanted, atol=1e-6) and np.isnan(found["q"][~is_there]).all()
    assert set(found["actions"][is_there, 0]) == {0} and set(found["actions"][:, 1]) == {-1}
    faulted = ticks >= 1500
    assert (found["states"][is_there & faulted, 0] == OperationalState.FAULTED).all()
    assert (found["states"][is_there & ~faulted, 0] == OperationalState.ENABLED).all()
    assert (found["faults"][is_there & faulted, 0] == FaultReason.POSITION_LIMIT).all()
    assert (found["states"][~is_there] == MISSING).all()
    assert np.isnan(decoded(it, 0)["time"][:700]).all() and np.isnan(decoded(it, 3)["time"][200:]).all()
    for block in (-1, 4, 10**9):
        with pytest.raises(ValueError, match="block"):
            it.joints_of(block)


def test_H12_the_stops_are_the_faults_failures_and_protective_stops(tmp_path: Path) -> None:
    events: list[tuple[int, str, dict[str, Any]]] = [
        (20, "action_started", {"part": "arm", "current_action": "go"}),
        (90, "protective_stop", {}),
        (70, "action_failed", {"previous_action": "go", "session": "s1", "status": 7}),
        (99, "server_lost", {}),
    ]
    it = Recorded(write_recording(tmp_path / "a.mcap", 100, fault=("arm", 60), events=events))
    found = it.events()
    assert [stop["tick"] for stop in found["stops"]] == [60, 70, 90]
    assert found["stops"][0]["text"].startswith("arm faulted: the measured position left its range. The usual cause: ")
    assert found["stops"][1]["text"] == "Action 'go' of session 's1' failed with status 7."
    assert [(e["tick"], e["kind"]) for e in found["events"]] == [
        (20, "action_started"), (60, "part_faulted"), (70, "action_failed"), (90, "protective_stop"),
        (99, "server_lost"),
    ]  # fmt: skip
    lost = Recorded(write_recording(tmp_path / "b.mcap", 100, events=events[:1] + events[3:]))
    assert lost.events()["stops"] == [{"tick": 99, "text": "The control server was lost."}]
    assert Recorded(write_recording(tmp_path / "c.mcap", 100)).events()["stops"] == []


def test_H12_the_log_of_a_fault_says_its_tick(tmp_path: Path) -> None:
    about = {"kind": "part_faulted", "part": "arm", "reason": "following error", "tick": 80, "action": "",
             "actions": {"7": "go"}}  # fmt: skip
    it = Recorded(write_recording(tmp_path / "log.mcap", 100, about=about))
    assert it.about()["is_log"] and it.events()["stops"] == [{"tick": 80, "text": "part faulted arm following error"}]


def test_a_killed_writers_file_has_actions_without_names(tmp_path: Path) -> None:
    it = Recorded(write_recording(tmp_path / "a.mcap", 2000, ended=False))
    assert it.about()["actions"] == [] and "has no end" in it.about()["problems"][0]
    assert set(decoded(it, 0)["actions"][1:, 0]) == {-2}


def test_64_parts_have_smaller_blocks(tmp_path: Path) -> None:
    parts = {f"arm{i}": [f"arm{i}_joint{j}" for j in range(7)] for i in range(64)}
    it = Recorded(write_recording(tmp_path / "a.mcap", 300, urdf=None, parts=parts))
    about = it.about()
    assert len(about["parts"]) == 64 and about["block"] == 223
    assert "no robot_description" in about["problems"][0]
    found = decoded(it, 1)
    assert found["q"].shape == (223, 448) and found["q"][0, 447] == pytest.approx(position(223, 447))
    assert len(it.joints_of(1)) < 1 << 20


def test_what_is_none_is_refused_and_nothing_stays_open(tmp_path: Path) -> None:
    good, bad = write_recording(tmp_path / "a.mcap", 100), tmp_path / "b.mcap"
    bad.write_bytes(b"no archive")
    with pytest.raises(RobotControlError, match=r"b\.mcap; expected a file of recorded ticks"):
        opened([good, bad])
    assert [it.descriptions for it in opened([good])] == [[(1, URDF)]] and list(PARTS) == ["arm", "eye"]
