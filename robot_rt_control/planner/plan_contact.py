"""The ROS action plan_contact: one goal at a time, planned in a process of its own, and run if asked for."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.callback_groups import CallbackGroup

from robot_rt_control import action
from robot_rt_control.planner.execution import Cancelled
from robot_rt_control.planner.job import Job, Report
from robot_rt_control.planner.kept_plans import delete_old, new_plan_file
from robot_rt_control.planner.messages import checked_timeout, feedback, parameters_of, result
from robot_rt_control.planner.planning_process import SOLVER, Outcome, PlanningProcess
from robot_rt_control.planning.plan import Plan
from robot_rt_control.ros.refusals import refuse
from robot_rt_control.server.markers.shape import Shape
from robot_rt_control.server.node.judging_action_server import JudgingActionServer
from robot_rt_control.server.node.request_sizes import check_sizes
from robot_rt_control.vocabulary.errors import InternalError, RobotControlError
from robot_rt_control.vocabulary.private_files import make_private

_FEEDBACK_S = 0.1
"""Between two messages of feedback; a new phase is reported at once."""
_STILL_S = 1.0
"""Feedback is repeated after this time, with the time that has elapsed."""
_BEGIN_S = 5.0
"""An accepted goal begins at once, or never."""
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
        group: CallbackGroup,
        solver: str = SOLVER,
    ) -> None:
        self._node, self._cell, self._folder, self._draw, self._threads = node, cell, folder, draw, threads
        self._keep = keep
        self._solver = solver
        self._closing = threading.Event()
        self._changing = threading.Condition()
        self._accepted: tuple[Any, Job, float] | None = None
        """Request and job of the goal that was accepted last, and when [s], until it begins."""
        self._running = False
        self._server = JudgingActionServer(
            node, action.PlanContact, "~/plan_contact", judge=self._judge, execute=self._attempt, group=group
        )

    def close(self) -> None:
        """Cancel what is under way, and take the action back."""
        self._closing.set()
        with self._changing:
            self._changing.wait_for(lambda: not self._running, _CLOSE_S)
        self._server.destroy()

    # --- a goal ---------------------------------------------------------------------------------

    async def _judge(self, request: Any) -> Any:
        """The result that says why a goal is rejected; None: it is accepted. What is wrong with its task is found in
        the process that plans, and stands in the result."""
        try:
            check_sizes("plan_contact", request)
            job = self._job(request)
            with self._changing:
                # A goal whose client has gone may be accepted, and never begin.
                waits = self._accepted is not None and time.monotonic() - self._accepted[2] < _BEGIN_S
                if self._closing.is_set() or self._running or waits:
                    hint = "Wait for its result, or cancel it"
                    raise RobotControlError("the planner is busy with another goal", hint=hint)
                self._accepted = request, job, time.monotonic()
        except RobotControlError as error:
            self._node.get_logger().warning(f"a goal of plan_contact was rejected: {error}")
            return refuse(action.PlanContact.Result(), error)
        return None

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

    def _attempt(self, goal: Any) -> Any:
        """In a thread of its own, which lives as long as the process that plans."""
        begin = time.monotonic()
        job = self._begin(goal.request)
        if job is None:
            goal.abort()
            late = RobotControlError("the goal began too late: another one took its place", hint="Send it again")
            return refuse(action.PlanContact.Result(), late)
        try:
            return self._drive(goal, job, _Feedback(goal, begin), begin)
        except BaseException as error:
            self._node.get_logger().error(f"a plan failed unexpectedly:\n{traceback.format_exc()}")
            goal.abort()
            return refuse(action.PlanContact.Result(), InternalError.of("planning", error))
        finally:
            delete_old(self._folder, self._keep, in_use=[job.plan_file, job.previous_plan])
            with self._changing:
                self._running = False
                self._changing.notify_all()

    def _begin(self, request: Any) -> Job | None:
        """The job of the accepted goal; None: it was given up."""
        with self._changing:
            if self._accepted is None or self._accepted[0] is not request:
                return None
            job, self._accepted, self._running = self._accepted[1], None, True
            return job

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
        if cancelled and goal.is_cancel_requested:
            goal.canceled()
        elif success:
            goal.succeed()
        else:
            self._node.get_logger().warning(f"no plan: {message}")
            goal.abort()
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
