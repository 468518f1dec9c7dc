"""Planning in a process of its own: it can be broken off at any moment, and nothing is left of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.planner.job import Described, Finished, Job, Measure, Message, Picture, Refused, Report
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.processes.errors import error_of, fields_of
from robot_rt_control.processes.python_process import ProcessEnded, PythonProcess
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

SOLVER = "robot_rt_control.planner.solver"
LOOK_S = 0.02
"""[s] A request to cancel is seen after this time at the latest."""
GRACE_S = 0.25
"""[s] for which planning may go on after a cancel or a timeout, to give back its plan; then its process is killed."""
_KINDS = {kind.__name__: TypeAdapter[Message](kind) for kind in get_args(Message)}


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
        self._process: PythonProcess | None = None
        self._pose = ""

    @property
    def pid(self) -> int | None:
        """Id of the process; None: it has not begun."""
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
        try:
            # In a group of its own: a terminal's Ctrl-C does not reach it.
            with PythonProcess("robot_rt_control.planner.child", self._solver, own_group=True) as self._process:
                self._process.send(self._job)
                return self._follow(self._process, report, draw, cancelled)
        finally:
            partial(self._job.plan_file).unlink(missing_ok=True)

    def _follow(
        self,
        process: PythonProcess,
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
                    process.send("cancel")
            elif now > deadline:
                return self._outcome(None, is_cancelled=is_cancelled, broken_off=True)
            try:
                found = process.receive(LOOK_S)
                if found is None:
                    continue
                message = message_of(found)
            except ProcessEnded as ended:
                return self._died(str(ended), is_cancelled)
            except ValueError:
                return self._died("answered with what is no message, and was ended", is_cancelled)
            if isinstance(message, Report):
                report(message)
            elif isinstance(message, Picture):
                draw(message.shapes)
            elif isinstance(message, Described):
                self._pose = message.pose
            elif isinstance(message, Measure):
                # In a thread of its own: a workcell that does not answer must not delay a cancel.
                threading.Thread(target=self._answer, args=(process, message), name="measure", daemon=True).start()
            elif isinstance(message, Refused):
                error = error_of(message.mistakes)
                return Outcome(success=False, message=str(error), error=error, cancelled=is_cancelled)
            else:
                return self._outcome(message, is_cancelled=is_cancelled, broken_off=deadline is not None)

    def _answer(self, process: PythonProcess, asked: Measure) -> None:
        try:
            process.send(dict(self._measure(asked.prefixes)))
        except RobotControlError as error:
            process.send(Refused(mistakes=fields_of(error)))

    def _outcome(self, finished: Finished | None, *, is_cancelled: bool, broken_off: bool) -> Outcome:
        """By what planning says of itself; None: it did not come to that."""
        plan = _plan_in(self._job.plan_file)
        if finished is not None and not broken_off:
            success, message = finished.success, finished.message
        else:
            success = plan is not None and not plan.lacking and not is_cancelled
            how = "cancelled" if is_cancelled else f"stopped at the timeout of {self._job.timeout:g} s"
            message = f"{how}: " + ("no plan so far" if plan is None else "the best plan so far")
        return Outcome(
            success=success and plan is not None, message=message, plan=plan, cancelled=is_cancelled, pose=self._pose
        )

    def _died(self, how: str, is_cancelled: bool) -> Outcome:
        plan = _plan_in(self._job.plan_file)
        hint = "The node's log may say why" if plan is None else "The best plan so far is kept"
        error = RobotControlError(f"the process that plans {how}", hint=hint)
        return Outcome(success=False, message=str(error), plan=plan, error=error, cancelled=is_cancelled)


def message_of(found: Mapping[str, Any]) -> Message:
    """The message that `job.plain` took apart.

    Raises:
        ValueError: it is none.
    """
    ((kind, fields),) = found.items()
    if kind not in _KINDS:
        raise ValueError(f"message of the kind {kind!r}")
    return _KINDS[kind].validate_python(fields)


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
