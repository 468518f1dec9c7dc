"""Recordings from the command line, and their replay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.command_line import replay
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main
from robot_rt_control.realtime.executor.replay import DIFFERS, REFUSED, SAME
from robot_rt_control.recording.fault_log import load_fault_log
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing.lockstep_client import LockstepClient


def test_ticks_are_recorded_from_start_to_stop(
    client: LockstepClient,
    shown: Callable[..., str],
    data: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ROBOT_RT_CONTROL_RECORDINGS", str(tmp_path))
    file = data("record", "start")["file"]
    assert Path(file).parent == tmp_path
    client.step(20)
    assert main(["record", "start"]) == ExitCode.FAILED
    assert f"got a recording to {file}" in capsys.readouterr().err
    assert shown("record", "stop") == f"recorded {file}\n"
    assert len(TickFile(file).arrays()["tick"]) >= 20
    assert main(["record", "stop"]) == ExitCode.FAILED
    assert "nothing is recorded" in capsys.readouterr().err


def test_the_last_ticks_are_saved_and_cannot_be_replayed(
    client: LockstepClient, capfd: pytest.CaptureFixture[str]
) -> None:
    client.step(5)
    assert main(["record", "save"]) == ExitCode.DONE
    said = capfd.readouterr().out
    assert said.startswith("the last ticks are in ")
    file = said.split()[-1]
    assert load_fault_log(file).title().startswith("saved on demand in tick ")
    assert main(["replay", file]) == REFUSED == ExitCode.USAGE  # a process of its own
    assert "expected a recorded session; got a log of the last ticks" in capfd.readouterr().err


@pytest.mark.parametrize(("code", "text"), [(SAME, "all ticks are the same"), (DIFFERS, "tick 3: a[0]")])
def test_a_replays_result_is_that_of_the_command(
    code: int, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []

    def ended(command: list[str], **_: Any) -> Any:
        commands.append(command)
        return subprocess.CompletedProcess(command, code, stdout=f"{text}\n")

    monkeypatch.setattr(replay.subprocess, "run", ended)
    assert main(["replay", "a.mcap", "--workcell", "cell.yaml"]) == code
    assert capsys.readouterr().out == f"{text}\n"
    assert commands == [[sys.executable, "-m", replay.MODULE, "a.mcap", "--workcell", "cell.yaml"]]
    assert main(["replay", "a.mcap", "--json"]) == code
    assert json.loads(capsys.readouterr().out) == {"same": code == SAME, "text": text}
    assert commands[1] == [sys.executable, "-m", replay.MODULE, "a.mcap"]
