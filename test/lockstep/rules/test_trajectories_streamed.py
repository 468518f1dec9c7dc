"""Rules J17 to J19 of docs/semantics: trajectories from the topic at any rate, and a follower that prepares long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_rt_control.controllers.controller import ControllerState
from robot_rt_control.controllers.trajectory import controller as module
from robot_rt_control.controllers.trajectory.controller import TrajectoryController
from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused, Outcome
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import RobotControlError

REPOSITORY = Path(__file__).resolve().parents[3]


class SlowFollower:
    """Prepares a goal for as long as `hold` is set. Goals are known by the time of their first point."""

    def __init__(self, *_: Any) -> None:
        self.begun: list[float] = []
        self.preparing, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.stops: list[str] = []
        self.done: list[Callable[[Outcome], None]] = []
        self.refusal: RobotControlError | None = None
        self._turn = 0

    def prepare(self) -> None:
        pass

    def turn(self) -> int:
        self._turn += 1
        return self._turn

    def follow(self, goal: Goal, done: Callable[[Outcome], None], now: float, turn: int) -> None:
        self.preparing.set()
        assert self.go_on.wait(60.0)
        if turn < self._turn:
            raise GoalRefused("overtaken")
        if self.refusal is not None:
            raise self.refusal
        self.begun.append(goal.points[0].time)
        self.done.append(done)

    def stop(self, why: str) -> None:
        self._turn += 1
        self.stops.append(why)

    def cancel(self) -> None:
        self.stop("cancelled")

    def close(self, why: str) -> None:
        self.stop(why)

    def process(self) -> None:
        pass


class Bench:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.warnings: list[str] = []
        logger = SimpleNamespace(warning=lambda text, **_: self.warnings.append(text))
        clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=10**9))
        client: Any = SimpleNamespace(
            node=SimpleNamespace(get_logger=lambda: logger, get_clock=lambda: clock)
        )
        monkeypatch.setattr(module, "Follower", SlowFollower)
        monkeypatch.setattr(TrajectoryController, "offer", lambda self: None)
        self.seconds = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.seconds)
        part = load_workcell(REPOSITORY / "config" / "arm7.yaml").part("arm")
        self.controller = TrajectoryController("arm_controller", part, client, {})
        self.controller.configure()
        self.controller.activate()
        self.follower: Any = self.controller._follower

    def send(self, *times: float, apart: float = 0.02) -> None:
        """Trajectories that are known by these numbers; 0: an empty one."""
        for number in times:
            self.seconds += apart
            message = JointTrajectory(joint_names=list(self.controller.part.joint_names))
            if number:
                point = JointTrajectoryPoint(positions=[0.0] * 7)
                point.time_from_start.sec = int(number)
                message.points.append(point)
            self.controller._on_trajectory(message)

    def until(self, happened: Callable[[], bool]) -> None:
        deadline = time.perf_counter() + 60.0
        while not happened():
            assert time.perf_counter() < deadline
            time.sleep(0.001)

    def settle(self) -> None:
        for tasks in (self.controller._urgent, self.controller._tasks):
            assert tasks is not None
            tasks.wait_until_idle()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    made = Bench(monkeypatch)
    yield made
    made.follower.go_on.set()
    made.controller.deactivate()
    made.controller.cleanup()


def hold(bench: Bench, number: float) -> None:
    """Send a trajectory, and let its preparation take long."""
    bench.follower.go_on.clear()
    bench.follower.preparing.clear()
    bench.send(number)
    assert bench.follower.preparing.wait(60.0)


def test_J17_of_those_that_come_while_one_is_prepared_only_the_newest_is_begun(bench: Bench) -> None:
    hold(bench, 1)
    bench.send(*range(2, 1000))
    bench.follower.go_on.set()
    bench.settle()
    assert bench.follower.begun == [1, 999]


def test_J18_an_empty_one_waits_for_no_preparation_and_drops_what_came_before(bench: Bench) -> None:
    hold(bench, 1)
    bench.send(2, 3, 0)
    bench.until(lambda: bool(bench.follower.stops))
    bench.follower.go_on.set()
    bench.settle()
    assert bench.follower.begun == []
    bench.send(4)
    bench.settle()
    assert bench.follower.begun == [4] and len(bench.follower.stops) == 1


def test_J18_one_that_comes_after_an_empty_one_is_begun_after_it(bench: Bench) -> None:
    for number in range(1, 200):
        bench.send(0, number)
        bench.settle()
        assert bench.follower.begun[-1] == number
    bench.send(1, 2, 0, 3, 0)
    bench.settle()
    bench.send(5)
    bench.settle()
    assert bench.follower.begun[-1] == 5


@pytest.mark.parametrize("how", ["cancel", "deactivate"])
def test_J18_a_cancel_and_a_deactivation_drop_what_was_not_begun(bench: Bench, how: str) -> None:
    hold(bench, 1)
    bench.send(2)
    if how == "cancel":
        bench.controller.at_once(bench.controller._cancel)
    else:
        bench.controller.deactivate()
    bench.until(lambda: bool(bench.follower.stops))
    bench.follower.go_on.set()
    bench.settle()
    assert bench.follower.begun == []
    assert bench.controller.state == (ControllerState.ACTIVE if how == "cancel" else ControllerState.INACTIVE)


def interrupted(text: str) -> Outcome:
    return Outcome(code=Code.INVALID_GOAL, text=text, is_interrupted=True)


def test_J19_after_an_interruption_they_are_followed_again_after_a_pause(bench: Bench) -> None:
    bench.send(1)
    bench.settle()
    bench.follower.done[0](interrupted("the motion was ended: a protective stop"))
    for number in range(2, 100):
        bench.send(number)
    bench.settle()
    assert bench.follower.begun == [1]
    assert "a protective stop" in bench.warnings[-1] and "Send none for 0.5 s" in bench.warnings[-1]
    bench.send(100, apart=0.6)
    bench.settle()
    assert bench.follower.begun == [1, 100]


def test_J19_or_after_an_empty_one_also_if_the_part_was_not_free(bench: Bench) -> None:
    bench.follower.refusal = GoalRefused.by_workcell(RobotControlError("part 'arm' is not free"))
    bench.send(1)
    bench.settle()
    bench.follower.refusal = None
    bench.send(2, 3)
    bench.settle()
    assert bench.follower.begun == []
    bench.send(0, 4)
    bench.settle()
    assert bench.follower.begun == [4]


def test_J19_one_that_is_not_valid_needs_no_pause(bench: Bench) -> None:
    bench.follower.refusal = GoalRefused("a velocity")
    bench.send(1)
    bench.settle()
    bench.follower.refusal = None
    bench.send(2)
    bench.settle()
    assert bench.follower.begun == [2]
