"""The ROS actions run_action and run_program: each goal is a run in a session of its own."""

from __future__ import annotations

import functools
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from robot_rt_control import action
from robot_rt_control.ros.refusals import refuse
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.node.conversions import motion_commands, parameter_values
from robot_rt_control.server.node.judging_action_server import JudgingActionServer
from robot_rt_control.server.node.own_thread import aside
from robot_rt_control.server.node.request_sizes import check_sizes
from robot_rt_control.server.runs.runs import (
    Run,
    RunPlan,
    RunProgress,
    RunResult,
    check_plan,
    plan_action,
    plan_program,
)
from robot_rt_control.server.sessions import Session
from robot_rt_control.vocabulary.errors import ChannelError, DefinitionError, InternalError, RobotControlError

_FEEDBACK_S = 0.1
_LOOK_S = 0.02
"""A request to cancel is seen after this time at the latest."""

_REST_S = 10.0
"""[s] at most for which the result of a run in a given session waits until its parts are at rest."""

_CLOSE_S = 2.0
"""How long `close` waits for runs to end."""


class RunActions:
    """Offers both actions of a node under `~/`, until `close`.

    Args:
        server: gives the control server; None: it is not configured.
        group: callbacks may run in parallel.
    """

    def __init__(self, node: Node, server: Callable[[], ControlServer | None], group: CallbackGroup) -> None:
        self._node, self._get = node, server
        self._closing = threading.Event()
        self._running: set[int] = set()
        self._servers = []
        for name, kind, plan in (
            ("run_action", action.RunAction, _action_plan),
            ("run_program", action.RunProgram, _program_plan),
        ):
            self._servers.append(
                JudgingActionServer(
                    node,
                    kind,
                    f"~/{name}",
                    judge=functools.partial(self._judge, name, kind, plan),
                    execute=self._guarded(kind, plan),
                    group=group,
                )
            )

    async def _judge(self, name: str, kind: Any, plan: Callable[[ControlServer, Any], RunPlan], request: Any) -> Any:
        """The result that says why a goal is not valid; None: it is."""

        def judge() -> Any:
            try:
                check_sizes(name, request)
                server = self._get()
                if server is None:
                    raise ChannelError("the control server is not active", hint="Configure and activate it")
                if _session_of(server, request) is None:  # otherwise it is checked once, where it is installed
                    check_plan(server, plan(server, request))
            except RobotControlError as error:
                self._node.get_logger().warning(f"a goal of {name} was rejected: {error}")
                return refuse(kind.Result(), error)
            except BaseException as error:
                self._node.get_logger().error(f"a goal of {name} could not be judged:\n{traceback.format_exc()}")
                return refuse(kind.Result(), InternalError.of("a run", error))
            return None

        if getattr(request, "session", ""):
            return judge()  # it takes no time, and another thread would
        return await aside(self._node, name, judge)

    def close(self) -> None:
        """Cancel what runs, and take the actions back."""
        self._closing.set()
        deadline = time.monotonic() + _CLOSE_S
        while self._running and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        for server in self._servers:
            server.destroy()
        self._servers = []

    def _guarded(self, kind: Any, plan: Callable[[ControlServer, Any], RunPlan]) -> Callable[[Any], Any]:
        def execute(goal: Any) -> Any:
            self._running.add(id(goal))
            try:
                return attempt(goal)
            finally:
                self._running.discard(id(goal))

        def attempt(goal: Any) -> Any:
            try:
                server = self._get()
                if server is None:
                    raise ChannelError("the control server is not active", hint="Configure and activate it")
                session = _session_of(server, goal.request)
                result = self._drive(kind, goal, Run(server, plan(server, goal.request), session=session))
            except RobotControlError as error:
                goal.abort()
                return refuse(kind.Result(), error)
            except BaseException as error:
                self._node.get_logger().error(f"a run failed unexpectedly:\n{traceback.format_exc()}")
                goal.abort()
                return refuse(kind.Result(), InternalError.of("a run", error))
            answer = kind.Result(
                success=result.success, message=result.message, ticks=result.ticks, last_event=result.last_event
            )
            if kind is action.RunProgram:
                answer.names, answer.values = list(result.values), list(result.values.values())
            return answer

        return execute

    def _drive(self, kind: Any, goal: Any, run: Run) -> RunResult:
        """Drive a run to its end, with feedback; the goal's state shows how it ended."""
        next_feedback = 0.0
        result: RunResult | None = None
        try:
            while True:
                result = run.update()
                if result is not None:
                    break
                if goal.is_cancel_requested or self._closing.is_set():
                    result = run.cancelled()
                    break
                if time.monotonic() >= next_feedback:
                    next_feedback = time.monotonic() + _FEEDBACK_S
                    goal.publish_feedback(_feedback(kind, run.progress()))
                run.wait(_LOOK_S)
        finally:
            if result is not None and result.success and run.is_shared and goal.request.keep:
                run.leave()
            else:
                run.close()
        deadline = time.monotonic() + _REST_S
        while run.is_shared and not (result.success or run.at_rest() or self._closing.is_set()):
            if time.monotonic() > deadline:
                break
            time.sleep(_LOOK_S / 4)
        if goal.is_cancel_requested and not result.success:
            goal.canceled()
        elif result.success:
            goal.succeed()
        else:
            goal.abort()
        return result


def _session_of(server: ControlServer, request: Any) -> Session | None:
    """The session that a goal runs in; None: one of its own.

    Raises:
        SessionError: there is no such session, or this is not its secret.
    """
    given = getattr(request, "session", "")
    return server.authorize(given, request.secret, "run_program") if given else None


def _feedback(kind: Any, progress: RunProgress) -> Any:
    return kind.Feedback(
        progress=progress.progress,
        active_action=", ".join(progress.active),
        elapsed=progress.elapsed,
        last_event=progress.last_event,
    )


def _action_plan(server: ControlServer, goal: Any) -> RunPlan:
    return plan_action(
        server,
        goal.type,
        list(goal.parts),
        parameter_values(goal.parameters),
        until=goal.until,
        timeout=goal.timeout,
        commands=motion_commands(goal.commands),
    )


def _program_plan(server: ControlServer, goal: Any) -> RunPlan:
    if not goal.session and (goal.prefix or goal.keep):
        what = "a prefix" if goal.prefix else "keep"
        raise DefinitionError(f"{what} is for a run in a given session", expected="session and secret", got="none")
    if goal.session and goal.detached:
        raise DefinitionError("a run in a given session", expected="detached: 0; the session says it", got="another")
    return plan_program(
        server,
        goal.program,
        until_event=goal.until_event,
        timeout=goal.timeout,
        detached=goal.detached,
        parameters=parameter_values(goal.parameters),
        parts=list(goal.parts),
        prefix=goal.prefix,
        session=_session_of(server, goal),
    )
