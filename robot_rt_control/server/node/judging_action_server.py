"""A ROS action server that can say why it rejected a goal."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

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
        execute: drives an accepted goal; returns its result.
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

    async def _execute_get_result_request(self, request_header_and_message: Any) -> None:
        header, request = request_header_and_message
        refused = self._rejected.get(bytes(request.goal_id.uuid))
        if refused is None:
            await super()._execute_get_result_request(request_header_and_message)
            return
        answer = self._action_type.Impl.GetResultService.Response(result=refused)  # its status: unknown
        with self._lock, contextlib.suppress(RCLError):  # the client may have gone away
            self._handle.send_result_response(header, answer)
