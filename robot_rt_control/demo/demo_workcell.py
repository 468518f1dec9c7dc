"""A workcell for the demonstration: the supervisor in a process of its own, with its output in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from robot_rt_control.bringup.startup_steps import StartupSteps
from robot_rt_control.client import Client
from robot_rt_control.processes.parent_death import end_with_parent
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError

_SHOWN_LINES = 15
_POLL_S = 0.1


class DemoWorkcell:
    """Brings a workcell up and down again; a context manager.

    Args:
        arguments: of the command `workcell`.
        log: file for the output of its processes.
        inside: a command that executes another one, such as nsenter.
        environment: variables besides those of this process.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        log: Path,
        *,
        inside: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._arguments, self._log, self._inside = arguments, log, inside
        self._environment = environment or {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> DemoWorkcell:
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                [*self._inside, sys.executable, "-m", "robot_rt_control.bringup.workcell", *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=end_with_parent(signal.SIGINT),
                start_new_session=True,  # Ctrl-C ends the demonstration, which then ends the workcell in order
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self._environment},
            )
        return self

    @property
    def pid(self) -> int:
        """Of the supervisor, whose children are the workcell's processes."""
        assert self._process is not None
        return self._process.pid

    def last_lines(self, n: int = 1) -> list[str]:
        """The last lines that its processes printed."""
        return self._log.read_text(errors="replace").splitlines()[-n:]

    def wait_until_ready(
        self, client: Client | None, progress: Callable[[str], object], timeout_s: float = defaults.STARTUP_S
    ) -> None:
        """Wait until all processes are up and all parts with joints are enabled.

        Args:
            client: of the workcell; None: it is not asked whether the parts are enabled.
            progress: called repeatedly with the present step and its duration.

        Raises:
            RobotControlError: a process died, a part is faulted, or it took too long; the hint has the last lines of
                output.
        """
        assert self._process is not None
        deadline = time.monotonic() + timeout_s
        steps = StartupSteps()
        while not steps.is_up:
            step = steps.update(self._log.read_text(errors="replace"))
            progress(step)
            if self._process.poll() is not None or time.monotonic() > deadline:
                shown = "\n".join(self.last_lines(_SHOWN_LINES))
                raise RobotControlError(
                    "the workcell did not come up" if self._process.poll() is None else "the workcell ended",
                    expected="all processes up",
                    got=step,
                    hint=f"Its last words (all of them: {self._log}):\n{shown}",
                )
            time.sleep(_POLL_S)
        for part in client.parts() if client is not None else ():
            if part.joint_names and part.operational_state != "enabled":
                raise RobotControlError(
                    f"part {part.name!r} is {part.operational_state}: {part.fault}",
                    hint=f"See {self._log}; on the wall clock: is the machine too busy? Bring the workcell up again",
                )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        for number, patience in ((signal.SIGINT, 60.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0)):
            process.send_signal(number)
            try:
                process.wait(patience)
                return
            except subprocess.TimeoutExpired:
                continue
