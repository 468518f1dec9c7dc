"""The preparer as the server sees it: processes beside it in which users' code prepares actions.

They speak in frames, as all processes beside this one (`processes.frames`). But `PythonProcess` does not fit: all but
the first are forked by another one of them, on orders with file descriptors, which need a socket of packets. So they
are no children of the server: the one that forked them ends them, and knows how they ended.
"""

from __future__ import annotations

import itertools
import json
import pickle
import socket
import subprocess
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from robot_rt_control.processes.ending import wait_or_kill
from robot_rt_control.processes.frames import Near
from robot_rt_control.processes.python import import_path, start
from robot_rt_control.processes.work_watch import LOOK_S, WorkWatch
from robot_rt_control.server.preparer.user_code import CORRECT
from robot_rt_control.vocabulary.errors import CompileError

MAX_ERROR_BYTES = 1 << 16
LIMIT_S = 120.0
"""[s] of processor time, and of idleness, for what no session's end would end: imports, and the system's actions."""
_numbers = itertools.count(1)


class Ended(Exception):
    """A process has ended.

    Args:
        how: a signal or an exit code; empty: not known.
        place: file and line of the user's code that ran; empty: not known.
    """

    def __init__(self, how: str = "", place: str = "") -> None:
        super().__init__(how)
        self.how, self.place = how or "unknown reason", place


class Process:
    """A process that is forked on order, and the connection to it.

    Args:
        control: of the process that forks it.
        order: what it is to do.
        further: sockets for it; they are closed here.
        limit: an answer may take this much of its processor time, and it may be idle for as long [s]; None: no limit.

    Raises:
        OSError: the process that should fork it is gone.
        Ended: it ended at once.
    """

    def __init__(
        self, control: socket.socket, order: Mapping[str, Any], *further: socket.socket, limit: float | None
    ) -> None:
        self._control, self._number = control, next(_numbers)
        self._watch: WorkWatch | None = None
        (near, far), (self._note, note) = socket.socketpair(), socket.socketpair()
        self.connection = Near(near)
        sent = (far, note, *further)
        try:
            packet = pickle.dumps({"start": self._number, **order})
            socket.send_fds(control, [packet], [s.fileno() for s in sent])
            for one in sent:
                one.close()
            pid = int(self.receive(MAX_ERROR_BYTES)["pid"])
        except BaseException:
            for one in sent:
                one.close()
            self.close()
            raise
        if limit is not None:
            self._watch = WorkWatch(pid, processor_s=limit, idle_s=limit)

    def receive(self, max_bytes: int) -> dict[str, Any]:
        """Its next answer.

        Raises:
            Ended: it has ended, or its answer is not one.
        """
        too_much = ""
        if self._watch is not None:
            self._watch.restart()
        look = None if self._watch is None else LOOK_S
        try:
            while (answer := self.connection.receive(look, most=max_bytes, end=self._note)) is None:
                if self._watch is not None and not too_much and (too_much := self._watch.look()):
                    self.abort()
            return answer
        except ConnectionError as error:
            self.abort()
            data = self._note.recv(MAX_ERROR_BYTES)
            how = json.loads(data) if data else {}
            raise Ended(**how | ({"how": too_much} if too_much else {})) from error

    @property
    def is_gone(self) -> bool:
        """Whether it has ended. Between requests only."""
        return bool(wait([self.connection.fileno(), self._note], 0.0))

    def abort(self) -> None:
        """End it, whatever it does. The thread that waits for its answer gets `Ended`, with the place of its code."""
        with suppress(OSError):  # the process that forked it is gone, so it is gone as well
            self._control.send(pickle.dumps({"abort": self._number}))

    def close(self) -> None:
        """Hang up: it ends by itself unless it is busy."""
        self.connection.close()
        self._note.close()


class Preparers:
    """Starts the preparer's first process when it is needed, and again when it has died. Thread-safe.

    Args:
        patience: [s] for a process that is to end to say where it was; then it is killed.
    """

    def __init__(self, patience: float = 10.0) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._files: weakref.WeakValueDictionary[tuple[str, str], TypeFile] = weakref.WeakValueDictionary()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Process id of the first process; None: there is none."""
        return self._process.pid if self._process is not None else None

    def control(self) -> socket.socket:
        """The socket for orders; starts the process first if need be."""
        with self._lock:
            if self._closed:
                raise CompileError("the builder is closed", hint="Make a new Builder")
            if self._control is None or self._process is None or self._process.poll() is not None:
                self._end()
                self._control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with far:
                    self._process = start(
                        "robot_rt_control.server.preparer", far.fileno(), self._patience, pass_fds=[far.fileno()]
                    )
            return self._control

    def load(self, spec: str, files: str) -> TypeFile:
        """Import a file of action types in a process of its own.

        Args:
            spec: "file.py:Class" or "package.module:Class".
            files: digest of its files when it was built, see `files_digest`.

        Raises:
            CompileError: it cannot be imported, or has changed since.
        """
        key = (spec.rpartition(":")[0], files)
        found = self._files.get(key)
        if found is None:
            found = self._files[key] = TypeFile(self, spec, files)
        return found

    def close(self) -> None:
        """End all processes; requests under way fail."""
        self._closed = True
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        control, self._control = self._control, None
        if control is not None:
            control.close()
        if process is not None:
            wait_or_kill(process)


class TypeFile:
    """A file of action types, imported in a process that forks workers. It ends with the last one who uses this."""

    def __init__(self, preparers: Preparers, spec: str, files: str) -> None:
        self._preparers, self._spec, self._files = preparers, spec, files
        self._lock = threading.Lock()
        self._control = self._imported()

    def _imported(self) -> socket.socket:
        """The socket for orders to a new process that has imported the file."""
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = {"spec": self._spec, "files": self._files, "path": import_path()}
        weakref.finalize(self, near.close)  # it ends then
        try:
            process = Process(self._preparers.control(), order, far, limit=LIMIT_S)
            answer = process.receive(MAX_ERROR_BYTES)
        except (Ended, OSError) as error:
            raise CompileError(f"importing {self._spec} ended its process ({error})", hint=CORRECT) from error
        process.close()
        if "error" in answer:
            raise CompileError(**answer["error"])
        return near

    def start(self, class_name: str, limit: float | None) -> Process:
        """Fork a worker; imports the file again if its process has died.

        Raises:
            CompileError: it cannot be imported, or has changed since.
        """
        with self._lock:
            try:
                return Process(self._control, {"class_name": class_name}, limit=limit)
            except (OSError, Ended):
                self._control = self._imported()
                return Process(self._control, {"class_name": class_name}, limit=limit)


@dataclass(frozen=True)
class UserClass:
    """A user's action type, in the process of its file."""

    file: TypeFile
    name: str
    """The class's name within its module."""
