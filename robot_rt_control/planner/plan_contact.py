"""The ROS action plan_contact: one goal at a time, planned in a process of its own, and run if asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_rt_control import action
from robot_rt_control.drawing.shape import Shape
from robot_rt_control.planner.execution import Cancelled
from robot_rt_control.planner.job import Job, Report
from robot_rt_control.planner.kept_plans import delete_old, new_plan_file
from robot_rt_control.planner.messages import checked_timeout, feedback, parameters_of, result
from robot_rt_control.planner.planning_process import SOLVER, Outcome, PlanningProcess
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.ros.judging_action_server import JudgingActionServer, end_goal
from robot_rt_control.ros.refusals import refuse
from robot_rt_control.ros.request_sizes import check_sizes
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.private_files import make_private

_FEEDBACK_S = 0.1
"""Between two messages of feedback; a new phase is reported at once."""
_STILL_S = 1.0
"""Feedback is repeated after this time, with the time that has elapsed."""
_CLOSE_S = 5.0
"""How long `close` waits for a goal to end."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The workcell that plans are made for."""

    workcell: Path
    joint_names: Mapping[str, str]
    """`<part>.<joint>` → its name in joint_states."""
    measure: Callable[[Sequence[str]], Mapping[str, float]]
    """See `PlanningProcess`."""
    run: Callable[[Plan, str, Callable[[], bool], Callable[[str], None]], None]
    """Runs a plan; gets the part that measures the body's pose, and whether it is cancelled; takes the phase. Raises
    as `run_plan`."""


class PlanContactAction:
    """Offers the action of a node under `~/`, until `close`.

    Args:
        cell: the running workcell.
        folder: in which plans are kept.
        keep: how many; 0: all.
        draw: shows shapes, all of them.
        threads: to compute with.
        group: callbacks may run in parallel.
        solver: see `PlanningProcess`.
    """

    def __init__(
        self,
        node: Any,
        cell: Cell,
        *,
        folder: Path,
        keep: int,
        draw: Callable[[Sequence[Shape]], None],
        threads: int,
        solver: str = SOLVER,
    ) -> None:
        self._node, self._cell, self._folder, self._draw, self._threads = node, cell, folder, draw, threads
        self._keep = keep
        self._solver = solver
        self._closing = threading.Event()
        self._changing = threading.Condition()
        self._busy = False
        """There is a goal that was accepted, and has not ended."""
        self._server = JudgingActionServer(
            node,
            action.PlanContact,
            "~/plan_contact",
            judge=self._judge,
            execute=self._execute,
            give_up=self._end,
        )

    def close(self) -> None:
        """Cancel what is under way, and take the action back."""
        self._closing.set()
        with self._changing:
            self._changing.wait_for(lambda: not self._busy, _CLOSE_S)
        self._server.destroy()

    # --- a goal ---------------------------------------------------------------------------------

    def _judge(self, request: Any) -> Job:
        """The job of a goal. What is wrong with its task is found by the process that plans, and is in the result."""
        check_sizes("plan_contact", request)
        job = self._job(request)
        with self._changing:
            if self._closing.is_set() or self._busy:
                hint = "Wait for its result, or cancel it"
                raise RobotControlError("the planner is busy with another goal", hint=hint)
            self._busy = True
        return job

    def _end(self, job: Job) -> None:
        delete_old(self._folder, self._keep, in_use=[job.plan_file, job.previous_plan])
        with self._changing:
            self._busy = False
            self._changing.notify_all()

    def _job(self, request: Any) -> Job:
        make_private(self._folder)
        return Job(
            task=request.task,
            parameters=parameters_of(request.parameters),
            from_measured=request.from_measured,
            previous_plan=request.previous_plan,
            timeout=checked_timeout(request.timeout),
            workcell=self._cell.workcell,
            plan_file=new_plan_file(self._folder),
            threads=self._threads,
        )

    def _execute(self, goal: Any, job: Job) -> Any:
        """In a thread of its own, which lives as long as the process that plans."""
        begin = time.monotonic()
        try:
            return self._drive(goal, job, _Feedback(goal, begin), begin)
        finally:
            self._end(job)

    def _drive(self, goal: Any, job: Job, reports: _Feedback, begin: float) -> Any:
        def stopping() -> bool:
            reports.repeat()
            return bool(goal.is_cancel_requested) or self._closing.is_set()

        process = PlanningProcess(job, measure=self._cell.measure, solver=self._solver)
        outcome = process.run(report=reports.take, draw=self._draw, cancelled=stopping)
        error, message, success, cancelled = outcome.error, outcome.message, outcome.success, outcome.cancelled
        if success and goal.request.execute and not cancelled:
            assert outcome.plan is not None
            try:
                self._cell.run(outcome.plan, outcome.pose, stopping, reports.phase)
            except Cancelled:
                success, cancelled, message = False, True, "cancelled: the motion was stopped"
            except RobotControlError as failure:
                success, error, message = False, failure, str(failure)
        answer = self._result(outcome, job, time.monotonic() - begin)
        if error is not None:
            refuse(answer, error)
        answer.success, answer.message = success, message
        if not (success or cancelled):
            self._node.get_logger().warning(f"no plan: {message}")
        end_goal(goal, is_success=success, is_cancelled=cancelled)
        return answer

    def _result(self, outcome: Outcome, job: Job, elapsed: float) -> Any:
        return result(outcome.plan, str(job.plan_file), self._cell.joint_names, elapsed=elapsed)


class _Feedback:
    """Publishes how a goal goes, not too often."""

    def __init__(self, goal: Any, begin: float) -> None:
        self._goal, self._begin = goal, begin
        self._report = Report(phase="reading")
        self._published = -1.0
        self._phase = ""

    def take(self, report: Report) -> None:
        """A new report of planning."""
        self._report = report
        if report.phase != self._phase or time.monotonic() - self._published > _FEEDBACK_S:
            self._publish()

    def phase(self, phase: str) -> None:
        """The plan is run."""
        last = self._report
        self.take(
            Report(
                phase=phase,
                best_position_error=last.best_position_error,
                best_orientation_error=last.best_orientation_error,
            )
        )

    def repeat(self) -> None:
        """Nothing new: publish that time goes by."""
        if time.monotonic() - self._published > _STILL_S:
            self._publish()

    def _publish(self) -> None:
        self._phase, self._published = self._report.phase, time.monotonic()
        if self._goal.is_active:
            self._goal.publish_feedback(feedback(self._report, self._published - self._begin))
