"""Runs from the command line, and their stop."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client import Action
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main
from robot_rt_control.testing.lockstep_client import LockstepClient

GOAL = "position=[0.1, 0.2, 0, -1.2, 0, 0.9, 0]"
PROGRAM = """\
name: there
roles: {robot: {kinds: [arm]}}
parameters: {speed: {default: 0.1, minimum: 0.01, maximum: 1.0}}
start: [go]
actions:
  go:
    type: move_joint
    parts: robot
    parameters: {position: [0, 0.2, 0, -1.2, 0, 0.9, 0], velocity_scale: $speed}
    reactions: [{when: is_done, start: stay, event: there}]
  stay: {type: hold, parts: robot, final: true}
"""


def test_an_action_runs_to_its_end(client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any]) -> None:
    assert shown("start", "move_joint", "--part", "arm", GOAL, "velocity_scale=0.9").startswith("done after ")
    assert client.value("arm.position[0]") == pytest.approx(0.1, abs=1e-3)
    told = data("start", "move_joint", GOAL, "--part", "part=arm")
    assert told["success"] and told["message"] == "" and told["ticks"] > 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["move_joint", "--part", "arm", "positon=[1]"], "has no parameter 'positon'; expected one of the known names"),
        (["move_joint", "--part", "leg", GOAL], "'leg'"),
        (["no_such_thing"], "unknown program"),
        (["hold", "--part", "arm", "until=1"], "parameter 'until'; expected a parameter of the run. See --until"),
    ],
)
def test_what_cannot_be_started_says_why(
    client: LockstepClient, words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["start", *words]) == ExitCode.FAILED
    assert text in capsys.readouterr().err


def test_until_and_limit_end_it(
    client: LockstepClient, shown: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "done after" in shown("start", "hold", "--part", "arm", "--until", "arm.velocity[0] < 1")
    assert main(["start", "hold", "--part", "arm", "--until", "arm.velocity[0] > 5", "--limit", "0.05"]) == 1
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_it(
    client: LockstepClient, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    step = client.cell.step

    def interrupted(ticks: int = 1) -> int:
        if client.sessions():
            os.kill(os.getpid(), number)
            monkeypatch.setattr(client.cell, "step", step)
        return step(ticks)

    monkeypatch.setattr(client.cell, "step", interrupted)
    assert main(["start", "hold", "--part", "arm", "--until", "arm.velocity[0] > 5"]) == ExitCode.INTERRUPTED
    assert "cancelled" in capsys.readouterr().err
    assert signal.getsignal(number) == before and client.sessions() == []


def test_a_program_runs_with_its_roles_and_parameters(
    client: LockstepClient, tmp_path: Path, data: Callable[..., Any]
) -> None:
    file = tmp_path / "there.yaml"
    file.write_text(PROGRAM)
    told = data("start", str(file), "--part", "robot=arm", "speed=0.9", "--until", "there")
    assert told["success"] and told["last_event"] == "there"


def test_stop_is_the_protective_stop(
    client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        assert shown("stop", "--reason", "door open").startswith("all parts brake and hold until `release` (tick ")
        assert main(["start", "move_joint", "--part", "arm", GOAL]) == ExitCode.FAILED
        assert "protective stop" in capsys.readouterr().err
        assert client.executor_status().protective_stop
    finally:
        assert data("stop", "--release")["done"] == "the protective stop is released"
    assert not client.executor_status().protective_stop


def test_stops_are_released_and_sessions_resumed(
    client: LockstepClient, shown: Callable[..., str], data: Callable[..., Any], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    secret = tmp_path / "secret"
    secret.write_text("key\n")
    with client.session("arm") as session:
        session.add(Action("a", "hold", parts="arm"))
        client.protective_stop("somebody is near", source="curtain", secret="key")
        try:
            shown("stop", "--source", "door", "--reason", "open")
            assert main(["release"]) == ExitCode.FAILED
            assert "expected the source of one, as several are latched" in capsys.readouterr().err
            told = shown("release", "--all", "--reason", "all is well")
            assert "still latched" in told and "curtain" in told and "door" not in told
            assert main(["release", "curtain"]) == ExitCode.FAILED
            assert "the secret that the stop was made with" in capsys.readouterr().err
            assert main(["release", "--secret-file", str(tmp_path)]) == ExitCode.FAILED
            assert "expected a file with the stop's secret" in capsys.readouterr().err
        finally:
            assert data("release", "curtain", "--secret-file", str(secret))["stops"] == []
        assert "suspended" in shown("sessions")
        assert data("resume") == {"resumed": {session.id: client.executor_status().tick}}
        assert shown("resume") == "no session is suspended\n"
        session.start("a")
        assert client.sessions()[0].active == ["a"]


def test_a_session_can_be_stopped_by_anyone(client: LockstepClient, shown: Callable[..., str]) -> None:
    with client.session(("arm", "gripper")) as session:
        session.add(Action("a", "hold", parts="arm"), Action("g", "hold", parts="gripper"))
        session.start("a", "g")
        assert f"a of session {session.id} stopped" in shown("stop", "--session", session.id, "a")
        assert client.sessions()[0].active == ["g"]
        shown("stop", "--all-actions")
        assert client.sessions()[0].active == [] and session.ended is None
