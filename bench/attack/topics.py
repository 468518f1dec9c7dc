"""Topics and ROS actions of all nodes over DDS: messages of any content, bytes that are none, goals in any state.

What is attacked is found in the graph: each topic that a node of the workcell subscribes to, and each action.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from rclpy._rclpy_pybind11 import NodeNameNonExistentError, RCLError
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from bench.attack.attack import REPOSITORY, Attack
from bench.attack.attacked_cell import Right, cell_file
from bench.attack.content import anything, message, spoil, type_of
from bench.attack.hostile_bytes import spoiled_bytes
from bench.attack.watched_workcell import seen_at_border
from robot_rt_control.client import Action, Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.ros_domain import claim_domain

ACTS = 3000
LARGEST = 1_000_000
"""[bytes] of a message. DDS keeps room for as many of the largest one that ever came as a queue is deep."""
MEMORY_MB = 100.0
"""By which no process of the workcell grows while it is attacked, after it was attacked for a quarter of the acts."""
_PATIENCE_S = 120.0
_OPEN = 8
"""Requests to one action without an answer. ROS keeps the last 10 requests, and the last 10 answers, of a service: a
cancel of all goals would bring more results at once, and those before are lost."""
_PAUSE_S = 0.003
_OWN = "stranger"
_LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Fits each subscription."""
_MOVERS = {
    "arm": "follower/joint_trajectory",
    "jogged": "jog/delta_joint_cmds",
    "streamed": "control_server/stream_input",
    "base": "drive/cmd_vel",
    "cart": "roll/cmd_vel",
}
"""Part → the end of the topic that moves it."""
_ACTIONS = (
    *("run_action", "run_program", "blueprints/run", "plan_contact", "follow_joint_trajectory"),
    *("one/gripper_cmd", "both/gripper_cmd"),
)
_WRONG = ("internal error", "Traceback (most recent", "failed unexpectedly", "a callback of", "terminate called")
"""That no node logs or answers."""
_ENDED = re.compile(r"ended (with exit code [^0]|by)|did not end")
"""That the supervisor says of no process."""


class _Process:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        self.name = words[words.index(b"-m") + 1].decode() if b"-m" in words else words[0].decode()
        self.before = 0.0

    def memory(self) -> float:
        """[MB]"""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024.0


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(word) for task in tasks for word in (task / "children").read_text().split()]


class _Stranger:
    """A node of somebody else, and what it sends."""

    def __init__(self, random: Random, client: Client, joints: Mapping[str, list[str]]) -> None:
        self.random, self.client, self.joints = random, client, joints
        self.sent = 0
        self._context = rclpy.Context()
        self._context.init(args=[])
        self.node = rclpy.create_node(_OWN, context=self._context, start_parameter_services=False)
        self._executor = rclpy.executors.SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.session = client.session("streamed", lease_s=60.0)
        self.session.add(Action("s", "follow_joint_stream", parts="streamed"))
        self.session.start("s")
        key = client.backend.open_stream(self.session._live(), "s", "goal")
        self.right = Right(random, joints, key, lambda: client.node.get_clock().now().nanoseconds)
        self.known = (*self.right.words(), self.session.id, key.token)
        self.positions: dict[str, float] = {}
        self.node.create_subscription(JointState, "joint_states", self._see, 10)
        self.publishers: dict[str, tuple[Any, Any]] = {}
        self.actions: dict[str, tuple[Any, Any, Any, Any]] = {}
        self.answers: list[tuple[str, float, Any]] = []
        self._ends: list[Any] = []
        self._goals: list[tuple[str, bytes]] = []
        self._cancels: list[tuple[float, str, bytes]] = []

    def _sees(self, joints: Sequence[str]) -> bool:
        return all(name in self.positions for name in joints)

    def _see(self, found: JointState) -> None:
        self.positions.update(zip(found.name, found.position, strict=False))

    def look(self) -> None:
        """Find what can be attacked."""
        for name, namespace in self.node.get_node_names_and_namespaces():
            if name == _OWN:
                continue
            try:
                topics = self.node.get_subscriber_names_and_types_by_node(name, namespace)
                actions = get_action_server_names_and_types_by_node(self.node, name, namespace)
            except NodeNameNonExistentError:  # it has ended since
                continue
            for topic, kinds in topics:
                if topic not in self.publishers:
                    kind = type_of(kinds[0])
                    self.publishers[topic] = kind, self.node.create_publisher(kind, topic, _LATCHED)
            for path, kinds in actions:
                if path not in self.actions:
                    kind = type_of(kinds[0])
                    asks = (
                        (kind.Impl.SendGoalService, "send_goal"),
                        (kind.Impl.GetResultService, "get_result"),
                        (CancelGoal, "cancel_goal"),
                    )
                    clients: list[Any] = [self.node.create_client(of, f"{path}/_action/{what}") for of, what in asks]
                    self.actions[path] = kind, *clients

    def sees_all(self) -> bool:
        """Whether each topic that moves a part, and each action, was found."""
        return all(
            any(found.endswith(name) for found in there)
            for names, there in ((_MOVERS.values(), self.publishers), (_ACTIONS, self.actions))
            for name in names
        )

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)
        now = time.monotonic()
        for due, path, uuid in [c for c in self._cancels if c[0] <= now]:
            if not self._is_full(path):
                self._cancels.remove((due, path, uuid))
                self.cancel(path, uuid)

    # --- what it sends --------------------------------------------------------------------------

    def act(self) -> None:
        """Send something."""
        random = self.random
        if random.random() < 0.9:
            self.publish(random.choice(tuple(self.publishers)))
        else:
            self.ask(random.choice(tuple(self.actions)))
        self.sent += 1

    def publish(self, topic: str) -> None:
        kind, publisher = self.publishers[topic]
        random = self.random
        made = self.right.topic(kind, topic) if random.random() < 0.8 else None
        if made is None:
            made = message(random, kind, self.known, huge=True)
        else:
            for _ in range(random.choice((0, 0, 1, 2))):
                spoil(random, made, self.known)
        data = serialize_message(made)
        if len(data) > LARGEST:
            return
        with suppress(RCLError):  # DDS itself refuses empty ones
            publisher.publish(spoiled_bytes(random, data) if random.random() < 0.25 else made)

    def ask(self, path: str) -> None:
        """Send a request to an action, unless so many are open that ROS itself would lose answers."""
        kind, random = self.actions[path][0], self.random
        if self._is_full(path):
            return self.publish(random.choice(tuple(self.publishers)))
        goals = [goal for at, goal in self._goals if at == path]
        match random.choice(("goal",) * 6 + ("unknown", "again", "cancel", "cancel_all")):
            case "goal":
                goal = self.right.goal(kind)
                for _ in range(random.choice((0, 1, 1, 2))):
                    spoil(random, goal, self.known)
                uuid = random.randbytes(16)
                self.begin(path, uuid, goal)
                if random.random() < 0.7:
                    self._cancels.append((time.monotonic() + random.choice((0.0, 0.01, 0.3)), path, uuid))
            case "unknown":
                self.result(path, random.randbytes(16))
            case "again" if goals:
                self.begin(path, random.choice(goals), self.right.goal(kind))
            case "cancel" if goals:
                self.cancel(path, random.choice(goals))
            case _:
                stamp = anything(random, "builtin_interfaces/Time", ())
                self.cancel(path, random.choice((bytes(16), random.randbytes(16))), stamp)

    def _is_full(self, path: str) -> bool:
        return sum(what.startswith(f"{path}: ") for what, _, _ in self.answers) >= _OPEN

    def begin(self, path: str, uuid: bytes, goal: Any) -> None:
        """Its result is asked for when the goal was answered: that of a rejected one says why."""
        kind, send, _, _ = self.actions[path]
        request = kind.Impl.SendGoalService.Request(goal=goal)
        request.goal_id.uuid = list(uuid)
        self._goals = [*self._goals[-30:], (path, uuid)]
        sent = self._await(f"{path}: a goal", send.call_async(request))
        sent.add_done_callback(lambda _: self.result(path, uuid))

    def result(self, path: str, uuid: bytes) -> Any:
        kind, _, get, _ = self.actions[path]
        request = kind.Impl.GetResultService.Request()
        request.goal_id.uuid = list(uuid)
        return self._await(f"{path}: a result", get.call_async(request))

    def cancel(self, path: str, uuid: bytes, stamp: Any = None) -> None:
        request = CancelGoal.Request()
        request.goal_info.goal_id.uuid = list(uuid)
        if stamp is not None:
            request.goal_info.stamp = stamp
        self._await(f"{path}: a cancel", self.actions[path][3].call_async(request))

    def _await(self, what: str, future: Any) -> Any:
        self.answers.append((what, time.monotonic(), future))
        return future

    # --- what must hold -------------------------------------------------------------------------

    def take_answers(self) -> None:
        """Look at those that have come."""
        for what, _, future in [answer for answer in self.answers if answer[2].done()]:
            said = str(future.result())
            assert not any(word in said for word in _WRONG), f"{what}: {said[:2000]}"
        self.answers = [answer for answer in self.answers if not answer[2].done()]

    def follows(self) -> None:
        """What is right is followed: each goal and each topic that moves a part."""
        self.right.slow = 10.0
        self.look()
        for path in self.actions:
            uuid = self.random.randbytes(16)
            self.begin(path, uuid, self.right.goal(self.actions[path][0]))
            self.wait(f"the end of a goal of {path}", lambda: not self.answers, self._keep_ends)
            end = self._ends[-1]
            is_planned = "stopped at the timeout" in str(end)  # a busy machine finds no plan in this time
            assert end.status == GoalStatus.STATUS_SUCCEEDED or is_planned, f"{path}: a good goal ended with {end}"
        for part, ending in _MOVERS.items():
            (topic,) = (topic for topic in self.publishers if topic.endswith(ending))
            kind, publisher = self.publishers[topic]
            names = self.joints[part]
            self.wait(f"{part} in joint_states", partial(self._sees, names))
            before = [self.positions[name] for name in names]

            def moves(names: Sequence[str] = names, before: list[float] = before) -> bool:
                return any(abs(self.positions[name] - q) > 1e-3 for name, q in zip(names, before, strict=True))

            def send(kind: Any = kind, topic: str = topic, publisher: Any = publisher) -> None:
                publisher.publish(self.right.topic(kind, topic))

            self.wait(f"{part} moves by {topic}", moves, send)

    def _keep_ends(self) -> None:
        for what, _, future in self.answers:
            if future.done() and what.endswith("a result"):
                self._ends.append(future.result())
        self.take_answers()

    def wait(self, what: str, until: Callable[[], Any], meanwhile: Callable[[], object] = lambda: None) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not until():
            assert time.monotonic() < end, f"not within {_PATIENCE_S:g} s: {what}"
            meanwhile()
            self.spin(0.02)

    def calm(self) -> None:
        """End what it has begun: each goal is then answered."""
        for publisher in [publisher for _, publisher in self.publishers.values()]:
            self.node.destroy_publisher(publisher)
        self.publishers.clear()
        self._cancels.clear()
        for path in self.actions:
            self.cancel(path, bytes(16))

        def answered() -> bool:
            self.take_answers()
            return not self.answers

        try:
            self.wait("an answer to each request", answered)
        except AssertionError as error:
            now = time.monotonic()
            error.add_note("Without one: " + "; ".join(f"{what}, {now - at:.0f} s" for what, at, _ in self.answers))
            raise

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()


def attack(random: Random, folder: Path, acts: int) -> int:
    """Bring a workcell up, attack it, and look at what has become of it. Returns how much was sent.

    Raises:
        AssertionError: the promise was broken.
    """
    file, log, border = cell_file(folder), folder / "workcell.log", folder / "border.json"
    joints = {part: list(names) for part, names in load_workcell(file).joint_state_names().items()}
    cell = DemoWorkcell(
        ["--workcell", str(file), "--clock", "lockstep", "--planner", "--blueprints", "--editor", "--editor-port", "0"],
        log,
        inside=[sys.executable, str(REPOSITORY / "bench" / "attack" / "watched_workcell.py"), str(border)],
        environment={"XDG_DATA_HOME": str(folder)},
    )
    with _own_domain(), cell:
        cell.wait_until_ready(None, lambda _: None, 400.0)
        with Client("holder", timeout_s=_PATIENCE_S) as client:
            processes = [_Process(pid) for pid in _children(cell.pid)]
            stranger = _Stranger(random, client, joints)
            try:
                _attack(stranger, acts, processes)
                with Client("afterwards", timeout_s=_PATIENCE_S, operator=True) as fresh:
                    faulted = {part.name: part.fault for part in fresh.parts() if part.operational_state == "faulted"}
                    assert not faulted, f"faulted: {faulted}"
                    fresh.set_speed(1.0)
                stranger.follows()
            except AssertionError as error:
                error.add_note("The workcell's last lines:\n" + "\n".join(cell.last_lines(40)))
                raise
            finally:
                stranger.close()
        assert [process.pid for process in processes] == _children(cell.pid), "a process has ended"
        commands, violation = seen_at_border(border)
        assert not violation, violation
        assert commands > 0, "nothing was watched"
    said = cell.last_lines(10**9)
    wrong = [line for line in said if any(word in line for word in _WRONG)]
    wrong += [line for line in said if _ENDED.search(line)]
    assert not wrong, "\n".join(wrong[:20])
    return stranger.sent


@contextmanager
def _own_domain() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(claim_domain("attacked topics")))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        yield


def _attack(stranger: _Stranger, acts: int, processes: Sequence[_Process]) -> None:
    stranger.wait("every node in the graph", stranger.sees_all, stranger.look)
    for k in range(acts):
        if k == acts // 4:
            for process in processes:
                process.before = process.memory()
        stranger.act()
        stranger.spin(_PAUSE_S * stranger.random.choice((0.0, 1.0, 1.0, 3.0)))
        stranger.take_answers()
    stranger.calm()
    grown = {process.name: round(process.memory() - process.before, 1) for process in processes}
    too_large = {name: mb for name, mb in grown.items() if mb > MEMORY_MB}
    assert not too_large, f"more memory than {MEMORY_MB:g} MB before: {too_large} MB"


def _round(random: Random, folder: Path) -> int:
    return attack(random, folder, ACTS)


ATTACK = Attack(
    name="topics",
    promise="whatever is published or asked over DDS, no node dies, fails or grows, and no limit is broken",
    round=_round,
    unit="messages and goals",
    processes=True,
)
