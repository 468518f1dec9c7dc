"""A hand behind the process that talks to it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass

from robot_rt_control.hardware.franka.probe import refusal
from robot_rt_control.hardware.franka.simulator import is_loopback
from robot_rt_control.processes.parent_death import end_with_parent
from robot_rt_control.processes.python import start

_CONNECT_S = 20.0
_END_S = 2.0
"""[s] for the process to end by itself, once its input has ended."""


@dataclass(frozen=True)
class HandState:
    """A state of the hand: its width and the largest one [m], whether it holds something, its temperature [°C]."""

    width: float
    max_width: float
    is_grasped: bool
    temperature: float


class Hand:
    """The hand at an address. `poll` takes what has come; nothing waits but the constructor and `close`.

    Attributes:
        state: the last one, and when it came [s, of `now`]: `seen`. None comes during a motion.
        heard: when the process was heard of [s, of `now`].
        is_busy: whether it moves, or is about to. Nothing can end a motion before its end.
        failure: why the last motion did not get to its goal; empty: it did.
        lost: why it cannot be reached any more; empty: it can.

    Raises:
        HardwareError: no hand answers; says what to do.
    """

    def __init__(self, address: str) -> None:
        self.state = HandState(0.0, 0.0, False, 0.0)
        what, given_up = f"hand of the Franka at {address!r}", time.monotonic() + _CONNECT_S
        refused = ""
        while (text := self._connect(address, given_up)) is not None:
            self.close()
            in_time = time.monotonic() < given_up
            refused = text if in_time or not refused else refused
            # A simulator that was started at the same time needs some seconds.
            if not (is_loopback(address) and "refused" in refused.lower() and in_time):
                raise refusal(what, refused)
            time.sleep(0.2)

    def _connect(self, address: str, given_up: float) -> str | None:
        """Wait for the first state. Why there is none; None: it has come."""
        self.is_busy, self.failure, self.lost = False, "", ""
        self.seen, self.heard, self._rest, self._has_ended = 0.0, 0.0, b"", False
        self._process = start(
            "robot_rt_control.hardware.franka_hand.client",
            address,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=end_with_parent(signal.SIGKILL),
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        while not (self.lost or self.seen):
            if time.monotonic() > given_up:
                return f"timeout: no state within {_CONNECT_S:g} s"
            time.sleep(0.002)
            self.poll()
        return self.lost or None

    @staticmethod
    def now() -> float:
        """[s] monotonic."""
        return time.monotonic()

    def _lines(self) -> list[str]:
        """What the process has printed since the last call; at its end, a line `lost`."""
        while not self._has_ended:
            try:
                more = os.read(self._out, 65536)
            except BlockingIOError:
                break
            self._has_ended = not more
            self._rest += more or b"\nlost its process has ended\n"
        *whole, self._rest = self._rest.split(b"\n")
        return [line.decode(errors="replace") for line in whole if line]

    def poll(self) -> None:
        """Take what has come."""
        for line in self._lines():
            name, _, text = line.partition(" ")
            if name == "lost":
                self.lost = self.lost or text
                continue
            self.heard = self.now()
            if name == "state":
                width, most, is_grasped, temperature = map(float, text.split())
                self.state, self.seen = HandState(width, most, bool(is_grasped), temperature), self.heard
            elif name == "done":
                self.is_busy, self.failure = False, "" if text == "1" else "it did not get there"
            elif name == "failed":
                self.is_busy, self.failure = False, text

    def move(self, width: float, speed: float) -> None:
        """Begin to move to a width [m] with a speed [m/s]. Only while it is not busy."""
        self._begin(f"move {width} {speed}")

    def grasp(self, width: float, speed: float, force: float) -> None:
        """Begin to close to a width [m] with a speed [m/s] and to hold what is in the way with a force [N]. Only while
        it is not busy."""
        self._begin(f"grasp {width} {speed} {force}")

    def _begin(self, line: str) -> None:
        try:
            os.write(self._in, line.encode() + b"\n")
        except (BlockingIOError, BrokenPipeError):
            self.lost = self.lost or "its process takes no commands"
        else:
            self.is_busy, self.heard = True, self.now()

    def close(self) -> None:
        """Let go of it. A motion that has begun goes on to its end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
