"""A process at the far end: whatever it does, its end is told in words, in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from robot_rt_control.processes import ending, python, python_process
from robot_rt_control.processes.python_process import ProcessEnded, PythonProcess
from robot_rt_control.processes.work_watch import WorkWatch

MODULE = """
import os, signal, socket, subprocess, sys, time
from robot_rt_control.processes.frames import connect

connection = connect(with_thread="with_thread" in sys.argv)
raw = socket.socket(fileno=os.dup(connection.fileno()))
while True:
    asked = connection.receive()
    print("printed")
    if asked == "half":
        raw.send(bytes([0, 0, 0, 9]) + b"{")
        os._exit(3)
    elif asked == "half and wait":
        raw.send(bytes([0, 0, 0, 9]) + b"{")
        time.sleep(3600.0)
    elif asked == "garbage":
        raw.send(bytes([0, 0, 0, 1]) + b"x")
        time.sleep(3600.0)
    elif asked == "large":
        raw.send(b"\\xff" * 4)
        time.sleep(3600.0)
    elif asked == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif asked == "hang up":
        os.closerange(3, 100)
        time.sleep(3600.0)
    elif asked == "work":
        while True: pass
    elif asked == "grow":
        try:
            grown = bytearray(1 << 30)
        except MemoryError:
            connection.send({"grown": 0})
    elif asked == "child":
        connection.send({"child": subprocess.Popen(["sleep", "3600"]).pid})
    else:
        connection.send({"pid": os.getpid(), "group": os.getpgid(0), "argv": sys.argv[3:]})
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd_module.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(happens: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 120.0
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.02)
    return happens()


def test_it_answers_prints_to_the_log_and_ends_when_this_end_hangs_up(capfd: pytest.CaptureFixture[str]) -> None:
    process = PythonProcess("odd_module", "one", 2)
    process.send("who")
    answer = process.receive(None)
    assert answer == {"pid": process.pid, "group": os.getpgid(0), "argv": ["one", "2"]}
    assert process.receive(0.0) is None
    process.close(60.0)
    assert process.is_gone and process._process.returncode == 1, "by itself: it was not killed"
    out, err = capfd.readouterr()
    assert not out and err.startswith("printed\n")


@pytest.mark.parametrize(
    ("does", "how"),
    [
        ("die", "was ended by SIGKILL"),
        ("half", "ended with exit code 3"),
        ("garbage", "answered with what is no JSON, and was ended"),
        ("large", "answered with a message of 4294967295 bytes; expected at most 67108864, and was ended"),
    ],
)
def test_its_end_is_told_in_words(does: str, how: str) -> None:
    with PythonProcess("odd_module") as process:
        process.send(does)
        with pytest.raises(ProcessEnded, match=f"^{how}$") as ended:
            process.receive(None)
        assert not ended.value.hangs and process.is_gone
        process.send("more")  # harms nobody
        with pytest.raises(ProcessEnded):
            process.receive(None)


def test_one_that_only_hangs_up_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_process, "END_S", 0.1)
    with PythonProcess("odd_module") as process:
        process.send("hang up")
        with pytest.raises(ProcessEnded, match="was ended by SIGKILL"):
            process.receive(None)


@pytest.mark.parametrize(
    ("does", "how"),
    [
        ("half and wait", "did nothing for 0.5 s and was ended"),
        ("work", "took more than 2 s of processor time and was ended"),
    ],
)
def test_one_that_hangs_is_ended(does: str, how: str) -> None:
    with PythonProcess("odd_module") as process:
        process.send("who")
        watch = WorkWatch(process.pid, processor_s=2.0, idle_s=60.0 if does == "work" else 0.5)
        process.watched(watch)
        process.send(does)
        with pytest.raises(ProcessEnded, match=how) as ended:
            process.watched(watch)
        assert ended.value.hangs and process.is_gone


def test_a_stopped_one_is_killed_by_another_thread_with_its_group() -> None:
    with PythonProcess("odd_module", own_group=True) as process:
        process.send("child")
        answer = process.receive(None)
        assert answer is not None and os.getpgid(process.pid) == process.pid
        os.kill(process.pid, signal.SIGSTOP)
        process.kill()
        with pytest.raises(ProcessEnded, match="was ended by SIGKILL"):
            process.receive(None)
    assert eventually(lambda: not alive(answer["child"]))


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "MEMORY_BYTES", 1 << 29)
    with PythonProcess("odd_module") as process:
        process.send("grow")
        assert process.receive(None) == {"grown": 0}


@pytest.mark.parametrize("how", ["with_thread", "by_hanging_up"])
def test_it_ends_with_the_process_that_started_it(how: str) -> None:
    program = f"""
import sys
from robot_rt_control.processes.python_process import PythonProcess
process = PythonProcess("odd_module", {how!r})
process.send("who")
process.receive(None)
process.send("work" if {how!r} == "with_thread" else "who")
print(process.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        try:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
        finally:
            parent.kill()
    assert eventually(lambda: not alive(pid))


def test_one_that_was_waited_for_is_left_alone() -> None:
    process = subprocess.Popen(["sleep", "3600"])
    process.kill()
    assert process.wait() == -signal.SIGKILL
    ending.kill(process)
    ending.wait_or_kill(process)
    assert ending.how_ended(process.returncode) == "was ended by SIGKILL"
