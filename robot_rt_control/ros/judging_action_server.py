"""A ROS action server that can say why it rejected a goal, and answers at once when a goal has ended."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import GoalEvent, RCLError
from rclpy.node import Node

from robot_rt_control.ros.answers import Answers, is_unsent, raise_unsent
from robot_rt_control.ros.refusals import refuse
from robot_rt_control.ros.requests import Served
from robot_rt_control.vocabulary.errors import InternalError, RobotControlError

_REMEMBERED = 64
"""Rejected goals."""


class JudgingActionServer(ActionServer):
    """The result of a rejected goal has the reason: a rejection itself carries no text in ROS.

    No cancel is lost. rclpy loses one that comes while a goal is judged or begins, and, when all goals are to be
    cancelled, that of a goal that follows one that has just ended. A goal whose client cannot be told that it was
    accepted begins cancelled.

    Args:
        node: a `ListeningNode`.
        judge: gets a request, and returns what `execute` gets of it; in a thread of its own. An exception rejects the
            goal.
        execute: drives an accepted goal, from what `judge` returned; returns its result. In a thread of its own, from
            which those who asked get the result. An exception aborts the goal.
        refusal: the result for an error; None: an answer with its refusals.
        cancelled: called with what `judge` returned if a goal is to be cancelled; with None if it is still judged, and
            then once more if it is accepted all the same; must not wait.
        give_up: called with what `judge` returned if a goal that was accepted cannot begin.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        *,
        judge: Callable[[Any], Any],
        execute: Callable[[Any, Any], Any],
        refusal: Callable[[RobotControlError], Any] | None = None,
        cancelled: Callable[[Any], None] = lambda _: None,
        give_up: Callable[[Any], None] = lambda _: None,
    ) -> None:
        self._name = name.removeprefix("~/")
        self._judge, self._work = judge, execute
        self._refusal = refusal or (lambda error: refuse(kind.Result(), error))
        self._on_cancel, self._give_up = cancelled, give_up
        self._cancelled: set[bytes] = set()
        """Goals that are judged and have been cancelled."""
        self._asked: dict[int, bytes] = {}
        self._judged: dict[int, Any] = {}
        """Request → what `judge` made of it, until it begins."""
        self._running: dict[bytes, Any] = {}
        """The same, from then on."""
        self._rejected: OrderedDict[bytes, Any] = OrderedDict()
        self._answering = threading.Lock()
        self._awaited: dict[bytes, list[Any]] = {}
        """Goals that go on → who asked for the result."""
        self._answers: dict[bytes, Any] = {}
        """Answers to goals that have ended, until rclpy forgets them."""
        self._sender = Answers(lambda text: node.get_logger().warning(text))
        self._logger = node.get_logger().get_child("action_server")  # rclpy makes it only after goals may come
        super().__init__(
            node,
            kind,
            name,
            self._drive,
            callback_group=Served(),
            goal_callback=self._asks,
            handle_accepted_callback=self._begin,
            cancel_callback=self._cancel_asked,
        )

    def _asks(self, goal: Any) -> GoalResponse:
        """Is it accepted?"""
        uuid = self._asked[id(goal)]
        refused = self._judgement(goal)
        raise_unsent(True)  # of the answer, which rclpy sends in this thread
        if refused is None:
            return GoalResponse.ACCEPT
        self._rejected[uuid] = refused
        while len(self._rejected) > _REMEMBERED:
            self._rejected.popitem(last=False)
        return GoalResponse.REJECT

    def _judgement(self, goal: Any) -> Any:
        """The result that says why a goal is rejected; None: it is accepted."""
        try:
            self._judged[id(goal)] = self._judge(goal)
        except RobotControlError as error:
            self._node.get_logger().warning(f"a goal of {self._name} was rejected: {error}")
            return self._refusal(error)
        except BaseException as error:
            return self._failed(error, "could not be judged")
        return None

    def _failed(self, error: BaseException, how: str) -> Any:
        self._node.get_logger().error(f"a goal of {self._name} {how}:\n{traceback.format_exc()}")
        return self._refusal(InternalError.of(f"a goal of {self._name}", error))

    async def _execute_goal_request(self, request_header_and_message: Any) -> None:
        request = request_header_and_message[1]
        uuid = self._asked[id(request.goal)] = bytes(request.goal_id.uuid)  # the goal alone does not tell its id
        try:
            try:
                await super()._execute_goal_request(request_header_and_message)
            except (RuntimeWarning, SystemError) as error:
                if not is_unsent(error):
                    raise
                self._tell_again(*request_header_and_message)
            finally:
                raise_unsent(False)
            goal = self._goal_handles.get(uuid)
            if goal is not None and goal.request is request.goal and id(request.goal) in self._judged:
                self._cancelled.add(uuid)  # its client could not be answered: nobody knows of it
                self._begin(goal)
        finally:
            self._cancelled.discard(self._asked.pop(id(request.goal)))
            if id(request.goal) in self._judged:
                self._give_up(self._judged.pop(id(request.goal)))

    def _tell_again(self, header: Any, request: Any) -> None:
        """Whether a goal was accepted, to a client that is not yet known; an accepted one begins."""
        goal = self._goal_handles.get(bytes(request.goal_id.uuid))
        is_accepted = goal is not None and goal.request is request.goal
        stamp = self._node.get_clock().now().to_msg()
        answer = self._action_type.Impl.SendGoalService.Response(accepted=is_accepted, stamp=stamp)

        def send() -> None:
            with self._handle:  # not under rclpy's lock, for which all goals would wait
                self._handle.send_goal_response(header, answer)

        self._sender.send_again(f"a goal of {self._name}", send)
        if is_accepted:
            self._handle.publish_status()
            self._begin(goal)

    def _begin(self, goal: Any) -> None:
        """`execute` sees whether the goal was cancelled before it began."""
        uuid, request = bytes(goal.goal_id.uuid), id(goal.request)
        self._running[uuid] = self._judged[request]
        del self._judged[request]
        if uuid in self._cancelled:
            self._on_cancel(self._running[uuid])
            _cancel(goal)
        try:
            goal.execute()
        except RCLError:  # it was cancelled since rclpy looked
            goal.execute()

    def _cancel_asked(self, goal: Any) -> CancelResponse:
        uuid, request = bytes(goal.goal_id.uuid), id(goal.request)
        for known in (self._judged.get(request), self._running.get(uuid)):
            if known is not None:
                self._on_cancel(known)
                break
        return CancelResponse.ACCEPT

    async def _execute_cancel_request(self, request_header_and_message: Any) -> None:
        info = request_header_and_message[1].goal_info
        uuid = bytes(info.goal_id.uuid)
        is_all = not any(uuid) and info.stamp.sec == info.stamp.nanosec == 0
        asked = [each for each in list(self._asked.values()) if is_all or each == uuid]
        judged = [each for each in asked if each not in self._running]
        if judged:  # rclpy knows accepted goals alone
            self._cancelled.update(judged)
            self._on_cancel(None)
        present = list(self._goal_handles.values()) if is_all else []
        await super()._execute_cancel_request(request_header_and_message)
        for goal in present:
            if goal.is_active and not goal.is_cancel_requested:  # rclpy changes the list that it goes through
                self._cancel_asked(goal)
                _cancel(goal)

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """An accepted goal begins. rclpy would begin it, and later send its result, when its executor goes round next:
        for a node with many services, each round takes milliseconds."""
        name = f"goal of {self._name}"
        threading.Thread(target=self._drive, args=(goal_handle,), name=name, daemon=True).start()

    def _drive(self, goal: Any) -> None:
        """In the goal's own thread."""
        try:
            result = self._work(goal, self._running[bytes(goal.goal_id.uuid)])
        except RobotControlError as error:
            result = self._refusal(error)
        except BaseException as error:
            result = self._failed(error, "failed unexpectedly")
        with contextlib.suppress(InvalidHandle):  # the node has ended
            if goal.is_active:
                goal.abort()
            self._answer(goal, result)
        del self._running[bytes(goal.goal_id.uuid)]

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
        elif uuid not in self._goal_handles:
            unknown = GoalStatus.STATUS_UNKNOWN
            self._send_answer(header, self._action_type.Impl.GetResultService.Response(status=unknown))
        else:
            with self._answering:
                answer = self._answers.get(uuid)
                if answer is None:
                    self._awaited.setdefault(uuid, []).append(header)
            if answer is not None:
                self._send_answer(header, answer)

    def _send_answer(self, header: Any, answer: Any) -> None:
        def send() -> None:
            with self._handle, contextlib.suppress(RCLError):  # the client may have gone away
                self._handle.send_result_response(header, answer)

        self._sender.send(f"the result of {self._name}", send)

    async def _execute_expire_goals(self, expired_goals: Any) -> None:
        for info in expired_goals:
            with self._answering:
                self._answers.pop(bytes(info.goal_id.uuid), None)
        await super()._execute_expire_goals(expired_goals)


def end_goal(goal: Any, *, is_success: bool, is_cancelled: bool) -> None:
    """Give a goal the state in which it ended; one that nobody asked to cancel is not cancelled."""
    if is_cancelled and goal.is_cancel_requested:
        goal.canceled()
    elif is_success:
        goal.succeed()
    else:
        goal.abort()


def _cancel(goal: Any) -> None:
    with contextlib.suppress(RCLError):  # it has ended, or somebody else has cancelled it
        goal._update_state(GoalEvent.CANCEL_GOAL)
