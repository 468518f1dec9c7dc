"""A goal of a foreign ROS action, with a client that stands in for rclpy's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from rclpy.task import Future
from robot_rt_control.action import RunBlueprint

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.makers.ros.works import FEEDBACK_S, GONE_S, GoalWork
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.defaults import GOAL_ANSWER_S

DOCK = SkillTemplate("{name: dock, is: {ros_action: {name: dock, type: robot_rt_control/action/RunBlueprint}}}")


class Server:
    """What the client of a work sees of a server, and its loop's time [s]."""

    def __init__(self) -> None:
        self.time, self.cancels = 0.0, 0
        self.orphans: list[dict[str, str]] = []
        self.sent: Any = Future()
        self.result: Any = Future()
        self.goal, self.is_there = "", True
        client = SimpleNamespace(server_is_ready=lambda: self.is_there, send_goal_async=self._send)
        ros: Any = SimpleNamespace(
            action_client=lambda *_: client,
            full_name=lambda name: f"/{name}",
            cancel_goals=self.orphans.extend,
        )
        backend = SimpleNamespace(present=lambda: (0, self.time))
        robot: Any = SimpleNamespace(backend=backend, on_change=lambda: None)
        order = orders.StartSkill(activity=7, path=("a",), skill="dock", arguments=(), parts={})
        self.work = GoalWork("ros_action", order, DOCK, robot, ros)
        told = self.work.poll()
        assert isinstance(told, events.Told) and told.what == "goal" and self.goal == "", "told before it is sent"
        assert self.work.poll() is None and self.goal == told.content["goal"]

    def _send(self, message: Any, *, goal_uuid: Any, feedback_callback: Callable[[Any], None]) -> Any:
        self.goal, self._heard = bytes(goal_uuid.uuid).hex(), feedback_callback
        return self.sent

    def accept(self) -> None:
        self.sent.set_result(
            SimpleNamespace(accepted=True, get_result_async=lambda: self.result, cancel_goal_async=self._cancel)
        )

    def _cancel(self) -> None:
        self.cancels += 1

    def say(self, run: str, elapsed: float = 0.0) -> None:
        self._heard(SimpleNamespace(feedback=RunBlueprint.Feedback(run=run, elapsed=elapsed)))

    def poll_at(self, time: float) -> Any:
        self.time = time
        return self.work.poll()


@pytest.fixture
def server() -> Server:
    return Server()


def test_N44_a_goal_that_its_server_never_answers_fails_and_a_late_acceptance_is_cancelled(server: Server) -> None:
    assert server.poll_at(GOAL_ANSWER_S) is None
    ended = server.poll_at(GOAL_ANSWER_S + 0.1)
    assert isinstance(ended, events.Ended) and ended.result == "failed"
    assert ended.reason == "dock: its action server neither accepted nor rejected the goal within 10 s"
    assert server.cancels == 0
    assert server.orphans == [{"what": "goal", "server": "/dock", "goal": server.goal}], "also by its id"
    server.accept()
    assert server.cancels == 1


def test_a_goal_whose_server_went_before_it_answered_is_cancelled_if_it_is_accepted_later(server: Server) -> None:
    server.is_there = False
    assert server.poll_at(1.0) is None
    ended = server.poll_at(1.0 + GONE_S + 0.1)
    assert isinstance(ended, events.Ended) and ended.reason == "dock: its action server is gone"
    server.accept()
    assert server.cancels == 1


def test_an_answered_goal_may_take_as_long_as_it_likes(server: Server) -> None:
    server.accept()
    assert server.poll_at(0.1) is None and server.poll_at(1000.0) is None and server.cancels == 0


def test_N44_feedback_is_the_progress_of_the_node_at_most_twice_a_second(server: Server) -> None:
    server.accept()
    assert server.poll_at(1.0) is None
    server.say("r1", 0.123456)
    told = server.poll_at(1.1)
    assert told == events.Told(activity=7, what="progress", content={"text": "run r1, elapsed 0.1235"})
    for n in range(10):
        server.say("r1", n)
        assert server.poll_at(1.1 + 0.04 * n) is None, "too soon"
    assert server.poll_at(1.1 + FEEDBACK_S + 0.01).content == {"text": "run r1, elapsed 9"}, "the last one"
    server.say("r1", 9.0)
    assert server.poll_at(3.0) is None, "nothing new"
    server.say("x" * 1000)
    assert len(server.poll_at(4.0).content["text"]) == 120
    server.say("late")
    server.work.cancel()
    assert server.poll_at(5.0) is None and server.cancels == 1
