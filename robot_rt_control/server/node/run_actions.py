"""The ROS actions run_action and run_program: each goal is a run in a session of its own."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from robot_rt_control import action
from robot_rt_control.ros.conversions import motion_commands, parameter_values
from robot_rt_control.ros.judging_action_server import JudgingActionServer, end_goal
from robot_rt_control.ros.request_sizes import check_sizes
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.runs.plan import RunPlan
from robot_rt_control.server.runs.runs import (
    Run,
    RunProgress,
    RunResult,
    check_plan,
    plan_action,
    plan_program,
)
from robot_rt_control.server.sessions import Session
from robot_rt_control.vocabulary.errors import ChannelError, DefinitionError

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
    """

    def __init__(self, node: Node, server: Callable[[], ControlServer | None]) -> None:
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
                    judge=functools.partial(self._judge, name, plan),
                    execute=functools.partial(self._execute, kind, plan),
                )
            )

    def _judge(self, name: str, plan: Callable[[ControlServer, Any], RunPlan], request: Any) -> RunPlan | None:
        """The plan of a valid goal; None: it is checked once, where it is installed."""
        check_sizes(name, request)
        server = self._server()
        if _session_of(server, request) is not None:
            return None
        made = plan(server, request)
        check_plan(server, made)
        return made

    def _server(self) -> ControlServer:
        server = self._get()
        if server is None:
            raise ChannelError("the control server is not active", hint="Configure and activate it")
        return server

    def close(self) -> None:
        """Cancel what runs, and take the actions back."""
        self._closing.set()
        deadline = time.monotonic() + _CLOSE_S
        while self._running and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        for server in self._servers:
            server.destroy()
        self._servers = []

    def _execute(
        self, kind: Any, plan: Callable[[ControlServer, Any], RunPlan], goal: Any, judged: RunPlan | None
    ) -> Any:
        self._running.add(id(goal))
        try:
            server = self._server()
            session = _session_of(server, goal.request)
            run = Run(server, judged or plan(server, goal.request), session=session)
            result = self._drive(kind, goal, run)
        finally:
            self._running.discard(id(goal))
        answer = kind.Result(
            success=result.success, message=result.message, ticks=result.ticks, last_event=result.last_event
        )
        if kind is action.RunProgram:
            answer.names, answer.values = list(result.values), list(result.values.values())
        return answer

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
        end_goal(goal, is_success=result.success, is_cancelled=not result.success)
        return result


def _in_session(request: Any) -> bool:
    return bool(getattr(request, "session", ""))


def _session_of(server: ControlServer, request: Any) -> Session | None:
    """The session that a goal runs in; None: one of its own.

    Raises:
        SessionError: there is no such session, or this is not its secret.
    """
    return server.authorize(request.session, request.secret, "run_program") if _in_session(request) else None


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
