"""A goal on its way: accepted, rejected, cancelled before it is accepted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.task import Future

from robot_rt_control import action
from robot_rt_control.client.sent_goal import SentGoal
from robot_rt_control.ros.refusals import refuse
from robot_rt_control.vocabulary.errors import RobotControlError, SessionError


class Server:
    """The client of a ROS action whose server answers when the test says so."""

    def __init__(self) -> None:
        self.answer: Any = Future()
        self.result: Any = Future()
        self.cancelled = 0

    def server_is_ready(self) -> bool:
        return True

    def send_goal_async(self, goal: Any, *, feedback_callback: Any) -> Any:
        self.feedback = feedback_callback
        return self.answer

    def accept(self, accepted: bool = True) -> None:
        def cancel() -> None:
            self.cancelled += 1

        self.answer.set_result(
            SimpleNamespace(accepted=accepted, get_result_async=lambda: self.result, cancel_goal_async=cancel)
        )

    def end(self, result: Any) -> None:
        self.result.set_result(SimpleNamespace(result=result))


def sent(server: Server, **fields: Any) -> SentGoal:
    return SentGoal(server, None, server="the server", timeout_s=5.0, **fields)  # type: ignore[arg-type]


def test_feedback_and_result() -> None:
    server, fed, changes = Server(), list[Any](), list[bool]()
    goal = sent(server, on_feedback=fed.append, on_change=lambda: changes.append(True))
    seen = [goal.poll(), goal.accepted]
    server.accept()
    server.feedback(SimpleNamespace(feedback="half"))
    assert [*seen, goal.poll(), goal.accepted] == [None, False, None, True] and fed == ["half"]
    result = action.RunProgram.Result(success=True)
    server.end(result)
    assert goal.poll() is result is goal.result() and len(changes) == 2


def test_a_rejection_is_raised_as_what_it_is() -> None:
    server = Server()
    goal = sent(server)
    server.accept(False)
    server.end(refuse(action.RunProgram.Result(), SessionError("part 'arm' is taken")))
    with pytest.raises(SessionError, match="part 'arm' is taken"):
        goal.poll()


def test_a_rejection_without_a_reason() -> None:
    server = Server()
    goal = sent(server)
    server.accept(False)
    server.end(action.RunProgram.Result())
    with pytest.raises(RobotControlError, match="the server did not accept the run. Its log says why"):
        goal.poll()


def test_a_goal_that_is_cancelled_early_is_cancelled_when_it_is_accepted() -> None:
    server = Server()
    goal = sent(server)
    goal.cancel()
    assert server.cancelled == 0
    server.accept()
    assert server.cancelled == 1 and goal.poll() is None
    goal.cancel()
    assert server.cancelled == 2
