"""The verbs of `robot-rt` as processes, over DDS. What each prints is tested in test/unit/command_line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client import Client
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.vocabulary.errors import RobotControlError

REPOSITORY = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(900)


@contextmanager
def begin(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-X", "faulthandler", "-m", "robot_rt_control.command_line.main", *words]
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # pytest's parallel workers ignore SIGINT, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def run(*words: str) -> tuple[int, str, str]:
    with begin(*words, "--timeout", "60") as process:
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # it prints where its threads are
            out, err = process.communicate(timeout=60)
            pytest.fail(f"{words} has not ended:\n{out}\n{err}")
        return process.returncode, out, err


def test_status_tells_of_the_loop_and_its_parts(client: Client) -> None:
    code, out, err = run("status", "--json")
    assert code == ExitCode.DONE, err
    told: dict[str, Any] = json.loads(out)
    assert told["executor"]["clock"] == "lockstep" and told["executor"]["server_attached"]
    assert [part["name"] for part in told["executor"]["parts"]] == [part.name for part in client.parts()]
    assert told["sessions"] is not None


def test_a_run_is_seen_cancelled_and_stopped(client: Client) -> None:
    first = client.executor_status().tick
    with begin("trace", "--json", "--past", "--kind", "action_started", "--timeout", "60") as trace:
        with begin("start", "hold", "--part", "arm", "--until", "arm.velocity[0] > 9", "--timeout", "60") as start:
            assert trace.stdout is not None
            for line in trace.stdout:
                told = json.loads(line)
                if told["current_action"] == "hold" and told["tick"] > first:
                    break
            (session,) = [s for s in client.sessions() if s.id == told["session"]]
            assert session.active == ["hold"] and session.parts == ["arm"]
            start.send_signal(signal.SIGINT)
            _, err = start.communicate(timeout=120)
            assert start.returncode == ExitCode.INTERRUPTED and "cancelled" in err
        deadline = time.monotonic() + 60.0
        while session.id in [s.id for s in client.sessions()]:  # it ends after the run that owned it
            assert time.monotonic() < deadline
            time.sleep(0.05)
        trace.send_signal(signal.SIGINT)
        trace.communicate(timeout=120)
        assert trace.returncode == ExitCode.DONE
    try:
        code, out, err = run("stop", "--json", "--reason", "a test")
        assert code == ExitCode.DONE, err
        assert json.loads(out)["tick"] > 0 and client.executor_status().protective_stop
    finally:
        client.release()


def test_ticks_are_recorded_and_saved_over_ros(client: Client) -> None:
    file = client.record(True)
    with pytest.raises(RobotControlError, match=f"got a recording to {file}"):
        client.record(True)
    assert client.record(False) == file
    with pytest.raises(RobotControlError, match="nothing is recorded"):
        client.record(False)
    code, out, err = run("record", "save", "--json")
    assert code == ExitCode.DONE, err
    saved = json.loads(out)["file"]
    for written in (file, saved):
        assert len(TickFile(written).arrays()["tick"]) > 0
        Path(written).unlink()


def test_a_refused_goal_and_a_missing_workcell_have_their_codes(client: Client) -> None:
    code, out, err = run("start", "move_joint", "positon=[1]", "--part", "arm")
    assert (code, out) == (ExitCode.FAILED, "")
    assert "has no parameter 'positon'; expected one of the known names; did you mean 'position'" in err
    with begin("parts", "--namespace", "nowhere", "--timeout", "1") as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (ExitCode.NO_WORKCELL, "")
    assert "service 'control_server/list_parts' is not available; expected its node to come up within 1 s" in err
