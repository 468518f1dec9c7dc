"""The preparer's processes. Users' code runs in them, so that it cannot stop, crash or read the control server.

Each is forked from the one before it:

1. the *preparer*, which has this package imported, and no user's code;
2. for each file of action types, a process that imports it once: later edits of the file do not matter;
3. for each session and action type, a *worker*: it creates the session's actions and fills their parameter records.

The first two take orders at a control socket, one packet each: `{"start": number, ...}` with the new process's
file descriptors, or `{"abort": number}`. When a process ends, the one that forked it writes into its *note* how, and
where its code was. Orders are pickled by the server; requests and answers are frames.

All processes end when their control socket or connection closes, and when the process that forked them ends. What
users' code has started ends with them: the first two adopt what loses its parent below them, and kill it (K21).
"""

from __future__ import annotations

import faulthandler
import functools
import gc
import json
import os
import pickle
import resource
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, fill_parameters, parameter_dtype
from robot_rt_control.definitions.resampling import RESAMPLE_METHOD, resample
from robot_rt_control.memory.layout import measured_dtype
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.processes.ending import signal_name
from robot_rt_control.processes.errors import described
from robot_rt_control.processes.frames import Far
from robot_rt_control.processes.left_behind import adopt, children, end_all_children, end_children
from robot_rt_control.processes.parent_death import end_with
from robot_rt_control.server.code.source import files_digest, load_action_type
from robot_rt_control.server.preparer.axis_view import AxisDescription, AxisView, degree_limits
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.server.preparer.user_code import frames_of, run_user_code
from robot_rt_control.vocabulary.errors import CompileError, RobotControlError

MAX_ORDER_BYTES = 1 << 16


@dataclass(frozen=True)
class _Child:
    number: int
    note: int
    """File descriptor, to be written when it ends."""
    trace: int
    """File descriptor of a file in memory: the place where its code was, see `_Worker`."""


class _Forks:
    """Forks processes on order, and reports how they ended.

    Args:
        control: gives the orders.
        run: what a new process does with its order, connection, further sockets, and trace.
        folder: of the user's code.
    """

    patience: ClassVar[float]
    """[s] An aborted process that has not ended by itself after this time is killed; its line is not known then."""

    def __init__(
        self,
        control: socket.socket,
        run: Callable[[Mapping[str, Any], Far, Sequence[int], int], object],
        folder: Path | None = None,
    ) -> None:
        self._control, self._run, self._folder = control, run, folder
        self._children: dict[int, _Child] = {}
        self._aborted: set[int] = set()
        self._woken, self._waking = os.pipe()
        # A process that the file has started as it was imported ends with its process.
        self._own = children()
        adopt()

    def serve(self) -> NoReturn:
        """Take orders until the control socket closes."""
        os.set_blocking(self._waking, False)
        signal.set_wakeup_fd(self._waking)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # it wakes up `select`
        gc.freeze()  # forked processes share the memory of what is there already
        while True:
            patience = self.patience if self._aborted else None
            ready, _, _ = select.select([self._control.fileno(), self._woken], [], [], patience)
            if self._woken in ready:
                os.read(self._woken, 1 << 10)
                self._reap()
            if self._control.fileno() in ready:
                data, files, _, _ = socket.recv_fds(self._control, MAX_ORDER_BYTES, 3)
                if not data:
                    break
                order = pickle.loads(data)
                if "start" in order:
                    self._start(order, files)
                else:
                    self._abort(order["abort"])
            if not ready:
                self._kill(self._aborted)
        self._kill(self._children)
        end_all_children()
        os._exit(0)

    def _start(self, order: Mapping[str, Any], files: Sequence[int]) -> None:
        connection, note, *further = files
        trace, parent = os.memfd_create("trace"), os.getpid()
        pid = os.fork()
        if pid == 0:
            _end_with(parent)
            others = [file for child in self._children.values() for file in (child.note, child.trace)]
            for file in (note, self._control.fileno(), self._woken, self._waking, *others):
                os.close(file)
            try:
                self._run(order, Far(socket.socket(fileno=connection)), further, trace)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        with suppress(ProcessLookupError):
            os.setpgid(pid, pid)  # as the child does itself: whichever comes first
        for file in (connection, *further):
            os.close(file)
        self._children[pid] = _Child(order["start"], note, trace)

    def _abort(self, number: int) -> None:
        for pid, child in self._children.items():
            if child.number == number:
                self._aborted.add(pid)
                os.kill(pid, signal.SIGABRT)

    def _kill(self, pids: Iterable[int]) -> None:
        for pid in pids:  # they are not waited for yet, so these ids are still theirs
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def _reap(self) -> None:
        for pid, child in list(self._children.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            self._kill([pid])  # and all that it has started
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            del self._children[pid]
            self._aborted.discard(pid)
            how = signal_name(-code) if code < 0 else f"exit code {code}"
            place = _place(frames_of(child.trace), self._folder)
            with suppress(BrokenPipeError):  # no request waits for it
                os.write(child.note, json.dumps({"how": how, "place": place}).encode())
            os.close(child.note)
            os.close(child.trace)
        end_children(keep={*self._children, *self._own})  # whose worker has ended


def _place(frames: Sequence[tuple[str, ...]], folder: Path | None) -> str:
    """The innermost line in a folder, else the definition of the method that ran, as file:line; empty: none ran."""
    own = [frame for frame in frames[1:] if Path(frame[0]).parent == folder]
    return ":".join((own or frames or [()])[0])


def _end_with(parent: int) -> None:
    """Make a new process's end follow its parent's; its signals and its group are its own."""
    end_with(parent, signal.SIGKILL)
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _import_file(order: Mapping[str, Any], connection: Far, further: Sequence[int], _trace: int) -> None:
    """Import a file of action types, answer, and fork workers. Never returns."""
    connection.send({"pid": os.getpid()})
    for entry in order["path"]:
        if entry not in sys.path:
            sys.path.append(entry)
    try:
        module = load_action_type(order["spec"]).module
        if files_digest(module) != order["files"]:
            raise CompileError(
                f"action type {order['spec']} is not what was built",
                hint="Its file, or one that it imports, has changed in the meantime: load it again",
            )
    except RobotControlError as error:
        connection.send({"error": described(error)})
        os._exit(0)
    connection.send({})
    connection.close()

    def work(order: Mapping[str, Any], connection: Far, _further: Sequence[int], trace: int) -> None:
        action_type = functools.reduce(getattr, order["class_name"].split("."), module)
        _Worker(action_type, connection, trace).serve()

    _Forks(socket.socket(fileno=further[0]), work, Path(module.__file__ or "").resolve().parent).serve()


class _Worker:
    """Prepares the actions of one type and session.

    The trace begins with the line at which the method that runs is defined. A process that is ended by a fault or by
    SIGABRT adds where its code was, the innermost line first; one that ends itself adds nothing.
    """

    def __init__(self, action_type: Any, connection: Far, trace: int) -> None:
        self._type: type[ActionType] = action_type
        self._connection, self._trace = connection, trace
        self._record = parameter_dtype(action_type)
        self._measured: np.ndarray | None = None
        self._parts: dict[str, PartView] = {}
        self._actions: dict[int, ActionType] = {}

    def serve(self) -> None:
        """Answer requests until the connection closes."""
        adopt()  # what its code starts stays below it, so that nobody else's end ends it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable(self._trace, all_threads=False)
        self._connection.send({"pid": os.getpid()})
        descriptions: list[PartDescription] = self._connection.receive()
        self._parts = {d.name: PartView(d, lambda: self._measured) for d in descriptions}
        for part in self._parts.values():
            part.workcell = MappingProxyType(self._parts)
        while True:
            try:
                request = self._connection.receive()
            except ConnectionError:
                os._exit(0)
            try:
                answer = self._answer_to(**request)
            except RobotControlError as error:
                answer = {"error": described(error), "class": type(error).__name__}
            self._connection.send(answer)

    def _answer_to(
        self,
        *,
        method: str,
        of: str,
        action: int,
        given: Mapping[str, Any],
        measured: bytes | None,
        gone: Sequence[int],
    ) -> dict[str, Any]:
        """Create an action's object from slot → part, fill its parameter record from values, find the limits of its
        declared degrees of freedom, or resample a stream."""
        for number in gone:
            self._actions.pop(number, None)
        self._measured = None if measured is None else np.frombuffer(measured, measured_dtype)
        self._begin(method)
        if method == "create":
            parts = {slot: self._part(part) for slot, part in given.items()}
            self._actions[action] = run_user_code(of, self._type, method, lambda: self._type.create(parts))
            return {}
        memory, instance = np.zeros(1, self._record), self._actions[action]
        if method == "prepare_degrees":
            params = np.frombuffer(given["parameters"], self._record)[0]
            limits = run_user_code(of, self._type, method, lambda: degree_limits(instance, params))
            return {"record": limits.tobytes().hex()}
        if method != "prepare_parameters":
            stream = method.removeprefix(RESAMPLE_METHOD)
            made = run_user_code(of, self._type, method, lambda: resample(instance, stream, **given))
            return {"samples": made}
        run_user_code(of, self._type, method, lambda: fill_parameters(instance, given, memory[0]))
        return {"record": memory.tobytes().hex()}

    def _part(self, given: str | AxisDescription) -> PartView | AxisView:
        return self._parts[given] if isinstance(given, str) else AxisView(self._parts[given.part], given)

    def _begin(self, method: str) -> None:
        own = method if method in vars(self._type) else "__init__"
        code = getattr(getattr(self._type, own), "__code__", None)
        os.ftruncate(self._trace, 0)
        os.lseek(self._trace, 0, os.SEEK_SET)
        if code is not None:
            os.write(self._trace, f'File "{code.co_filename}", line {code.co_firstlineno}\n'.encode())


def main() -> None:
    """The preparer. Its arguments are the control socket's file descriptor, and the patience [s]."""
    os.dup2(2, 1)  # what code of users prints belongs into the server's log
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all: the server ends this process
    _Forks.patience = float(sys.argv[2])
    _Forks(socket.socket(fileno=int(sys.argv[1])), _import_file).serve()
