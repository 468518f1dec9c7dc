"""The programs beside the workcell on two hosts: the application, and the discovery server."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.network_hosts import Host
from robot_rt_control.vocabulary.errors import RobotControlError

APPLICATION = Path(__file__).with_name("remote_application.py")
PORT = 11811
"""Of the discovery server."""
PATIENCE_S = 150.0
"""For what a busy machine does late."""
_LAST_LINES = 30


class RemoteApplication:
    """The program on the second host. A context manager."""

    def __init__(self, host: Host, environment: Mapping[str, str], log: Path) -> None:
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._log = log
        with log.open("wb") as errors:
            self._process = host.start(
                [sys.executable, str(APPLICATION)],
                environment,
                subprocess.PIPE,
                stdin=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put({"what": "gone"})

    def __enter__(self) -> RemoteApplication:
        return self

    def __exit__(self, *error: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        for number in (None, signal.SIGINT, signal.SIGKILL):
            if number is not None:
                os.killpg(self._process.pid, number)
            try:
                self._process.wait(20.0)
                return
            except subprocess.TimeoutExpired:
                continue

    def do(self, step: str, **arguments: Any) -> None:
        """Begin a step."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"step": step, **arguments}) + "\n")
        self._process.stdin.flush()

    def said(self, *wanted: str, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        """The next report of one of these kinds. Raises RobotControlError: it did not come."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                line = {"what": "gone", "silent": True}
            if line["what"] in wanted:
                return line
            if line["what"] in ("gone", "failed", "not_met", "ended"):
                tail = self._log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
                raise RobotControlError(
                    "the application on the other host",
                    expected=" or ".join(wanted),
                    got=json.dumps(line),
                    hint="Its last words:\n" + "\n".join(tail),
                )


@contextmanager
def discovery_server(host: Host, log: Path) -> Iterator[None]:
    """A discovery server on a host. Raises RobotControlError: it did not start."""
    tool = shutil.which("fastdds", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if tool is None:
        raise RobotControlError("the program `fastdds` is not installed", hint="It comes with Fast DDS")
    with log.open("wb") as output:
        command = [tool, "discovery", "-l", host.address, "-p", str(PORT)]
        process = host.start(command, {}, output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20.0
        while "Server started" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RobotControlError(f"`{' '.join(command)}` did not start", got=log.read_text().strip())
            time.sleep(0.1)
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
