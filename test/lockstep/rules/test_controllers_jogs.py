"""Rules Q10 to Q12, and Q17, of docs/semantics/controllers.md: jogs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from lost_events import losing

from robot_rt_control.controllers.jogs import controller as ros_side
from robot_rt_control.controllers.jogs.arm import ArmJogger, JogOptions
from robot_rt_control.controllers.jogs.controller import JogController
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

CONFIG = Path(__file__).parents[3] / "config"
DOWN = (0.0, 0.0, -0.05, 0.0, 0.0, 0.0)


class JogBench:
    """Jogs the arm of arm7, 100 times per second."""

    def __init__(self) -> None:
        self.client = LockstepClient(CONFIG / "arm7.yaml")
        self.part = self.client.cell.workcell.part("arm")
        self.complaints: list[str] = []
        self.start()

    def start(self) -> None:
        self.jogger = ArmJogger("jog", self.part, self.client, JogOptions(), lambda: None)

    def process(self) -> None:
        try:
            self.jogger.process()
        except RobotControlError as error:
            self.complaints.append(str(error))

    def run(self, seconds: float, jog: Callable[[], None] = lambda: None) -> None:
        for _ in range(round(seconds / 0.01)):
            jog()
            self.process()
            self.client.step(10)

    def down(self, frame: str = "") -> Callable[[], None]:
        return lambda: self.jogger.jog_tool(DOWN, frame)

    @property
    def tool(self) -> np.ndarray:
        return np.array([self.client.value(f"arm.tool.{axis}") for axis in "xyz"])

    @property
    def q(self) -> np.ndarray:
        return self.client.cell.part("arm").commanded_position[:7].copy()

    def rests(self) -> bool:
        return not self.client.cell.part("arm").motion_velocity[:7].any()


@pytest.fixture(scope="module")
def shared() -> Iterator[JogBench]:
    bench = JogBench()
    with bench.client:
        yield bench


@pytest.fixture
def bench(shared: JogBench) -> Iterator[JogBench]:
    shared.start()
    shared.complaints.clear()
    yield shared
    shared.jogger.close()
    shared.client.step(300)
    assert shared.rests() and not shared.client.sessions()
    assert not shared.client.cell.kinds("part_faulted", "action_failed", "stream_refused")


def test_Q10_the_arm_moves_while_jogs_come_and_is_released_after_a_while(bench: JogBench) -> None:
    before = bench.tool
    bench.run(0.5, bench.down())
    assert bench.client.sessions()[0].name == "jog"
    moved = bench.tool - before
    assert moved == pytest.approx([0.0, 0.0, -0.022], abs=0.004), "[m]"
    bench.run(0.5)
    assert bench.rests() and bench.client.sessions()
    bench.run(2.5)
    assert not bench.client.sessions() and not bench.complaints


def test_Q10_the_loop_stops_the_arm_if_nothing_is_heard_of_the_controller(bench: JogBench) -> None:
    bench.run(0.3, bench.down())
    assert not bench.rests()
    bench.client.step(400)
    assert bench.rests() and bench.client.sessions()


def test_Q10_twists_and_joint_velocities_follow_each_other(bench: JogBench) -> None:
    bench.run(0.3, bench.down())
    q = bench.q
    bench.run(0.3, lambda: bench.jogger.jog_joints(["joint_7"], [0.2]))
    assert (bench.q - q)[6] > 0.03
    begun = bench.q
    bench.run(0.2, lambda: bench.jogger.jog_joints(["joint_7"], [0.2]))
    assert (bench.q - begun)[:6] == pytest.approx(np.zeros(6), abs=1e-9) and (bench.q - begun)[6] > 0.03
    before = bench.tool
    bench.run(0.3, bench.down())
    assert (bench.tool - before)[2] < -0.008 and not bench.complaints
    assert len(bench.client.sessions()) == 1


@pytest.mark.parametrize(("frame", "sign"), [("world", -1), ("base", -1), ("flange", 1), ("arm_tool", 1)])
def test_Q10_twists_are_in_the_axes_of_their_frame(bench: JogBench, frame: str, sign: int) -> None:
    before = bench.tool
    bench.run(0.3, bench.down(frame))
    back = bench.tool - before
    assert back == pytest.approx([0.0, 0.0, sign * 0.012], abs=0.004), "[m] the tool's z axis points down"


def test_Q10_a_zero_jog_alone_claims_nothing(bench: JogBench) -> None:
    bench.run(0.1, lambda: bench.jogger.jog_tool((0.0,) * 6, ""))
    assert not bench.client.sessions()


@pytest.mark.parametrize(
    ("jog", "text"),
    [
        (lambda j: j.jog_tool(DOWN, "camera"),
         "frame_id; expected empty, or one of: arm_tool, base, flange, world; got 'camera'"),
        (lambda j: j.jog_tool((np.nan, *DOWN[1:]), ""), "twist; expected finite numbers; got nan, 0, -0.05, 0, 0, 0"),
        (lambda j: j.jog_tool((50.0, *DOWN[1:]), ""), "twist; expected at most 10 m/s and 20 rad/s; got 50, 0, -0.05"),
        (lambda j: j.jog_tool(DOWN, "", age=0.2),
         "the command is too old; expected a stamp of the last 0.1 s; got 0.200 s. Synchronize the clocks"),
        (lambda j: j.jog_joints(["joint_1"], [], [0.1]), "displacements; expected none: a jog is a velocity"),
        (lambda j: j.jog_joints(["elbow"], [0.1]), "joint 'elbow'; expected one of: joint_1, "),
        (lambda j: j.jog_joints(["joint_1"], [np.inf]), "velocities; expected finite numbers; got inf"),
        (lambda j: j.jog_joints(["joint_1"], [40.0]), "velocity of joint 'joint_1'; expected at most "),
        (lambda j: j.jog_joints(["joint_1"], []), "velocities; expected one for each of 1 joint names; got 0"),
        (lambda j: j.jog_joints(["joint_1"] * 2, [0.1] * 2), "joint names; expected each joint once"),
    ],
)  # fmt: skip
def test_Q11_a_jog_that_is_not_valid_is_refused(shared: JogBench, jog: Callable[[ArmJogger], None], text: str) -> None:
    shared.start()
    with pytest.raises(RobotControlError) as caught:
        jog(shared.jogger)
    assert text in str(caught.value)
    shared.run(0.02)
    assert not shared.client.sessions()
    shared.jogger.close()


def test_Q11_a_jog_that_waited_too_long_moves_nothing(bench: JogBench) -> None:
    bench.down()()
    bench.client.step(150)
    bench.process()
    assert not bench.client.sessions() and bench.rests()


def test_Q12_a_stick_that_is_held_while_the_arm_becomes_free_does_not_move_it(bench: JogBench) -> None:
    with bench.client.session("arm", name="welding"):
        bench.run(0.2, bench.down())
        assert len(bench.complaints) == 1, "the next ones are silent"
        assert bench.complaints[0].startswith("part 'arm' is not free: ") and "welding" in bench.complaints[0]
    bench.run(0.3, bench.down())
    assert not bench.client.sessions() and bench.rests()
    bench.run(0.2)
    bench.run(0.3, bench.down())
    assert bench.client.sessions() and not bench.rests()


def test_Q12_after_its_session_was_ended_it_moves_only_after_a_jog_of_zero(bench: JogBench) -> None:
    bench.run(0.3, bench.down())
    bench.client.stop_all()
    bench.run(0.5, bench.down())
    assert bench.rests() and len(bench.complaints) == 1 and bench.complaints[0].startswith("the motion was ended: ")
    bench.run(0.02, lambda: bench.jogger.jog_tool((0.0,) * 6, ""))
    bench.run(0.3, bench.down())
    assert not bench.rests()


def test_Q12_what_ended_the_motion_may_have_been_lost(bench: JogBench) -> None:
    bench.run(0.3, bench.down())
    with losing(bench.client):
        bench.client.stop_all()
        bench.run(0.05, bench.down())
    bench.run(0.5, bench.down())
    assert bench.rests() and len(bench.complaints) == 1 and "events were lost" in bench.complaints[0]
    bench.run(0.02, lambda: bench.jogger.jog_tool((0.0,) * 6, ""))
    bench.run(0.3, bench.down())
    assert not bench.rests()


def test_Q12_closing_stops_the_arm(bench: JogBench) -> None:
    bench.run(0.3, bench.down())
    bench.jogger.close()
    bench.client.step(400)
    assert bench.rests() and not bench.client.sessions()


def test_Q10_parts_may_have_any_names(tmp_path: Path) -> None:
    text = (CONFIG / "arm7.yaml").read_text().replace("robots/", f"{CONFIG}/robots/").replace("  gripper:", "  tool:")
    (tmp_path / "cell.yaml").write_text(text.replace("  wrist:", "  joints:").replace("  io:", "  world:"))
    client = LockstepClient(tmp_path / "cell.yaml")
    with client:
        jogger = ArmJogger("jog", client.cell.workcell.part("arm"), client, JogOptions(), lambda: None)
        jogger.jog_tool(DOWN, "")
        jogger.process()
        assert client.sessions()[0].name == "jog"
        jogger.close()


def test_Q17_of_jogs_at_any_rate_the_newest_is_taken_and_few_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    newest, passed, pauses = [0.0], list[float](), list[float]()
    begun, go_on = threading.Event(), threading.Event()

    def process() -> None:
        """Pass the newest one on, and take long for it."""
        passed.append(newest[0])
        begun.set()
        assert go_on.wait(60.0)

    jogger = SimpleNamespace(
        jog_tool=lambda twist, *_: newest.__setitem__(0, twist[2]), process=process, close=lambda: None
    )
    monkeypatch.setattr(JogController, "offer", lambda self: None)
    monkeypatch.setattr(JogController, "make_jogger", lambda self: jogger)
    monkeypatch.setattr(ros_side, "time", SimpleNamespace(sleep=pauses.append))
    client: Any = SimpleNamespace(node=None)
    controller = JogController("jog", load_workcell(CONFIG / "arm7.yaml").part("arm"), client, {})
    controller.configure()
    controller.activate()
    message = TwistStamped()
    for k in range(5000):
        message.twist.linear.z = k * 1e-5
        controller._on_twist(message)
        controller.wake()
        if k == 0:
            assert begun.wait(60.0)
    go_on.set()
    assert controller._tasks is not None
    controller._tasks.wait_until_idle()
    assert passed == [0.0, newest[0]] and newest[0] == 4999 * 1e-5
    assert pauses == [1.0 / 250.0] * 2
    controller.deactivate()
    controller.cleanup()
