"""A process beside this one that runs a module of this package, at the far end of a connection."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any

from robot_rt_control.processes.ending import END_S, how_ended, kill, wait_or_kill
from robot_rt_control.processes.frames import Near
from robot_rt_control.processes.python import start
from robot_rt_control.processes.work_watch import LOOK_S, WorkWatch


class ProcessEnded(Exception):
    """A process has ended; the text says how: "was ended by SIGKILL".

    Args:
        hangs: it took too long, and was killed.
    """

    def __init__(self, how: str, *, hangs: bool = False) -> None:
        super().__init__(how)
        self.hangs = hangs


class PythonProcess:
    """Runs a module whose main program calls `frames.connect`. What it prints goes to this process's standard error.

    One thread receives; all else may be called from any. A `with` statement ends it at once; else call `close`.

    Args:
        arguments: of its command.
        descriptors: files that it inherits.
        own_group: it has a process group of its own, which a terminal's Ctrl-C does not reach; `kill` ends the group.
    """

    def __init__(
        self, module: str, *arguments: object, descriptors: Sequence[int] = (), own_group: bool = False
    ) -> None:
        near, far = socket.socketpair()
        self._group = own_group
        with far:
            self._process = start(
                module, far.fileno(), os.getpid(), *arguments,
                stdout=2, pass_fds=[far.fileno(), *descriptors], start_new_session=own_group,
            )  # fmt: skip
        self._near = Near(near)
        self.pid = self._process.pid

    def __enter__(self) -> PythonProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close(0.0)

    @property
    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def send(self, message: object) -> None:
        """See `Near.send`."""
        self._near.send(message)

    def receive(self, timeout: float | None) -> dict[str, Any] | None:
        """Its next message; None: it has said nothing in this time [s].

        Raises:
            ProcessEnded: it has ended, or said something else than a message, and was ended.
        """
        try:
            return self._near.receive(timeout)
        except ConnectionResetError:
            raise ProcessEnded(self._end(END_S)) from None
        except ConnectionError as error:
            self._end(0.0)
            raise ProcessEnded(f"answered with {error}, and was ended") from None

    def watched(self, watch: WorkWatch) -> dict[str, Any]:
        """Its next message; the watch begins anew with it.

        Raises:
            ProcessEnded: as `receive`; or it took too much, and was ended.
        """
        while (message := self.receive(LOOK_S)) is None:
            if too_much := watch.look():
                self._end(0.0)
                raise ProcessEnded(f"{too_much} and was ended", hangs=True)
        watch.restart()
        return message

    def kill(self) -> None:
        """Kill it, also if it is stopped. Does not wait: `receive` says that it has ended."""
        kill(self._process, group=self._group)

    def close(self, patience: float = END_S) -> None:
        """Hang up, and wait: it ends by itself, and what it has started; if not within `patience` [s], it is killed."""
        self._near.hang_up()
        self._end(patience)
        self._near.close()

    def _end(self, patience: float) -> str:
        wait_or_kill(self._process, patience, group=self._group)
        return how_ended(self._process.returncode)
