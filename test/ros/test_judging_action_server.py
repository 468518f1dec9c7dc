"""An action server that loses no cancel, against a client in the same process. rclpy's own server loses these."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalInfo, GoalStatus
from action_msgs.srv import CancelGoal
from rclpy.action import ActionServer
from rclpy.action.server import GoalEvent, RCLError, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from robot_rt_control.action import RunBlueprint

from robot_rt_control.controllers.controller import ControllerState
from robot_rt_control.controllers.working import GoalSide
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.judging_action_server import JudgingActionServer
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.ros.spinning import Spinner
from robot_rt_control.vocabulary.errors import DefinitionError

PATIENCE_S = 60.0
CANCELED = GoalStatus.STATUS_CANCELED


def until(happened: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


class Rig:
    """Goals go on until they are cancelled or `over`."""

    def __init__(self, node: Node) -> None:
        group = ReentrantCallbackGroup()
        self.node, self.over, self.judged, self.errors = node, threading.Event(), threading.Event(), list[str]()
        self.judged.set()
        self.cancelled, self.given_up = list[str | None](), list[str]()
        self.asked, self.running = list[str](), dict[str, Any]()
        self.server = JudgingActionServer(
            node, RunBlueprint, "work", judge=self.judge, execute=self.execute,
            cancelled=self.cancelled.append, give_up=self.given_up.append,
        )  # fmt: skip
        self.client: Any = GoalClient(node, RunBlueprint, "work", callback_group=group)
        self.cancels: Any = node.create_client(CancelGoal, "work/_action/cancel_goal", callback_group=group)
        until(lambda: self.client.server_is_ready() and self.cancels.service_is_ready(), "no server")

    def judge(self, request: Any) -> str:
        self.asked.append(request.skill)
        if request.skill == "bad":
            raise DefinitionError("a goal", expected="a good one", got="a bad one")
        if request.skill == "odd":
            raise ValueError("odd")
        assert self.judged.wait(PATIENCE_S)
        return f"judged {request.skill}"

    def execute(self, goal: Any, judged: str) -> Any:
        assert judged == f"judged {goal.request.skill}"
        if goal.request.skill == "fails":
            raise DefinitionError("it failed")
        if goal.request.skill == "breaks":
            raise ValueError("broken")
        self.running[goal.request.skill] = goal
        while not goal.is_cancel_requested:
            if self.over.wait(0.005):
                goal.abort()
                return RunBlueprint.Result()
        goal.canceled()
        return RunBlueprint.Result()

    def send(self, name: str, identity: uuid.UUID | None = None) -> Any:
        info = GoalInfo()
        info.goal_id.uuid = list((identity or uuid.uuid4()).bytes)
        return self.client.send_goal_async(RunBlueprint.Goal(skill=name), goal_uuid=info.goal_id)

    def status(self, sent: Any) -> int:
        """With which its goal ends."""
        until(sent.done, "the goal is not answered")
        result = sent.result().get_result_async()
        until(result.done, "the goal goes on")
        return int(result.result().status)

    def cancel(self, identity: uuid.UUID | None = None) -> None:
        """That goal, or all, and wait for the answer."""
        request = CancelGoal.Request()
        if identity is not None:
            request.goal_info.goal_id.uuid = list(identity.bytes)
        answer = self.cancels.call_async(request)
        until(answer.done, "the cancel is not answered")


@pytest.fixture
def rig(own_domain: None) -> Iterator[Rig]:
    context = Context()
    rclpy.init(context=context)
    node = ListeningNode("judge", context=context)
    executor = MultiThreadedExecutor(num_threads=4, context=context)
    executor.add_node(node)
    errors = list[str]()
    spinner = Spinner(executor, errors.append)
    spinner.start()
    made = Rig(node)
    yield made
    made.over.set()
    made.judged.set()
    assert spinner.stop(PATIENCE_S)
    made.server.destroy()
    made.client.destroy()
    node.destroy_node()
    context.shutdown()
    assert not errors


def test_N27_a_cancel_that_comes_while_a_goal_begins(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    change, late = ServerGoalHandle._update_state, list[GoalEvent]()

    def changed(self: Any, event: Any) -> None:
        if event == GoalEvent.EXECUTE and not late:
            late.append(event)
            change(self, GoalEvent.CANCEL_GOAL)
        change(self, event)

    monkeypatch.setattr(ServerGoalHandle, "_update_state", changed)
    assert rig.status(rig.send("a")) == CANCELED and late


@pytest.mark.parametrize("by_name", [True, False])
def test_N27_a_cancel_that_comes_while_a_goal_is_judged(rig: Rig, by_name: bool) -> None:
    rig.judged.clear()
    identity = uuid.uuid4()
    sent = rig.send("a", identity)
    until(lambda: rig.asked == ["a"], "it is not judged")
    rig.cancel(identity if by_name else None)
    rig.judged.set()
    assert rig.status(sent) == CANCELED and rig.cancelled == [None, "judged a"]


def test_N27_all_goals_are_cancelled_though_one_of_them_just_ends(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = [rig.send(name) for name in "abc"]
    until(lambda: set(rig.running) == set("abc"), "they do not begin")
    change, first = ServerGoalHandle._update_state, list[Any]()

    def changed(self: Any, event: Any) -> None:
        if event == GoalEvent.CANCEL_GOAL and not first:
            first.append(self)
            change(self, GoalEvent.SUCCEED)
        change(self, event)

    monkeypatch.setattr(ServerGoalHandle, "_update_state", changed)
    rig.cancel()
    others = [each for each in sent if each.result().goal_id.uuid.tolist() != list(first[0].goal_id.uuid)]
    assert len(others) == 2 and [rig.status(each) for each in others] == [CANCELED] * 2


def test_N27_a_goal_whose_client_cannot_be_answered_does_not_go_on(rig: Rig) -> None:
    class Deaf:
        """rclpy's server, which cannot answer goals."""

        def __init__(self, handle: Any) -> None:
            self.handle = handle

        def __getattr__(self, name: str) -> Any:
            return getattr(self.handle, name)

        def send_goal_response(self, *_: Any) -> None:
            raise RCLError("the client has gone away")

    handle: Any = rig.server._handle
    deaf: Any = Deaf(handle)
    rig.server._handle = deaf
    rig.send("a")
    until(lambda: "a" in rig.running and rig.running["a"].status == CANCELED, "it goes on, and nobody knows of it")
    rig.server._handle = handle
    assert rig.cancelled == ["judged a"], "who judged it does not hear that it is cancelled"


def test_a_rejected_goal_and_one_that_fails_say_why(rig: Rig) -> None:
    def answer(skill: str, identity: uuid.UUID) -> Any:
        sent = rig.send(skill, identity)
        until(sent.done, "the goal is not answered")
        handle = sent.result()
        result = handle.get_result_async()
        until(result.done, "no result")
        return handle.accepted, result.result().status, result.result().result.message

    accepted, _, message = answer("bad", uuid.uuid4())
    assert not accepted and message == "a goal; expected a good one; got a bad one"
    accepted, _, message = answer("odd", uuid.uuid4())
    assert not accepted and message.startswith("internal error in a goal of work: ValueError: odd")
    accepted, status, message = answer("fails", uuid.uuid4())
    assert (accepted, status, message) == (True, GoalStatus.STATUS_ABORTED, "it failed")
    accepted, status, message = answer("breaks", uuid.uuid4())
    assert (accepted, status) == (True, GoalStatus.STATUS_ABORTED) and "ValueError: broken" in message


def test_who_judged_a_goal_hears_of_its_cancel(rig: Rig) -> None:
    identity = uuid.uuid4()
    sent = rig.send("a", identity)
    until(lambda: "a" in rig.running, "it does not begin")
    rig.cancel(identity)
    assert rig.status(sent) == CANCELED and rig.cancelled == ["judged a"]


def test_who_judged_a_goal_hears_once_of_a_cancel_that_comes_as_it_begins(rig: Rig) -> None:
    is_cancelled = threading.Event()

    def begin(goal: Any) -> None:
        rig.server._begin(goal)
        assert is_cancelled.wait(PATIENCE_S)

    rig.server.register_handle_accepted_callback(begin)
    identity = uuid.uuid4()
    sent = rig.send("a", identity)
    until(lambda: "a" in rig.running, "it does not begin")
    rig.cancel(identity)
    is_cancelled.set()
    assert rig.status(sent) == CANCELED and rig.cancelled == ["judged a"]


def no_more(*_: Any) -> None:
    raise RuntimeError("no more goals")


def test_a_goal_that_cannot_be_accepted_is_given_up(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rclpy.action.server.ServerGoalHandle", no_more)
    sent = rig.send("a")
    until(sent.done, "the goal is not answered")
    assert not sent.result().accepted
    until(lambda: rig.given_up == ["judged a"], "it is not given up")


def test_a_controller_stops_for_a_goal_that_cannot_be_accepted(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rclpy.action.server.ServerGoalHandle", no_more)
    begun, stopped = list[str](), threading.Event()
    active: Any = SimpleNamespace(
        name="arm", client=SimpleNamespace(node=rig.node), state=ControllerState.ACTIVE, at_once=lambda task: task()
    )
    side = GoalSide(
        active, RunBlueprint, "work", begin=lambda request, _: begun.append(request.skill), cancel=stopped.set,
        result=lambda _: RunBlueprint.Result(), refusal=lambda _: RunBlueprint.Result(),
    )  # fmt: skip
    client: Any = GoalClient(rig.node, RunBlueprint, "arm/work", callback_group=ReentrantCallbackGroup())
    until(client.server_is_ready, "no server")
    sent = client.send_goal_async(RunBlueprint.Goal(skill="a"))
    until(sent.done, "the goal is not answered")
    assert begun == ["a"] and not sent.result().accepted
    assert stopped.wait(PATIENCE_S), "its motion goes on without it"
    client.destroy()
    side.destroy()


def test_an_action_server_that_is_removed_while_rclpy_is_about_to_wait_for_it_is_no_error(rig: Rig) -> None:
    other: Any = ActionServer(rig.node, RunBlueprint, "other", lambda _: RunBlueprint.Result())
    other._handle.destroy_when_not_in_use()  # as `destroy` in another thread, which then takes it from the node
    executor: Any = rig.node.executor
    executor.wake()
    time.sleep(0.1)
    other.destroy()
    executor.create_task(rig.over.set)
    until(rig.over.is_set, "the node no longer spins")
