"""A call of a function in a process of its own: nothing of what it loads stays in this one."""

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


def call(module: str, question: Any, *, limit: float) -> Any:
    """Ask a module whose main program is `answer`.

    Args:
        question: for its function; JSON, as the answer.
        limit: [s] of processor time, and of idleness, that the answer may take.

    Raises:
        RobotControlError: as the function; or the process ended, or took too long.
    """
    with PythonProcess(module) as process:
        process.send({"path": import_path(), "question": question})
        try:
            answer = process.watched(WorkWatch(process.pid, processor_s=limit, idle_s=limit))
        except ProcessEnded as ended:
            raise RobotControlError(f"the process of {module} {ended}") from None
    if "error" in answer:
        raise error_of(answer["error"])
    return answer["answer"]


def answer(function: Callable[[Any], Any]) -> None:
    """The main program of such a process: one question, one answer."""
    connection = connect(with_thread=True)
    asked = connection.receive()
    sys.path += [entry for entry in asked["path"] if entry not in sys.path]
    try:
        found: dict[str, Any] = {"answer": function(asked["question"])}
    except RobotControlError as error:
        found = {"error": fields_of(error)}
    except Exception as error:
        found = {"error": fields_of(InternalError.of(function.__name__, error))}
    connection.send(found)
