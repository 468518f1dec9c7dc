"""A ROS action server that can say why it rejected a goal, and answers at once when a goal has ended."""

from __future__ import annotations

import contextlib
import inspect
import threading
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import RCLError
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

_REMEMBERED = 64
"""Rejected goals."""


class JudgingActionServer(ActionServer):
    """Who asks for the result of a rejected goal gets the reason: a rejection itself carries no text in ROS.

    Args:
        judge: gives the result that says why a goal is rejected; None: it is accepted.
        execute: drives an accepted goal; returns its result. A plain function runs in a thread of its own, from which
            those who asked get the result; a coroutine runs in the node's threads.
        group: callbacks may run in parallel.
        cancel_judged: called if a goal that is still judged is to be cancelled, and again if it is accepted all the
            same; must not wait.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        *,
        judge: Callable[[Any], Awaitable[Any]],
        execute: Callable[[Any], Any],
        group: CallbackGroup,
        cancel_judged: Callable[[], None] = lambda: None,
    ) -> None:
        self._judge_goal, self._cancel_judged = judge, cancel_judged
        self._cancelled: set[bytes] = set()
        """Of those that are judged."""
        self._asked: dict[int, bytes] = {}
        self._rejected: OrderedDict[bytes, Any] = OrderedDict()
        self._own_thread = not inspect.iscoroutinefunction(execute)
        self._answering = threading.Lock()
        self._awaited: dict[bytes, list[Any]] = {}
        """Goals that run in their own threads → who asked for the result."""
        self._answers: dict[bytes, Any] = {}
        """Of such goals, until rclpy forgets them."""
        callback: Any = self._judged  # rclpy awaits it; its types do not say so
        super().__init__(
            node,
            kind,
            name,
            execute,
            callback_group=group,
            goal_callback=callback,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    async def _judged(self, goal: Any) -> GoalResponse:
        refused = await self._judge_goal(goal)
        uuid = self._asked[id(goal)]
        if refused is None:
            if uuid in self._cancelled:
                self._cancel_judged()
            return GoalResponse.ACCEPT
        self._rejected[uuid] = refused
        while len(self._rejected) > _REMEMBERED:
            self._rejected.popitem(last=False)
        return GoalResponse.REJECT

    async def _execute_goal_request(self, request_header_and_message: Any) -> None:
        request = request_header_and_message[1]
        self._asked[id(request.goal)] = bytes(request.goal_id.uuid)  # the goal alone does not tell its id
        try:
            await super()._execute_goal_request(request_header_and_message)
        finally:
            self._cancelled.discard(self._asked.pop(id(request.goal)))

    async def _execute_cancel_request(self, request_header_and_message: Any) -> None:
        info = request_header_and_message[1].goal_info
        uuid = bytes(info.goal_id.uuid)
        is_all = not any(uuid) and info.stamp.sec == info.stamp.nanosec == 0
        judged = [asked for asked in list(self._asked.values()) if is_all or asked == uuid]
        if judged:  # rclpy knows accepted goals alone
            self._cancelled.update(judged)
            self._cancel_judged()
        await super()._execute_cancel_request(request_header_and_message)

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """An accepted goal begins. rclpy would begin it, and later send its result, when its executor goes round next:
        for a node with many services, each round takes milliseconds."""
        if not self._own_thread:
            super().notify_execute(goal_handle, execute_callback)
            return
        execute = execute_callback or self._execute_callback
        name = f"goal of {self._action_type.__name__}"
        threading.Thread(target=self._drive, args=(goal_handle, execute), name=name, daemon=True).start()

    def _drive(self, goal: Any, execute: Callable[[Any], Any]) -> None:
        """In the goal's own thread."""
        try:
            result = execute(goal)
        except Exception:
            result = self._action_type.Result()
            self._node.get_logger().error(f"a goal failed unexpectedly:\n{traceback.format_exc()}")
        with contextlib.suppress(InvalidHandle):  # the node has ended
            if goal.is_active:
                goal.abort()
            self._answer(goal, result)

    def _answer(self, goal: Any, result: Any) -> None:
        uuid = bytes(goal.goal_id.uuid)
        answer = self._action_type.Impl.GetResultService.Response(status=goal.status, result=result)
        with self._answering:
            self._answers[uuid] = answer
            asked = self._awaited.pop(uuid, [])
        for header in asked:
            self._send_answer(header, answer)

    async def _execute_get_result_request(self, request_header_and_message: Any) -> None:
        header, request = request_header_and_message
        uuid = bytes(request.goal_id.uuid)
        if uuid in self._rejected:
            self._send_answer(header, self._action_type.Impl.GetResultService.Response(result=self._rejected[uuid]))
        elif not self._own_thread or uuid not in self._goal_handles:
            await super()._execute_get_result_request(request_header_and_message)
        else:
            with self._answering:
                answer = self._answers.get(uuid)
                if answer is None:
                    self._awaited.setdefault(uuid, []).append(header)
            if answer is not None:
                self._send_answer(header, answer)

    def _send_answer(self, header: Any, answer: Any) -> None:
        with self._lock, contextlib.suppress(RCLError):  # the client may have gone away
            self._handle.send_result_response(header, answer)

    async def _execute_expire_goals(self, expired_goals: Any) -> None:
        for info in expired_goals:
            with self._answering:
                self._answers.pop(bytes(info.goal_id.uuid), None)
        await super()._execute_expire_goals(expired_goals)
