"""Answers to clients that the middleware does not know yet, or never knows."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_rt_control.action import RunBlueprint
from std_srvs.srv import Trigger

from robot_rt_control.ros import answers
from robot_rt_control.ros.answers import Answers
from robot_rt_control.ros.judging_action_server import JudgingActionServer, end_goal
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.ros.spinning import Spinner
from robot_rt_control.testing.ros_domain import claim_domain

PATIENCE_S = 60.0
DOMAIN = claim_domain("answers")
UNKNOWN = "failed to send response (timeout): client will not receive response"
DEAF = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""A client with it asks, but the middleware never connects the answer to it: for its server it never becomes known."""


def until(happened: Callable[[], object], what: object) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


class Late:
    """An answer that rclpy can send from its n-th attempt on."""

    def __init__(self, attempts: int) -> None:
        self.attempts, self.threads = attempts, list[str]()

    def __call__(self) -> None:
        self.threads.append(threading.current_thread().name)
        if len(self.threads) < self.attempts:
            warnings.warn(UNKNOWN, RuntimeWarning, stacklevel=1)


def test_S32_an_answer_is_sent_again_in_another_thread_until_its_client_is_known() -> None:
    errors, late, prompt = list[str](), Late(5), Late(1)
    sender = Answers(errors.append)
    sender.send("late", late)
    sender.send("prompt", prompt)
    until(lambda: len(late.threads) == 5, late.threads)
    assert late.threads == [threading.current_thread().name, *["answers"] * 4] and len(prompt.threads) == 1
    until(lambda: not any(thread.name == "answers" for thread in threading.enumerate()), "it goes on")
    assert not errors


def test_S32_an_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_PATIENCE_S", 0.1)
    errors = list[str]()
    Answers(errors.append).send("service 'a'", Late(1_000_000))
    until(lambda: errors, "no error")
    assert errors == ["the answer of service 'a' was not sent; its client did not become known within 0.1 s"]


def test_S32_few_answers_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_MOST", 2)
    hold, errors = threading.Event(), list[str]()
    sender = Answers(errors.append)

    def held() -> None:
        if threading.current_thread().name == "answers":
            assert hold.wait(PATIENCE_S)
        else:
            warnings.warn(UNKNOWN, RuntimeWarning, stacklevel=1)

    sender.send("held", held)
    until(lambda: not sender._waiting, "it is not taken")
    late = [Late(2) for _ in range(3)]
    for number, send in enumerate(late):
        sender.send(f"service {number}", send)
    assert errors == ["the answer of service 0 was given up, as 2 others wait for clients that are not known"]
    hold.set()
    until(lambda: [len(send.threads) for send in late] == [1, 2, 2], late)


def test_other_errors_and_other_threads_are_as_without_it() -> None:
    def fails() -> None:
        raise SystemError("another")

    def warns() -> None:
        warnings.warn("failed to send", RuntimeWarning, stacklevel=1)

    with pytest.raises(SystemError, match="another"):
        Answers(print).send("a", fails)
    with pytest.warns(RuntimeWarning, match="failed to send"):
        Answers(print).send("a", warns)
    with pytest.warns(RuntimeWarning, match="client will not"):
        warnings.warn(UNKNOWN, RuntimeWarning, stacklevel=1)


class Rig:
    """A node that serves, and one that asks; both in this process."""

    def __init__(self, context: Context) -> None:
        self.asking = rclpy.create_node("asking", context=context)
        self.node = ListeningNode("serving", context=context)
        self.group = ReentrantCallbackGroup()
        self.errors, self.asked, self.said = list[str](), list[str](), list[str]()
        self.node._answers._on_error = self.said.append
        self._executor = MultiThreadedExecutor(num_threads=4, context=context)
        self._executor.add_node(self.asking)
        self._executor.add_node(self.node)
        self._spinner = Spinner(self._executor, self.errors.append)
        self._spinner.start()

    def close(self) -> None:
        assert self._spinner.stop(PATIENCE_S)
        self.node.destroy_node()
        self.asking.destroy_node()


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setattr(answers, "_PATIENCE_S", 0.5)
    context = Context()
    context.init(args=[], domain_id=DOMAIN)
    made = Rig(context)
    yield made
    made.close()
    context.try_shutdown()


def test_S32_a_client_that_is_never_known_gets_no_answer_and_others_do(rig: Rig) -> None:
    def serve(_: Any, response: Any) -> Any:
        rig.asked.append(threading.current_thread().name)
        return response

    rig.node.create_service(Trigger, "work", serve, callback_group=rig.group)
    deaf: Any = rig.asking.create_client(Trigger, "work", qos_profile=DEAF, callback_group=rig.group)
    heard: Any = rig.asking.create_client(Trigger, "work", callback_group=rig.group)
    assert heard.wait_for_service(PATIENCE_S)
    future = None
    while not rig.asked:  # it does not learn when the service gets its requests
        future = deaf.call_async(Trigger.Request())
        time.sleep(0.1)
    assert future is not None
    until(lambda: rig.said, "no warning")
    assert rig.said[0] == "the answer of service '/work' was not sent; its client did not become known within 0.5 s"
    other = heard.call_async(Trigger.Request())
    until(other.done, "no answer")
    assert not future.done() and not rig.errors


def test_S32_a_goal_begins_though_its_client_is_not_known(rig: Rig) -> None:
    begun, ended = threading.Event(), threading.Event()

    def execute(goal: Any, _: Any) -> Any:
        begun.set()
        assert ended.wait(PATIENCE_S)
        end_goal(goal, is_success=True, is_cancelled=False)
        return RunBlueprint.Result()

    server = JudgingActionServer(
        rig.node, RunBlueprint, "run", judge=lambda request: request, execute=execute
    )
    server._sender._on_error = rig.said.append
    deaf: Any = ActionClient(
        rig.asking, RunBlueprint, "run", goal_service_qos_profile=DEAF, callback_group=rig.group
    )
    heard: Any = ActionClient(rig.asking, RunBlueprint, "run", callback_group=rig.group)
    assert heard.wait_for_server(PATIENCE_S)
    while not begun.is_set():
        sent = deaf.send_goal_async(RunBlueprint.Goal())
        begun.wait(0.2)
    until(lambda: rig.said, "no warning")
    assert rig.said[0] == "the answer of a goal of run was not sent; its client did not become known within 0.5 s"
    ended.set()
    accepted = heard.send_goal_async(RunBlueprint.Goal())
    until(accepted.done, "no answer")
    result = accepted.result().get_result_async()
    until(result.done, "no result")
    assert result.result().status == GoalStatus.STATUS_SUCCEEDED
    assert not sent.done() and not rig.errors
    for client in (deaf, heard):
        client.destroy()
    server.destroy()
