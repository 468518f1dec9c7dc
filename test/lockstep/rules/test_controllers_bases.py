"""Rule Q16 of docs/semantics: planar bases. What they share with jogs (Q10 to Q12) is tested with arms, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.controllers.jogs.base import BaseJogger, BaseOptions
from robot_rt_control.model.workcell.planar_base import planar_base
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

CONFIG = Path(__file__).parents[3] / "config"
FORWARD = (0.4, 0.0, 0.0, 0.0, 0.0, 0.0)
CURVE = (0.4, 0.0, 0.0, 0.0, 0.0, 0.8)
ZERO = (0.0,) * 6


class DriveBench:
    """Drives the base of mobile_base, 20 times per second, as a planner does."""

    def __init__(self) -> None:
        self.client = LockstepClient(CONFIG / "mobile_base.yaml")
        self.part = self.client.cell.workcell.part("base")
        self.complaints: list[str] = []
        self.start()

    def start(self, options: BaseOptions | None = None) -> None:
        base = planar_base(self.part)
        self.jogger = BaseJogger("drive", self.part, self.client, base, options or BaseOptions(), lambda: None)

    def process(self) -> None:
        try:
            self.jogger.process()
        except RobotControlError as error:
            self.complaints.append(str(error))

    def run(self, seconds: float, twist: tuple[float, ...] | None = None, frame: str = "") -> None:
        for k in range(round(seconds / 0.01)):
            if twist is not None and k % 5 == 0:
                self.jogger.drive(twist, frame)
            self.process()
            self.client.step(10)

    @property
    def q(self) -> np.ndarray:
        """x, y [m] and yaw [rad]."""
        return self.client.cell.part("base").commanded_position[:3].copy()

    def velocity(self) -> np.ndarray:
        """[m/s, rad/s] in the axes of the world."""
        before = self.q
        self.client.step()
        return (self.q - before) / 1e-3

    def rests(self) -> bool:
        return not self.client.cell.part("base").motion_velocity[:3].any()


@pytest.fixture(scope="module")
def shared() -> Iterator[DriveBench]:
    bench = DriveBench()
    with bench.client:
        yield bench


@pytest.fixture
def bench(shared: DriveBench) -> Iterator[DriveBench]:
    shared.start()
    shared.complaints.clear()
    yield shared
    shared.jogger.close()
    shared.client.step(1000)
    assert shared.rests() and not shared.client.sessions()
    assert not shared.client.cell.kinds("part_faulted", "action_failed", "stream_refused")


def test_Q16_the_base_moves_while_twists_come_and_is_released_after_a_while(bench: DriveBench) -> None:
    before = bench.q
    bench.run(1.0, FORWARD, "world")
    assert bench.client.sessions()[0].name == "drive"
    assert bench.q - before == pytest.approx([0.356, 0.0, 0.0], abs=0.01), "[m]"
    bench.run(1.5)
    assert bench.rests() and bench.client.sessions()
    bench.run(2.0)
    assert not bench.client.sessions() and not bench.complaints


def test_Q16_the_twist_turns_with_the_base_in_each_tick(bench: DriveBench) -> None:
    bench.run(1.2, CURVE)
    slips = []
    for _ in range(400):  # without another twist
        yaw, (vx, vy, turn) = bench.q[2], bench.velocity()
        slips.append(-math.sin(yaw) * vx + math.cos(yaw) * vy)
        assert turn == pytest.approx(0.8)
    assert np.abs(slips).max() < 0.02, "[m/s] a twist that was turned when it came would slip by 0.13 m/s in the end"
    assert not bench.complaints


@pytest.mark.parametrize(
    ("frame", "turns"), [("", True), ("base_link", True), ("base_footprint", True), ("world", False), ("odom", False)]
)
def test_Q16_twists_are_in_the_axes_of_their_frame(bench: DriveBench, frame: str, turns: bool) -> None:
    while abs(math.sin(bench.q[2])) < 0.5:
        bench.run(0.1, (0.0, 0.0, 0.0, 0.0, 0.0, 0.8))
    bench.run(0.5, ZERO)
    yaw = bench.q[2]
    assert abs(math.sin(yaw)) > 0.3
    bench.run(1.0, FORWARD, frame)
    vx, vy, turn = bench.velocity()
    assert math.hypot(vx, vy) == pytest.approx(0.4) and turn == 0.0
    assert math.remainder(math.atan2(vy, vx) - yaw * turns, math.tau) == pytest.approx(0.0, abs=1e-6)


def test_Q16_its_limits_reduce_the_whole_twist(bench: DriveBench) -> None:
    bench.jogger.close()
    bench.start(BaseOptions(linear_velocity=0.2))
    bench.run(1.0, CURVE)
    vx, vy, turn = bench.velocity()
    assert math.hypot(vx, vy) == pytest.approx(0.2, abs=0.005) and turn == pytest.approx(0.4)


def test_Q16_what_a_planar_base_cannot_do_is_ignored(bench: DriveBench) -> None:
    bench.run(0.1, (0.0, 0.0, 0.5, 0.5, 0.5, 0.0))
    assert not bench.client.sessions() and not bench.complaints


def test_Q16_the_loop_stops_the_base_if_nothing_is_heard_of_the_controller(bench: DriveBench) -> None:
    bench.run(1.0, CURVE)
    bench.client.step(300)
    assert not bench.rests()
    bench.client.step(700)
    assert bench.rests() and bench.client.sessions()


@pytest.mark.parametrize(
    ("drive", "text"),
    [
        (lambda j: j.drive(FORWARD, "map"),
         "frame_id; expected empty, or one of: base_footprint, base_link, odom, world; got 'map'"),
        (lambda j: j.drive((0.1, 0.0, math.nan, 0.0, 0.0, 0.0)), "twist; expected finite numbers; got 0.1, 0, nan"),
        (lambda j: j.drive((0.1, 0.0, 0.0, 0.0, 0.0, 45.0)),
         "twist; expected at most 10 m/s and 20 rad/s; got 0.1, 0, 45. Are they in mm/s or degrees/s"),
        (lambda j: j.drive(FORWARD, age=0.6),
         "the command is too old; expected a stamp of the last 0.5 s; got 0.600 s"),
    ],
)  # fmt: skip
def test_Q16_a_twist_that_is_not_valid_is_refused(
    bench: DriveBench, drive: Callable[[BaseJogger], None], text: str
) -> None:
    with pytest.raises(RobotControlError) as caught:
        drive(bench.jogger)
    assert text in str(caught.value)
    bench.run(0.1)
    assert not bench.client.sessions()


def test_Q16_after_its_session_was_ended_it_moves_only_after_a_twist_of_zero(bench: DriveBench) -> None:
    bench.run(0.5, FORWARD)
    bench.client.stop_all()
    bench.run(1.5, FORWARD)
    assert bench.rests() and len(bench.complaints) == 1 and bench.complaints[0].startswith("the motion was ended: ")
    bench.run(0.1, ZERO)
    bench.run(0.3, FORWARD)
    assert not bench.rests()


def test_Q16_a_base_on_wheels_is_refused() -> None:
    client = LockstepClient(CONFIG / "mobile_base.yaml")
    with client:
        wheels = replace(
            client.cell.workcell.part("base"),
            joint_names=("left_wheel", "right_wheel"),
            joint_types=("continuous",) * 2,
            urdf=None,
        )
    with pytest.raises(RobotControlError, match="part 'base' is not a planar base; .*; got left_wheel .continuous."):
        planar_base(wheels)
