"""A simulated Franka for tests: franky-sim, a program by others, on a loopback address of its own."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from types import TracebackType

from robot_rt_control.hardware.franka.simulator import READY, simulator_command
from robot_rt_control.processes.parent_death import end_with_parent
from robot_rt_control.vocabulary.errors import RobotControlError

NOT_RUN = (
    "pylibfranka has no wheel for this Python: tests of the plugin `franka` against a simulator are left out"
    if sys.version_info >= (3, 13)
    else ""
)
_START_S = 120.0


class FrankaSimulator:
    """A context manager. It can be killed, and started again at the same address.

    Args:
        number: 1 to 99, of which one test on this machine has each: a claimed ROS domain.

    Raises:
        HardwareError: the program is missing.
    """

    def __init__(self, number: int) -> None:
        self.address = f"127.37.13.{number}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> FrankaSimulator:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, and return once it takes connections. Raises: RobotControlError, with what it printed."""
        self._process = process = subprocess.Popen(
            simulator_command(self.address),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=end_with_parent(signal.SIGKILL),
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": ""},
        )
        assert process.stdout is not None
        printed, given_up = b"", time.monotonic() + _START_S
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while READY.encode() not in printed:
                selector.select(given_up - time.monotonic())
                more = os.read(process.stdout.fileno(), 65536) if time.monotonic() < given_up else b""
                if not more:
                    self.kill()
                    raise RobotControlError("franky-sim did not start", got=printed.decode(errors="replace"))
                printed += more

    def kill(self) -> None:
        """End it at once, as a power failure would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None
