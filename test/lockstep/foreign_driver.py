"""The C++ library of foreign drivers, compiled with the tests' component: ros2_control_driver/test/rehearsal.cpp."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from robot_rt_control.hardware.external_device import description_path
from robot_rt_control.memory.shared_memory import segment_path

SOURCES = Path(__file__).parents[2] / "ros2_control_driver"
_KEPT = tempfile.TemporaryDirectory(prefix="foreign_driver_")
_FAULT, _ARGUMENT, _WRITES, _READS, _SHUTDOWNS, _ACTIVATIONS, _SWITCHES = range(7)
_ROWS, _ROW, _ENTRIES = 16, 4, 4096


class Fault(IntEnum):
    """How the component fails, as in rehearsal.cpp."""

    NONE = 0
    READ_ERROR = 1
    WRITE_ERROR = 2
    READ_THROWS = 3
    WRITE_THROWS = 4
    HANGS = 5
    SLOW = 6
    NOT_A_NUMBER = 7
    DEACTIVATES = 8
    REFUSES_MODES = 9
    STAYS_INACTIVE = 10
    SWITCH_THROWS = 11
    OPENS_SLOWLY = 12
    KEEPS_EFFORT = 13


@cache
def rehearsal_program() -> Path:
    """The driver with the tests' component, compiled with g++ alone: no ROS. Once in a process of tests."""
    program = Path(_KEPT.name) / "rehearsal"
    sources = [str(path) for path in (*sorted((SOURCES / "src").glob("*.cpp")), SOURCES / "test" / "rehearsal.cpp")]
    flags = "-std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -pthread".split()
    include = f"-I{SOURCES / 'include'}"
    # In two processes: the compiler's time is most of these tests'.
    objects = [f"{program}-{i}.o" for i in range(len(sources))]
    for i in range(0, len(sources), 2):
        pair = zip(sources[i : i + 2], objects[i : i + 2], strict=True)
        running = [subprocess.Popen(["g++", *flags, include, "-c", source, "-o", made]) for source, made in pair]
        assert all([process.wait() == 0 for process in running])
    subprocess.run(["g++", "-pthread", *objects, "-o", str(program)], check=True)
    return program


def until(condition: Callable[[], Any], what: str = "it", timeout_s: float = 60.0, pause_s: float = 0.002) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(pause_s)


class ForeignDriver:
    """A driver process, started by external_driver as `workcell` does it. Use it in a `with` statement.

    Args:
        folder: for the workcell file and the component's book.
        workcell: the file's text; PARAMETERS in it are the component's.
    """

    def __init__(self, folder: Path, workcell: str, *, refuses: str = "") -> None:
        self.image = f"rrc_test_{uuid.uuid4().hex[:12]}"
        self.book = np.memmap(folder / "book", float, "w+", shape=(_ROWS + _ROW * _ENTRIES,))
        parameters = f"book: {folder / 'book'}" + (f", refuses: {refuses}" if refuses else "")
        command = f"command: [{rehearsal_program()}], parameters: {{{parameters}}}"
        self.workcell = folder / "cell.yaml"
        self.workcell.write_text(workcell.replace("EXTERNAL", command))
        self._log = folder / "driver.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.fault(Fault.NONE)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.stop()
        segment_path(self.image).unlink(missing_ok=True)
        description_path(self.image).unlink(missing_ok=True)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def start(self) -> None:
        """Start the process, or its successor."""
        command = [sys.executable, "-m", "robot_rt_control.hardware.external_driver", str(self.workcell), "drive"]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen([*command, "--hardware", "external", "--image", self.image], stderr=log)

    def stop(self) -> int:
        """End it as the supervisor does; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60.0)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def pause(self, stopped: bool) -> None:
        os.kill(self.process.pid, signal.SIGSTOP if stopped else signal.SIGCONT)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def fault(self, fault: Fault, argument: float = 0.0) -> None:
        """Let the component fail from now on."""
        self.book[_ARGUMENT] = argument
        self.book[_FAULT] = fault

    @property
    def writes(self) -> int:
        return int(self.book[_WRITES])

    @property
    def reads(self) -> int:
        return int(self.book[_READS])

    @property
    def shutdowns(self) -> int:
        return int(self.book[_SHUTDOWNS])

    @property
    def activations(self) -> int:
        return int(self.book[_ACTIVATIONS])

    def rows(self, first: int = 0) -> np.ndarray:
        """Of each write from the `first` on, or of the last ones: reads before; position, velocity, mode of joint 1."""
        last = self.writes
        first = max(first, last - _ENTRIES)
        table = np.array(self.book[_ROWS:]).reshape(_ENTRIES, _ROW)
        return table[np.arange(first, last) % _ENTRIES]
