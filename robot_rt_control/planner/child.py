"""`python -m robot_rt_control.planner.child`: the process that plans. Started by `PlanningProcess`, not by hand.

It gets its job, and says how it goes. It computes at low priority, writes nothing but the plan's file, and ends with
the thread that started it, however that ends.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.planner import job as said
from robot_rt_control.planner.job import Described, Finished, Job, Link, Refused, Report
from robot_rt_control.processes.errors import error_of, fields_of
from robot_rt_control.processes.frames import Far, connect
from robot_rt_control.vocabulary.errors import InternalError, RobotControlError

NICE = 10
"""Niceness of the planner, at least: control comes first."""


def lower_priority() -> None:
    """Let all others come first, on the processors that they want. For the calling thread and those it starts."""
    os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0), NICE))
    with suppress(OSError):  # not allowed: then niceness alone
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


class NodeLink:
    """The node, by a connection to it. One thread plans and sends; another one receives."""

    def __init__(self, connection: Far) -> None:
        self._connection = connection
        self._answers: queue.SimpleQueue[Mapping[str, float] | RobotControlError] = queue.SimpleQueue()
        self.cancelled = threading.Event()
        threading.Thread(target=self._receive, name="link", daemon=True).start()

    def _receive(self) -> None:
        try:
            while True:
                message = self._connection.receive()
                if message == "cancel":
                    self.cancelled.set()
                elif isinstance(message, Refused):
                    self._answers.put(error_of(message.mistakes))
                else:
                    self._answers.put(message)
        except OSError:
            os._exit(1)  # nobody waits for the plan any more

    def send(self, message: said.Message) -> None:
        self._connection.send(said.plain(message))

    def describe(self, described: Described) -> None:
        self.send(described)

    def report(self, report: Report) -> None:
        self.send(report)

    def draw(self, shapes: Sequence[Shape]) -> None:
        self.send(said.Picture(shapes=tuple(shapes)))

    def measure(self, prefixes: Sequence[str]) -> Mapping[str, float]:
        self.send(said.Measure(prefixes=tuple(prefixes)))
        answer = self._answers.get()
        if isinstance(answer, RobotControlError):
            raise answer
        return answer


def solver_of(place: str) -> Callable[[Job, Link], Finished]:
    """The function `solve` of a module, by its name or file."""
    if not place.endswith(".py"):
        return importlib.import_module(place).solve
    spec = importlib.util.spec_from_file_location("solver", place)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.solve


def main(place: str) -> None:
    """Plan one job.

    Args:
        place: module that plans.
    """
    connection = connect(with_thread=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a terminal's Ctrl-C reaches it as well: the node decides
    lower_priority()
    job = connection.receive()
    link = NodeLink(connection)
    answer: Finished | Refused
    try:
        answer = solver_of(place)(job, link)
    except RobotControlError as error:
        answer = Refused(mistakes=fields_of(error))
    except Exception as error:
        traceback.print_exc()
        answer = Refused(mistakes=fields_of(InternalError.of("planning", error)))
    link.send(answer)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # everything is sent and written; threads of libraries need not end


if __name__ == "__main__":
    main(sys.argv[3])
