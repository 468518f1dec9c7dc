"""K15: an action's code that does not come back, in an executor process of its own beside a driver process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.processes.work_watch import read_work
from robot_rt_control.realtime.executor.loop_guard import EXIT_CODE

_HERE = Path(__file__).parent
_BOUND_S = 600.0

pytestmark = pytest.mark.timeout(900)


class Process:
    """A process whose lines are collected."""

    def __init__(self, *command: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(line.rstrip("\n") for line in iter(self.process.stdout.readline, ""))

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def await_line(self, text: str, first: int = 0) -> None:
        deadline = time.monotonic() + _BOUND_S
        while not any(text in line for line in self.lines[first:]):
            assert self.process.poll() is None and time.monotonic() < deadline, "\n".join(self.lines)
            time.sleep(0.02)

    def await_end(self) -> int:
        code = self.process.wait(_BOUND_S)
        self._reader.join(10.0)
        return code


@pytest.fixture
def image() -> Iterator[str]:
    name = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield name
    segment_path(name).unlink(missing_ok=True)


@pytest.fixture
def driver(image: str) -> Iterator[Process]:
    made = Process(
        "-m",
        "robot_rt_control.hardware.driver",
        str(_HERE / "endless.yaml"),
        "sim",
        "--image",
        image,
        "--silence",
        "300",
    )
    yield made
    made.process.send_signal(signal.SIGTERM)
    made.await_end()


def hang(executor: Process) -> None:
    executor.await_line("moving")
    executor.say("hang")
    assert executor.await_end() == EXIT_CODE, "\n".join(executor.lines)
    assert executor.lines[-1] == (
        "[FATAL] the real-time loop does not come back from action 'spin' (type 'endless') of session 's1': its code "
        "has used more than 1 s of processor time in one tick. This process ends now; the drivers bring their devices "
        "to rest. Give the action's loops a bound."
    )


@pytest.mark.long
def test_K15_an_action_that_does_not_come_back_is_named_and_the_driver_brings_its_device_to_rest(
    driver: Process, image: str, tmp_path: Path
) -> None:
    executor = Process(str(_HERE / "endless_executor.py"), "realtime", image, str(tmp_path))
    try:
        executor.await_line("moving")
        assert driver.lines[-1].endswith("following the executor's commands")
        said = len(driver.lines)
        hang(executor)
        driver.await_line("bringing the device to rest", said)
        driver.await_line("at rest", said)
    finally:
        executor.process.kill()
        executor.await_end()


def test_K15_in_simulated_time_it_is_named_likewise_although_the_loop_holds_the_interpreter(
    image: str, tmp_path: Path
) -> None:
    executor = Process(str(_HERE / "endless_executor.py"), "lockstep", image, str(tmp_path))
    try:
        hang(executor)
    finally:
        executor.process.kill()
        executor.await_end()


@pytest.mark.long
def test_K15_a_process_that_is_stopped_or_gets_no_processor_is_not_ended(image: str, tmp_path: Path) -> None:
    executor = Process(str(_HERE / "endless_executor.py"), "lockstep", image, str(tmp_path))
    try:
        executor.await_line("moving")
        for _ in range(20):  # stopped, with luck inside an action: its processor time does not advance
            os.kill(executor.process.pid, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(executor.process.pid, signal.SIGCONT)
            time.sleep(0.01)
        before = read_work(executor.process.pid)[0]
        while read_work(executor.process.pid)[0] < before + 2.0:  # busy all the while, tick by tick
            assert executor.process.poll() is None
            time.sleep(0.05)
        assert not any("FATAL" in line for line in executor.lines)
        hang(executor)
    finally:
        executor.process.kill()
        executor.await_end()
