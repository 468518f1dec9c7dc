"""One supervised process: its output, readiness and death. It does not outlive its parent."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence

from robot_rt_control.processes.ending import how_ended
from robot_rt_control.processes.parent_death import end_with_parent
from robot_rt_control.ros.readiness import READY, STATUS, VARIABLE

KEPT_LINES = 20
_CHUNK = 65536


class ChildProcess:
    """Starts a command in a session of its own, so that a terminal's Ctrl-C does not reach it.

    If the thread that made it ends, the kernel sends it SIGTERM. None of the methods blocks.

    Args:
        name: for messages.
        command: to execute.
        environment: of the process.

    Raises:
        OSError: the command cannot be executed.
    """

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        """The last lines of its output."""
        self.ready = False
        self.status = ""
        """The trouble that it reports; empty: none."""
        self.started = time.monotonic()
        self._rest = b""
        address = f"@robot_rt_control-{os.getpid()}-{secrets.token_hex(8)}"
        self._readiness = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._readiness.bind("\0" + address[1:])
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**environment, VARIABLE: address},
                start_new_session=True,
                preexec_fn=end_with_parent(signal.SIGTERM),
            )
        except OSError:
            self._readiness.close()
            raise
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._output, False)
        self._pidfd = os.pidfd_open(self._process.pid)
        self.exit_code: int | None = None
        """None: it lives; negative: the signal that ended it."""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.started

    @property
    def descriptors(self) -> tuple[int, int, int]:
        """File descriptors to wait on: output, readiness, death."""
        return self._output, self._readiness.fileno(), self._pidfd

    def read_lines(self) -> list[str] | None:
        """Its output since the last call, as whole lines; None: it has closed its output."""
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return []
        if not data:
            return None
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _CHUNK:
            whole, self._rest = [*whole, self._rest], b""
        return self._keep(whole)

    def _keep(self, lines: Sequence[bytes]) -> list[str]:
        texts = [line.decode(errors="replace").rstrip("\r") for line in lines]
        self.lines.extend(texts)
        return texts

    def read_readiness(self) -> bool:
        """Update `ready` and `status` from its messages. Returns whether there was a new one."""
        before = self.ready, self.status
        try:
            for line in self._readiness.recv(_CHUNK).split(b"\n"):
                if line == READY:
                    self.ready = True
                elif line.startswith(STATUS):
                    self.status = line.removeprefix(STATUS).decode(errors="replace")
        except BlockingIOError:
            pass
        return (self.ready, self.status) != before

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process alone; it ends its own children."""
        if self.exit_code is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it together with its children."""
        if self.exit_code is None:
            os.killpg(self.pid, signal.SIGKILL)

    def reap(self) -> list[str]:
        """After its death: take its exit code, end what is left of its process group, return its last output."""
        # As long as it is not reaped, no other process group can get its number.
        os.killpg(self.pid, signal.SIGKILL)
        self.exit_code = self._process.wait()
        lines: list[str] = []
        while more := self.read_lines():
            lines += more
        if self._rest:
            lines += self._keep([self._rest])
            self._rest = b""
        os.close(self._pidfd)
        self._readiness.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        return lines

    def how_it_ended(self) -> str:
        """In words."""
        return "is running" if self.exit_code is None else how_ended(self.exit_code)
