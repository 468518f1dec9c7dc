"""A goal of a ROS action on its way: nobody has to wait for it, and everything that can go wrong is an exception."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from robot_rt_control.client.services import GONE_S
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.refusals import error_of
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError

_LOOK_S = 0.05
"""How often it is looked whether the server is still there."""


class SentGoal:
    """Sent when it is made. All methods may be called from any thread except the one that spins the client's node.

    Args:
        client: whose server is there.
        server: its name in texts: "the control server".
        timeout_s: for the answer whether the goal is accepted.
        on_feedback: called with each feedback, in the spinning thread.
        on_change: called there whenever `poll` may have something new; must not wait.
        hint: what becomes of the goal if its server has gone.

    Attributes:
        reported: whether feedback has come: it has begun.
    """

    def __init__(
        self,
        client: GoalClient,
        goal: Any,
        *,
        server: str,
        timeout_s: float,
        on_feedback: Callable[[Any], object] | None = None,
        on_change: Callable[[], object] = lambda: None,
        hint: str = "",
    ) -> None:
        self._client, self._server, self._hint, self._timeout_s = client, server, hint, timeout_s
        self._on_change, self._changed = on_change, threading.Event()
        self._lock = threading.Lock()
        self._handle: Any = None
        self._result: Any = None
        self._cancelling = self._given_up = False
        self._sent = self._seen = self._looked = time.monotonic()
        self._answered_at = 0.0
        self._report = on_feedback or (lambda _: None)
        self.reported = False
        accepting = client.send_goal_async(goal, feedback_callback=self._take_feedback)
        accepting.add_done_callback(self._answered)

    def _take_feedback(self, message: Any) -> None:
        """In the spinning thread."""
        self.reported = True
        self._report(message.feedback)

    def _answered(self, accepting: Any) -> None:
        """In the spinning thread."""
        handle = accepting.result()
        with self._lock:
            cancel = handle.accepted and (self._cancelling or self._given_up)
            given_up = self._given_up
            self._handle, self._answered_at = handle, time.monotonic()
            if not given_up:
                self._result = handle.get_result_async()  # of a rejected goal: with the reason
        if cancel:
            handle.cancel_goal_async()
        if not given_up:
            self._result.add_done_callback(self._note)
            self._note()

    def _note(self, _: Any = None) -> None:
        self._changed.set()
        self._on_change()

    def wait(self, timeout_s: float) -> None:
        """Sleep until something happens, at most for this time."""
        self._changed.wait(timeout_s)
        self._changed.clear()

    @property
    def accepted(self) -> bool:
        """Whether the server has taken the goal."""
        return self._handle is not None and bool(self._handle.accepted)

    def cancel(self) -> None:
        """Ask for its end; `poll` gives the result once it has come. An unanswered goal is cancelled when accepted."""
        with self._lock:
            self._cancelling, handle = True, self._handle
        if handle is not None and handle.accepted:
            handle.cancel_goal_async()

    def poll(self) -> Any:
        """The goal's result, also of one that failed; None: it has not come.

        Raises:
            RobotControlError: the goal was rejected; by the exception that the server raised.
            NoAnswer: the server does not answer, or has gone.
        """
        with self._lock:
            handle, result, answered_at = self._handle, self._result, self._answered_at
        if result is not None and result.done():
            answer = result.result().result
            if not handle.accepted:
                raise error_of(answer) if answer.refusals else self._rejected()
            return answer
        now = time.monotonic()
        if handle is None and now - self._sent > self._timeout_s:
            with self._lock:
                self._given_up = True
            # A request on its way may still arrive, for example once a cut network is whole again.
            raise NoAnswer(
                f"{self._server} did not answer within {self._timeout_s:g} s whether it accepts the run",
                hint="Is its machine connected? If the run is accepted later, it is cancelled at once",
            )
        if handle is not None and not handle.accepted and now - answered_at > self._timeout_s:
            raise self._rejected()
        if now - self._looked > _LOOK_S:
            self._looked = now
            if self._client.server_is_ready():
                self._seen = now
        if now - self._seen > GONE_S:
            raise NoAnswer(f"{self._server} has gone during the run", hint=self._hint)
        return None

    def _rejected(self) -> RobotControlError:
        return RobotControlError(f"{self._server} did not accept the run", hint="Its log says why")

    def result(self, cancelled: threading.Event | None = None) -> Any:
        """Wait for the result.

        Args:
            cancelled: when it is set, the goal is cancelled.

        Raises:
            as `poll`.
        """
        asked = False
        while (answer := self.poll()) is None:
            if cancelled is not None and cancelled.is_set() and not asked:
                asked = True
                self.cancel()
            self.wait(_LOOK_S)
        return answer
