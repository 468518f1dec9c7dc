"""Planning in a process of its own: it can be broken off at any moment, and nothing is left of it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from robot_rt_control.planner.job import (
    Described,
    Finished,
    Job,
    Measure,
    Picture,
    Refused,
    Report,
    error_of,
    mistakes_of,
)
from robot_rt_control.planning.plan import Plan
from robot_rt_control.server.markers.shape import Shape
from robot_rt_control.server.preparer.process import PYTHON, environment
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

SOLVER = "robot_rt_control.planner.solver"
LOOK_S = 0.02
"""[s] A request to cancel is seen after this time at the latest."""
GRACE_S = 0.25
"""[s] for which planning may go on after a cancel or a timeout, to give back its plan; then its process is killed."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How planning ended."""

    success: bool
    message: str
    plan: Plan | None = None
    """The best one without virtual forces, in the job's file."""
    error: RobotControlError | None = None
    """It did not even begin, or its process died."""
    cancelled: bool = False
    pose: str = ""
    """See `Described`."""


class PlanningProcess:
    """Makes one plan. `run` is called once; the thread that calls it must live as long as the process.

    Args:
        job: what to plan.
        measure: present values of the state variables with these prefixes, from one tick; it may raise
            RobotControlError.
        solver: module, or file, whose function `solve` plans.
    """

    def __init__(
        self,
        job: Job,
        *,
        measure: Callable[[Sequence[str]], Mapping[str, float]],
        solver: str = SOLVER,
    ) -> None:
        self._job, self._measure, self._solver = job, measure, solver
        self._messages: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._pose = ""

    @property
    def pid(self) -> int | None:
        """Of the process; None: it has not begun."""
        return None if self._process is None else self._process.pid

    def run(
        self,
        *,
        report: Callable[[Report], None] = lambda _: None,
        draw: Callable[[Sequence[Shape]], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """Plan, until it ends, at most GRACE_S after a cancel or the job's timeout.

        Args:
            report, draw: called in the calling thread.
            cancelled: asked every LOOK_S.
        """
        near, far = Pipe()
        with near:
            with far:
                # In a group of its own: a terminal's Ctrl-C does not reach it.
                self._process = subprocess.Popen(
                    [*PYTHON, "robot_rt_control.planner.child", str(far.fileno()), str(os.getpid()), self._solver],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[far.fileno()],
                    env=environment(),
                    start_new_session=True,
                )  # fmt: skip
            try:
                reader = threading.Thread(target=self._receive, args=(near,), name="planning", daemon=True)
                with suppress(OSError):  # it has died already
                    near.send(self._job)
                reader.start()
                return self._follow(near, report, draw, cancelled)
            finally:
                self._end(reader)

    def _receive(self, connection: Connection) -> None:
        """In a thread of its own: a process that is stopped in the middle of a message holds nobody else."""
        try:
            while True:
                self._messages.put(connection.recv())
        except (EOFError, OSError):
            self._messages.put(None)

    def _follow(
        self,
        connection: Connection,
        report: Callable[[Report], None],
        draw: Callable[[Sequence[Shape]], None],
        cancelled: Callable[[], bool],
    ) -> Outcome:
        begin, deadline, is_cancelled = time.monotonic(), None, False
        while True:
            now = time.monotonic()
            if deadline is None:
                is_cancelled = cancelled()
                if is_cancelled or (self._job.timeout and now - begin > self._job.timeout):
                    deadline = now + GRACE_S
                    with suppress(OSError):
                        connection.send("cancel")
            elif now > deadline:
                return self._outcome(None, is_cancelled=is_cancelled, broken_off=True)
            try:
                message = self._messages.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if isinstance(message, Report):
                report(message)
            elif isinstance(message, Picture):
                draw(message.shapes)
            elif isinstance(message, Described):
                self._pose = message.pose
            elif isinstance(message, Measure):
                # In a thread of its own: a workcell that does not answer must not delay a cancel.
                threading.Thread(target=self._answer, args=(connection, message), name="measure", daemon=True).start()
            elif isinstance(message, Refused):
                error = error_of(message.mistakes)
                return Outcome(success=False, message=str(error), error=error, cancelled=is_cancelled)
            elif isinstance(message, Finished):
                return self._outcome(message, is_cancelled=is_cancelled, broken_off=deadline is not None)
            else:
                return self._died(is_cancelled)

    def _answer(self, connection: Connection, asked: Measure) -> None:
        answer: object
        try:
            answer = dict(self._measure(asked.prefixes))
        except RobotControlError as error:
            answer = Refused(mistakes=mistakes_of(error))
        with suppress(OSError):
            connection.send(answer)

    def _outcome(self, finished: Finished | None, *, is_cancelled: bool, broken_off: bool) -> Outcome:
        """By what planning says of itself; None: it did not come to that."""
        plan = _plan_in(self._job.plan_file)
        if finished is not None and not broken_off:
            success, message = finished.success, finished.message
        else:
            success = plan is not None and bool(plan.header["success"]) and not is_cancelled
            how = "cancelled" if is_cancelled else f"stopped at the timeout of {self._job.timeout:g} s"
            message = f"{how}: " + ("no plan so far" if plan is None else "the best plan so far")
        return Outcome(
            success=success and plan is not None, message=message, plan=plan, cancelled=is_cancelled, pose=self._pose
        )

    def _died(self, is_cancelled: bool) -> Outcome:
        assert self._process is not None
        code = self._kill()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        plan = _plan_in(self._job.plan_file)
        hint = "" if plan is None else "The best plan so far is kept"
        error = RobotControlError(f"the process that plans {how}", hint=hint or "The node's log may say why")
        return Outcome(success=False, message=str(error), plan=plan, error=error, cancelled=is_cancelled)

    def _kill(self) -> int:
        """Kill the process and its group; returns the exit code. A process that closed its connection may still
        end by itself: it says then how."""
        assert self._process is not None
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # not reaped yet, so no other group has its number
        return self._process.wait()

    def _end(self, reader: threading.Thread) -> None:
        """Leave nothing: a stopped process would heed no other signal."""
        self._kill()
        if reader.ident is not None:
            reader.join()  # the connection is closed at the other end
        partial(self._job.plan_file).unlink(missing_ok=True)


def partial(plan_file: Path) -> Path:
    """Where a plan is written before it gets its name."""
    return plan_file.with_name(plan_file.name + ".part")


def save_whole(plan: Plan, file: Path) -> None:
    """Write a plan, so that at any moment the file is whole or not there."""
    plan.save(partial(file))
    partial(file).replace(file)


def _plan_in(file: Path) -> Plan | None:
    try:
        return Plan.load(file)
    except DefinitionError:
        return None
