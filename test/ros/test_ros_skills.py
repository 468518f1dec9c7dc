"""Skills made of ROS, against servers and topics of a node in the same process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from robot_rt_control.action import RunBlueprint
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.makers.makers import ABANDONED_S, Abandonable, Makers
from robot_rt_control.blueprint.makers.ros.answers import InstalledTypes
from robot_rt_control.blueprint.makers.ros.connections import Connections
from robot_rt_control.blueprint.makers.ros.maker import RosMaker
from robot_rt_control.blueprint.makers.ros.starts import RosTopics
from robot_rt_control.blueprint.makers.ros.works import GONE_S, SERVER_S
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.schema import StartTopicKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.ros.spinning import spin
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.vocabulary.defaults import GOAL_ANSWER_S

PATIENCE_S = 60.0
DOCK = """
name: dock
parameters: {station: {type: text}}
results: {no_station: {failure: true}, full: {failure: true}}
outputs: {run: {type: text}}
is:
  ros_action:
    name: dock
    type: robot_rt_control/action/RunBlueprint
    fields: {skill: $station}
    results: [{on: aborted, when: success == false, end: no_station}, {on: rejected, end: full}]
    outputs: {run: run}
"""
SWITCH = """
name: switch
parameters: {high: {type: bool}}
outputs: {said: {type: text}}
is: {ros_service: {name: switch, type: std_srvs/srv/SetBool, fields: {data: $high}, outputs: {said: message}}}
"""
SHOUT = """
name: shout
parameters: {words: {type: text}}
is: {publish: {name: shouts, type: std_msgs/msg/String, fields: {data: $words}}}
"""
HEAR = """
name: hear
parameters: {least: {}}
outputs: {level: {}}
is: {topic: {name: levels, type: std_msgs/msg/Float64, when: data > $least, outputs: {level: data}}}
"""


class Others:
    """The node with the servers."""

    def __init__(self, node: Node) -> None:
        self.node, self.heard, self.release = node, list[str](), threading.Event()
        self.goals: dict[str, Any] = {}
        self.answer, self.asked, self.dead = threading.Event(), threading.Event(), threading.Event()
        group = ReentrantCallbackGroup()
        self.server, self.mortal = (
            ActionServer(
                node,
                RunBlueprint,
                name,
                self.execute,
                goal_callback=self.judge,
                cancel_callback=lambda _: CancelResponse.ACCEPT,
                callback_group=group,
            )
            for name in ("dock", "mortal")
        )
        node.create_service(SetBool, "switch", self.switch, callback_group=group)
        node.create_subscription(String, "shouts", lambda m: self.heard.append(m.data), 10, callback_group=group)
        self.levels = node.create_publisher(Float64, "levels", 10)

    def switch(self, request: Any, response: Any) -> Any:
        response.success, response.message = request.data, "as you say" if request.data else "never"
        return response

    def judge(self, goal: Any) -> GoalResponse:
        if goal.skill == "late":
            self.asked.set()
            self.answer.wait(PATIENCE_S)
        return GoalResponse.REJECT if goal.skill == "full" else GoalResponse.ACCEPT

    def was_cancelled(self, word: str) -> bool:
        """Whether its goal was cancelled; `is_cancel_requested` is true only until its server has obeyed."""
        stopping = (GoalStatus.STATUS_CANCELING, GoalStatus.STATUS_CANCELED)
        return word in self.goals and self.goals[word].status in stopping

    def execute(self, goal: Any) -> Any:
        word = goal.request.skill
        self.goals[word] = goal
        if word in ("slow", "late", "talks"):
            while not goal.is_cancel_requested and not self.dead.is_set():
                if word == "talks":
                    goal.publish_feedback(RunBlueprint.Feedback(run="near", elapsed=1.5))
                time.sleep(0.01)
            if not self.dead.is_set():
                goal.canceled()
        elif word == "never":
            self.release.wait(PATIENCE_S)
            goal.abort()
        elif word == "gone":
            goal.abort()
        else:
            goal.succeed()
        ended = word in ("slow", "late", "talks", "never", "gone")
        return RunBlueprint.Result(run="r1", success=not ended, message="no such station" if ended else "")


class Rig:
    def __init__(self, node: ListeningNode, others: Others) -> None:
        self.others, self.now = others, 0.0
        # [s] of the loop: it stands still, so that slow machines see no time-out but those that a test wants.
        backend: Any = SimpleNamespace(present=lambda: (0, self.now), threaded=True)
        self.robot: Any = SimpleNamespace(backend=backend, on_change=lambda: None)
        self.connections = Connections(node)
        self.makers = Makers(None, RosMaker(self.connections))

    def start(self, text: str, **values: Any) -> Abandonable:
        template = SkillTemplate(text)
        catalogue = SkillCatalogue(
            offline_catalogue(), {}, {template.name: template}, interfaces=InstalledTypes()
        )
        given = tuple(ParameterValue(name=name, value=value) for name, value in values.items())
        order = orders.StartSkill(activity=7, path=("a",), skill=template.name, arguments=given, parts={})
        return self.makers(order, catalogue.find(template.name), catalogue, self.robot, None)

    def end(self, work: Abandonable) -> tuple[events.Ended, list[events.Told]]:
        told: list[events.Told] = []
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            event = work.poll()
            if isinstance(event, events.Ended):
                return event, told
            if isinstance(event, events.Told):
                told.append(event)
            time.sleep(0.005)
        raise AssertionError("the skill did not end")


@pytest.fixture(scope="module")
def rig(own_domain: None) -> Iterator[Rig]:
    context = Context()
    rclpy.init(context=context)
    nodes = [ListeningNode(name, context=context) for name in ("blueprints", "others")]
    executor = MultiThreadedExecutor(num_threads=16, context=context)
    for node in nodes:
        executor.add_node(node)
    others = Others(nodes[1])
    made = Rig(nodes[0], others)
    spinning = threading.Thread(target=spin, args=(executor, print), daemon=True)
    spinning.start()
    yield made
    for event in (others.release, others.answer, others.dead):
        event.set()
    made.connections.close()
    executor.shutdown(timeout_sec=10.0)
    others.server.destroy()
    for node in nodes:
        node.destroy_node()
    context.shutdown()
    spinning.join(60.0)


@pytest.mark.parametrize(
    ("station", "result", "reason"),
    [
        ("home", "done", ""),
        ("gone", "no_station", "dock: no such station"),
        ("full", "full", "dock: rejected"),
    ],
)
def test_N44_a_goal_of_a_ros_action(rig: Rig, station: str, result: str, reason: str) -> None:
    """Its identity is told before it is sent; its status and fields are the result."""
    work = rig.start(DOCK, station=station)
    ended, (told,) = rig.end(work)
    assert (ended.result, ended.reason) == (result, reason)
    assert told.what == "goal" and told.content["server"] == "/dock"
    if station == "home":
        assert ended.outputs == {"run": "r1"}
        assert bytes(rig.others.goals["home"].goal_id.uuid).hex() == told.content["goal"]


def test_a_goal_is_cancelled(rig: Rig) -> None:
    work = rig.start(DOCK, station="slow")
    until(lambda: "slow" in rig.others.goals, work)
    work.cancel()
    assert rig.end(work)[0].result == "cancelled"


def test_N44_feedback_of_a_goal_is_progress(rig: Rig) -> None:
    work = rig.start(DOCK, station="talks")
    event, deadline = work.poll(), time.monotonic() + PATIENCE_S
    while not isinstance(event, events.Told) or event.what != "progress":
        assert time.monotonic() < deadline and not isinstance(event, events.Ended)
        time.sleep(0.005)
        event = work.poll()
    assert event.content == {"text": "run near, elapsed 1.5"}
    work.cancel()
    assert rig.end(work)[0].result == "cancelled"


def test_N43_a_goal_that_never_ends_is_abandoned(rig: Rig) -> None:
    work = rig.start(DOCK, station="never")
    until(lambda: "never" in rig.others.goals, work)
    work.cancel()
    rig.now += 0.9 * ABANDONED_S
    assert work.poll() is None
    rig.now += 0.2 * ABANDONED_S
    ended, (abandoned,) = rig.end(work)
    assert ended.result == "cancelled" and "did not end, and was abandoned" in ended.reason
    assert abandoned.what == "abandoned"
    rig.others.release.set()


def test_goals_of_an_interrupted_run_are_cancelled(rig: Rig) -> None:
    rig.others.goals.clear()
    work, told = rig.start(DOCK, station="slow"), None
    while "slow" not in rig.others.goals:
        event = work.poll()
        told = event if isinstance(event, events.Told) else told
        time.sleep(0.005)
    assert told is not None
    rig.connections.cancel_goals([{"what": "goal", **told.content}, {"what": "end"}])
    assert rig.end(work)[0].result == "cancelled", "its server says so"


def until(happened: Callable[[], object], work: Abandonable) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline and not isinstance(work.poll(), events.Ended)
        time.sleep(0.005)


def test_N43_a_server_that_answers_too_late_has_its_goal_cancelled(rig: Rig) -> None:
    """Nobody follows the goal any more when it is accepted: it must not go on."""
    rig.others.goals.clear()
    work = rig.start(DOCK, station="late")
    until(rig.others.asked.is_set, work)
    work.cancel()
    assert work.poll() is None
    rig.now += 1.1 * ABANDONED_S
    ended, (abandoned,) = rig.end(work)
    assert ended.result == "cancelled" and "of action dock did not end, and was abandoned" in ended.reason
    assert abandoned.what == "abandoned" and "late" not in rig.others.goals
    rig.others.answer.set()
    deadline = time.monotonic() + PATIENCE_S
    while not rig.others.was_cancelled("late"):
        assert time.monotonic() < deadline, "the late goal goes on"
        time.sleep(0.005)


def test_N43_a_goal_that_was_accepted_since_the_last_look_is_cancelled_as_well(rig: Rig) -> None:
    rig.others.goals.clear()
    made: Any = rig.start(DOCK, station="slow")._made
    assert isinstance(made.poll(), events.Told), "its identity, before it is sent"
    assert made.poll() is None
    deadline = time.monotonic() + PATIENCE_S
    while "slow" not in rig.others.goals or not made._sent.done():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    made.abandon()
    while not rig.others.was_cancelled("slow"):
        assert time.monotonic() < deadline, "the goal goes on"
        time.sleep(0.005)


def test_N43_a_goal_whose_answer_is_lost_is_cancelled(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.others.goals.clear()
    taken = GoalClient.execute

    async def lossy(self: Any, data: Any) -> None:
        data.pop("goal", None)
        await taken(self, data)

    monkeypatch.setattr(GoalClient, "execute", lossy)
    work = rig.start(DOCK, station="slow")
    until(lambda: "slow" in rig.others.goals, work)
    rig.now += GOAL_ANSWER_S + 1.0
    assert "neither accepted nor rejected" in rig.end(work)[0].reason
    deadline = time.monotonic() + PATIENCE_S
    while not rig.others.was_cancelled("slow"):
        assert time.monotonic() < deadline, "the goal goes on"
        time.sleep(0.005)


def test_a_service(rig: Rig) -> None:
    ended, _ = rig.end(rig.start(SWITCH, high=True))
    assert (ended.result, ended.outputs) == ("done", {"said": "as you say"})
    ended, _ = rig.end(rig.start(SWITCH, high=False))
    assert (ended.result, ended.reason) == ("failed", "switch: never")


def test_a_message_to_publish(rig: Rig) -> None:
    assert rig.end(rig.start(SHOUT, words="hello"))[0].result == "done"
    deadline = time.monotonic() + PATIENCE_S
    while "hello" not in rig.others.heard and time.monotonic() < deadline:
        time.sleep(0.01)
    assert rig.others.heard == ["hello"]


def test_N54_messages_that_start_a_blueprint_are_heard_from_another_node_until_it_is_disarmed(rig: Rig) -> None:
    took: list[tuple[bool, dict[str, Any]]] = []
    keys = StartTopicKeys(
        name="levels", type="std_msgs/msg/Float64", when="data > 1.5", parameters={"level": "data"}, reliable=True
    )
    end = RosTopics(rig.connections).follow(keys, lambda fits, values: took.append((fits, dict(values))))
    deadline, level = time.monotonic() + PATIENCE_S, 0.0
    while {fits for fits, _ in took} != {True, False} and time.monotonic() < deadline:
        level = 2.0 if level == 1.0 else 1.0
        rig.others.levels.publish(Float64(data=level))
        time.sleep(0.01)
    assert all(values == ({"level": 2.0} if fits else {}) for fits, values in took)
    assert {fits for fits, _ in took} == {True, False}
    end()
    while rig.connections._node.count_subscribers("levels") and time.monotonic() < deadline:
        time.sleep(0.01)  # DDS tells it later
    assert rig.connections._node.count_subscribers("levels") == 0


def test_N54_messages_that_start_are_judged_in_their_order_by_one_thread(rig: Rig) -> None:
    took, threads = list[float](), set[int]()
    keys = StartTopicKeys(name="levels", type="std_msgs/msg/Float64", parameters={"level": "data"}, reliable=True)

    def take(_: bool, values: Any) -> None:
        time.sleep(0.001)
        threads.add(threading.get_ident())
        took.append(values["level"])

    end = RosTopics(rig.connections).follow(keys, take)
    deadline = time.monotonic() + PATIENCE_S
    for level in range(10_000):
        rig.others.levels.publish(Float64(data=float(level)))
        time.sleep(0.002)
        if len(took) >= 200 or time.monotonic() > deadline:
            break
    end()
    assert len(took) >= 200 and took == sorted(took) and len(threads) == 1


def test_a_topic_to_wait_for(rig: Rig) -> None:
    work = rig.start(HEAR, least=1.5)
    deadline = time.monotonic() + PATIENCE_S
    event, level = None, 0.0
    while event is None and time.monotonic() < deadline:
        level = 2.0 if level == 1.0 else 1.0
        rig.others.levels.publish(Float64(data=level))
        time.sleep(0.02)
        event = work.poll()
    assert isinstance(event, events.Ended) and (event.result, event.outputs) == ("done", {"level": 2.0})
    work = rig.start(HEAR, least=100.0)
    work.cancel()
    assert rig.end(work)[0].result == "cancelled"


def test_a_server_that_is_missing(rig: Rig) -> None:
    work = rig.start(DOCK.replace("name: dock\n    type", "name: nowhere\n    type"), station="x")
    assert work.poll() is None, "it may come"
    rig.now += SERVER_S + 0.1
    ended, told = rig.end(work)
    assert (ended.result, ended.reason, told) == ("failed", "nowhere: no action server is there", [])


def test_a_server_that_dies_in_the_middle_of_a_goal_is_a_failure(rig: Rig) -> None:
    rig.others.goals.clear()
    work = rig.start(DOCK.replace("name: dock\n    type", "name: mortal\n    type"), station="slow")
    until(lambda: "slow" in rig.others.goals, work)
    rig.others.mortal.destroy()
    client = rig.connections.action_client(RunBlueprint, "mortal")
    until(lambda: not client.server_is_ready(), work)
    assert work.poll() is None, "it may come back"
    rig.now += GONE_S + 0.1
    ended, _ = rig.end(work)
    assert (ended.result, ended.reason) == ("failed", "mortal: its action server is gone")
    rig.others.dead.set()
    asked = threading.Event()

    def cancel(_: Any, answer: Any) -> Any:
        asked.set()
        return answer

    rig.others.node.create_service(CancelGoal, "mortal/_action/cancel_goal", cancel)
    assert asked.wait(PATIENCE_S), "it came back, and nobody cancels the goal"
