"""Rules Q18 to Q20 of docs/semantics/controllers.md: forwarded commands, and wrenches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped

from robot_rt_control.client import Client
from robot_rt_control.controllers.catalogue import make_controller
from robot_rt_control.controllers.grippers.hand import GripperGoal, Hand, HandOptions
from robot_rt_control.controllers.jogs.forward import ForwardJogger, ForwardOptions, Interface
from robot_rt_control.controllers.trajectory.follower import Follower
from robot_rt_control.controllers.trajectory.goal import Goal, Point
from robot_rt_control.controllers.trajectory.options import read_options
from robot_rt_control.model.workcell.controllers import (
    FORWARD,
    JOINT_GROUPS,
    WRENCH_BROADCASTER,
    ControllerDescription,
)
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.defaults import CONTROLLER_LEASE_S
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

ARM7 = Path(__file__).parents[3] / "config" / "arm7.yaml"
PUSHER = ARM7.with_name("pusher.yaml")
HOME = np.array([0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0])


@pytest.fixture(scope="module")
def client() -> Iterator[LockstepClient]:
    made = LockstepClient(ARM7)
    with made:
        yield made


class Forwarded:
    """A controller of this kind, as its node runs it."""

    def __init__(self, client: LockstepClient, interface: Interface, **options: object) -> None:
        part = client.cell.workcell.part("arm")
        read = ForwardOptions(interface_name=interface, **options)  # type: ignore[arg-type]
        self.client, self.jogger = client, ForwardJogger("forward", part, client, read, interface, lambda: None)

    def run(self, seconds: float, *values: np.ndarray) -> None:
        """Let time pass; the values come every 10 ms."""
        for _ in range(round(seconds / 0.01)):
            for given in values:
                self.jogger.forward(given.tolist())
            self.jogger.process()
            self.client.step(10)

    @property
    def q(self) -> np.ndarray:
        return self.client.cell.part("arm").commanded_position[:7].copy()

    def close(self) -> None:
        self.jogger.close()
        self.client.step(400)
        assert not self.client.cell.part("arm").motion_velocity[:7].any() and not self.client.sessions()
        assert not self.client.cell.kinds("part_faulted", "action_failed", "stream_refused")


def test_Q18_one_position_is_gone_to_and_held(client: LockstepClient) -> None:
    made = Forwarded(client, "position", idle_time=1.0)
    goal = HOME + [0.3, 0.1, 0.0, -0.2, 0.0, 0.0, 0.4]
    made.jogger.forward(goal.tolist())
    made.run(1.5)
    np.testing.assert_allclose(made.q, goal, atol=1e-4)
    made.run(1.5)
    assert not client.sessions(), "it is released"
    made.run(0.5, HOME)
    assert client.sessions()[0].name == "forward"
    made.run(1.5)
    np.testing.assert_allclose(made.q, HOME, atol=1e-4)
    made.close()


def test_Q18_velocities_end_with_the_time_out(client: LockstepClient) -> None:
    made = Forwarded(client, "velocity", command_timeout=0.2, idle_time=0.5)
    before = made.q
    made.run(0.5, np.array([0.0] * 6 + [0.2]))
    moving = made.q
    assert 0.06 < (moving - before)[6] < 0.11
    made.run(1.0)
    assert (made.q - moving)[6] < 0.08 and not client.sessions()
    made.run(1.0, np.zeros(7))
    assert not client.sessions(), "zero claims nothing"
    made.close()


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_Q18_efforts_move_a_simulated_part_and_end_with_the_time_out(simulator: str) -> None:
    """A mass of 1 kg on a level rail."""
    pytest.importorskip(simulator)
    with LockstepClient(PUSHER, hardware=simulator) as client:
        client.step(50)
        part = client.cell.workcell.part("pusher")
        read = ForwardOptions(interface_name="effort", command_timeout=0.2, idle_time=0.5)
        jogger = ForwardJogger("forward", part, client, read, "effort", lambda: None)
        live, speeds = client.cell.part("pusher"), []
        before = float(live.position[0])
        with pytest.raises(DefinitionError, match=r"effort of joint .* is outside its limits; expected -20.0000 to 20"):
            jogger.forward([21.0])
        for k in range(120):
            if k < 30:
                jogger.forward([-0.5])
            jogger.process()
            client.step(10)
            speeds.append(float(live.velocity[0]))
        moved = float(live.position[0]) - before
        # 0.5 N for 0.3 s, and what is left until the time-out, against the friction of the rail
        assert -0.25 < min(speeds) < -0.1 and moved < -0.03
        assert abs(speeds[-1]) < 1e-3 and not client.sessions(), "braked by the loop, and released"
        assert client.cell.kinds("part_faulted", "action_failed") == []
        jogger.close()


@pytest.mark.parametrize(
    ("interface", "values", "text"),
    [
        ("position", HOME[:6], "commands: position values; expected 7, one for each joint; got 6"),
        ("position", [*HOME[:6], np.nan], "commands; expected finite numbers; got .*nan"),
        ("position", [*HOME[:6], 9.0], "position of joint 'joint_7' is outside its limits; expected -.* got 9.0"),
        ("velocity", [0.0] * 6 + [99.0], "velocity of joint 'joint_7' is outside its limits; .*; got 99.0"),
    ],
)
def test_Q18_what_does_not_fit_moves_nothing(
    client: LockstepClient, interface: Interface, values: list[float], text: str
) -> None:
    made = Forwarded(client, interface)
    before = made.q
    with pytest.raises(RobotControlError, match=text):
        made.jogger.forward(values)
    made.run(0.1)
    assert (made.q == before).all() and not client.sessions()
    made.close()


def test_Q18_a_part_in_use_is_left_alone_until_a_pause(client: LockstepClient) -> None:
    made = Forwarded(client, "position", command_timeout=0.2)
    goal, before = HOME + 0.1, made.q
    with client.session("arm", name="welding"), pytest.raises(RobotControlError, match="part 'arm' is not free"):
        made.run(0.1, goal)
    made.run(0.3, goal)
    assert (made.q == before).all()
    made.run(0.3)
    made.run(1.5, goal)
    np.testing.assert_allclose(made.q, goal, atol=1e-4)
    made.run(1.5, HOME)
    made.close()


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        (FORWARD, {}, "interface_name; expected position, velocity or effort; got none"),
        (FORWARD, {"interface_name": "torque"}, "interface_name"),
        (JOINT_GROUPS["velocity"], {"interface_name": "position"}, "interface_name; expected velocity; got 'position'"),
        (FORWARD, {"interface_name": "position", "joints": ["joint_1"]}, "joints; expected all of part 'arm'"),
    ],
)
def test_Q18_wrong_options_are_named(kind: str, options: dict[str, object], text: str) -> None:
    described = ControllerDescription(name="f", type=kind, part="arm", options=options, place="test")
    with pytest.raises(DefinitionError, match=text):
        make_controller(described, load_workcell(ARM7), cast(Client, None))


def test_Q18_the_types_of_ros2_control_say_what_they_command() -> None:
    workcell = load_workcell(ARM7)
    for interface, kind in (*JOINT_GROUPS.items(), ("velocity", FORWARD)):
        options = {"interface_name": interface} if kind == FORWARD else {}
        described = ControllerDescription(name="f", type=kind, part="arm", options=options, place="test")
        modes = [mode.name.lower() for mode in workcell.part("arm").command_modes]
        if interface not in modes:
            with pytest.raises(DefinitionError, match=f"takes no {interface} commands"):
                make_controller(described, workcell, cast(Client, None))
            continue
        made = make_controller(described, workcell, cast(Client, None))
        assert made.command_interfaces[0] == f"joint_1/{interface}" and made.type == kind


class FakeNode:
    """Keeps publishers and subscriptions."""

    def __init__(self) -> None:
        self.published: dict[str, list[object]] = {}
        self.callbacks: dict[str, Callable[[object], None]] = {}

    def create_publisher(self, kind: type, name: str, depth: int) -> SimpleNamespace:
        messages = self.published[name] = []
        return SimpleNamespace(publish=messages.append, name=name)

    def create_subscription(self, kind: type, name: str, callback: Callable[[object], None], depth: int) -> str:
        self.callbacks[name] = callback
        return name

    def destroy_publisher(self, publisher: SimpleNamespace) -> None:
        del self.published[publisher.name]

    def destroy_subscription(self, name: str) -> None:
        del self.callbacks[name]


def test_Q19_a_wrench_is_published_while_the_broadcaster_is_active() -> None:
    node = FakeNode()
    described = ControllerDescription(
        name="force", type=WRENCH_BROADCASTER, part="wrist", options={"frame_id": "tool0"}, place="test"
    )
    made = make_controller(described, load_workcell(ARM7), cast(Client, SimpleNamespace(node=node)))
    assert made.command_interfaces == () and made.state_interfaces[:2] == ("wrist/force.x", "wrist/force.y")
    made.configure()
    assert not node.callbacks
    made.activate()
    message = WrenchStamped()
    node.callbacks["wrist/wrench"](message)
    assert node.published["force/wrench"] == [message] and message.header.frame_id == "tool0"
    made.deactivate()
    assert not node.callbacks and not node.published
    wrong = replace(described, options={"frame": "x"})
    with pytest.raises(DefinitionError, match="frame"):
        make_controller(wrong, load_workcell(ARM7), cast(Client, None))


@pytest.mark.parametrize("who", ["jogger", "hand", "follower"])
def test_Q20_a_lease_outlives_a_machine_that_starves_the_controllers(client: LockstepClient, who: str) -> None:
    asked: list[float] = []
    part = client.cell.workcell.part("gripper" if who == "hand" else "arm")

    def session(part: str, *, lease_s: float, name: str, **others: bool) -> object:
        asked.append(lease_s)
        return client.session(part, name=name, **others)

    seen = cast(Client, Delegate(client, SimpleNamespace(session=session)))
    if who == "jogger":
        jogger = ForwardJogger("j", part, seen, ForwardOptions(interface_name="position"), "position", lambda: None)
        jogger.forward(HOME.tolist())
        jogger.process()
        jogger.close()
    elif who == "hand":
        hand = Hand("h", part, seen, HandOptions(), lambda: None)
        hand.follow(GripperGoal(position=0.01, max_effort=0.0, velocity=0.0), lambda _: None)
        hand.close("over")
    else:
        follower = Follower("f", part, seen, read_options("f", {}, part), lambda: None)
        goal = Goal(joints=part.joint_names, points=(Point(time=1.0, positions=tuple(HOME + 0.01)),))
        follower.follow(goal, lambda _: None, 0.0)
        follower.close("over")
    assert asked == [CONTROLLER_LEASE_S]
    client.step(400)
    assert not client.sessions()


class Delegate:
    """An object, some of whose attributes are those of another one."""

    def __init__(self, of: object, others: object) -> None:
        self._of, self._others = of, others

    def __getattr__(self, name: str) -> object:
        return getattr(self._others if hasattr(self._others, name) else self._of, name)
