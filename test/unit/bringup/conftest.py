"""Small processes in place of nodes, and their supervisor, which runs beside the test."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from robot_rt_control.bringup.console import Console
from robot_rt_control.bringup.supervised_process import Patience, SupervisedProcess
from robot_rt_control.bringup.supervisor import Supervisor

PRELUDE = """
import os, signal, socket, sys, time
def ready():
    address = os.environ["NOTIFY_SOCKET"]
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", "\\0" + address[1:])
def ignore(*names):
    for name in names:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
def wait():
    time.sleep(600)
def interrupted(*_):
    print("interrupted", flush=True)
    os._exit(0)
signal.signal(signal.SIGINT, interrupted)
"""

PATIENT = Patience(interrupt_s=60.0, terminate_s=60.0, hurried_s=60.0, restart_delay_s=0.05, restarts=2)
IMPATIENT = replace(PATIENT, interrupt_s=1.0, terminate_s=0.4, hurried_s=0.3)
"""For processes that ignore signals."""


def fake(name: str, code: str, **options: Any) -> SupervisedProcess:
    """A process that runs some Python."""
    return SupervisedProcess(name=name, command=[sys.executable, "-S", "-c", PRELUDE + code], **options)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not reaped does not count."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(condition: Callable[[], object], timeout_s: float = 120.0) -> bool:
    """Whether it becomes true in time."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


class Run:
    """A supervisor in a thread, and what it has printed."""

    def __init__(self, *processes: SupervisedProcess, **options: Any) -> None:
        self.stream = io.StringIO()
        self.ready = threading.Event()
        console = Console(self.stream, [p.name for p in processes])
        options.setdefault("patience", PATIENT)
        self.supervisor = Supervisor(processes, console=console, on_ready=self.ready.set, **options)
        self._thread = threading.Thread(target=self._run)
        self.exit_code: int | None = None

    def _run(self) -> None:
        self.exit_code = self.supervisor.run()

    def start(self) -> None:
        self._thread.start()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def says(self, text: str) -> bool:
        return eventually(lambda: text in self.text)

    def end(self) -> int:
        """Wait until it has ended by itself."""
        self._thread.join(120.0)
        assert self.exit_code is not None, self.text
        return self.exit_code

    def stop(self) -> int:
        self.supervisor.stop()
        return self.end()

    def position(self, text: str) -> int:
        assert text in self.text, self.text
        return self.text.index(text)


@contextmanager
def running(*processes: SupervisedProcess, **options: Any) -> Iterator[Run]:
    """A supervisor that has ended when the context is left."""
    run = Run(*processes, **options)
    run.start()
    try:
        yield run
    finally:
        while run.exit_code is None and run._thread.is_alive():
            run.supervisor.stop()
            run._thread.join(0.5)


@pytest.fixture(autouse=True)
def no_outer_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the socket of the process that runs the tests."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert "NOTIFY_SOCKET" not in os.environ
