"""Calls of a function in a process of its own: nothing of what it loads stays in this one, nothing that it does holds
this one up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from robot_rt_control.processes.errors import error_of, fields_of
from robot_rt_control.processes.frames import connect
from robot_rt_control.processes.python import import_path
from robot_rt_control.processes.python_process import ProcessEnded, PythonProcess
from robot_rt_control.processes.work_watch import WorkWatch
from robot_rt_control.vocabulary.errors import InternalError, RobotControlError


def call(
    module: str, question: Any, *, limit: float, begun: Callable[[PythonProcess], None] = lambda _: None
) -> Any:
    """Ask a module whose main program is `answer`.

    Args:
        question: for its function; JSON, as the answer.
        limit: [s] of processor time, and of idleness, that the answer may take.
        begun: gets the process, which another thread may kill.

    Raises:
        RobotControlError: as the function; or the process ended, or took too long.
    """
    with PythonProcess(module) as process:
        begun(process)
        return _asked(process, module, question, limit)


class KeptProcess:
    """A process that answers one question after the other, started by the first one. For one thread, with whose end
    it ends.

    Args:
        module, limit: see `call`.
    """

    def __init__(self, module: str, *, limit: float) -> None:
        self._module, self._limit = module, limit
        self._process: PythonProcess | None = None

    def ask(self, question: Any) -> Any:
        """See `call`; a process that has ended is started anew by the next question."""
        if self._process is not None and self._process.is_gone:
            self.close()
        if self._process is None:
            self._process = PythonProcess(self._module)
        try:
            return _asked(self._process, self._module, question, self._limit)
        except ProcessLost:
            self.close()
            raise

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.close(0.0)


class ProcessLost(RobotControlError):
    """The process ended, or took too long and was ended."""


def _asked(process: PythonProcess, module: str, question: Any, limit: float) -> Any:
    process.send({"path": import_path(), "question": question})
    try:
        answer = process.watched(WorkWatch(process.pid, processor_s=limit, idle_s=limit))
    except ProcessEnded as ended:
        raise ProcessLost(f"the process of {module} {ended}") from None
    if "error" in answer:
        raise error_of(answer["error"])
    return answer["answer"]


def answer(function: Callable[[Any], Any]) -> None:
    """The main program of such a process: answer until the other end hangs up."""
    connection = connect(with_thread=True)
    while True:
        try:
            asked = connection.receive()
        except ConnectionError:
            return
        sys.path += [entry for entry in asked["path"] if entry not in sys.path]
        try:
            found: dict[str, Any] = {"answer": function(asked["question"])}
        except RobotControlError as error:
            found = {"error": fields_of(error)}
        except Exception as error:
            found = {"error": fields_of(InternalError.of(function.__name__, error))}
        connection.send(found)
