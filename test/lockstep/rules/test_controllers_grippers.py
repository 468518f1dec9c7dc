"""Rules Q13 to Q16 of docs/semantics/controllers.md: goals of grippers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lost_events import losing

from robot_rt_control.controllers.grippers.hand import GripperGoal, GripperOutcome, Hand, HandOptions
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.interfaces import standard_state_interfaces
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

CONFIG = Path(__file__).parents[3] / "config"
STIFFNESS = 1e4  # [N/m] of the object and the finger tips
PERIOD = 0.001


class GripperBench:
    """The gripper of arm7, open, and an object between its fingers."""

    def __init__(self) -> None:
        self.client = LockstepClient(CONFIG / "arm7.yaml")
        self.cell = self.client.cell
        self.half_width = 0.0
        """[m] of the object."""
        self.live = self.cell.part("gripper")
        info = hardware_info(self.cell.workcell, self.cell.workcell.devices[0])
        names = [interface.name for interface in standard_state_interfaces(info)]
        for j in range(2):
            self._compute(j, names.index(f"gripper/finger_{j + 1}/position"))
        self.efforts: list[float] = []
        self.cell.after_tick.append(lambda: self.efforts.append(-float(self.live.effort[0])))
        self.start()

    def _compute(self, j: int, i: int) -> None:
        """Let the test compute what finger j does, as the mock knows no objects."""
        self.cell.executor.world.memory.devices[0].mock_source[i : i + 3] = 0
        finger = f"gripper/finger_{j + 1}"
        last = [0.0, 0.0]

        def position() -> float:
            last[:] = [max(float(self.live.commanded_position[j]), self.half_width), last[0]]
            return last[0]

        def effort() -> float:
            return -STIFFNESS * max(self.half_width - float(self.live.commanded_position[j]), 0.0)

        self.cell.drive_sensor(f"{finger}/position", position)
        self.cell.drive_sensor(f"{finger}/velocity", lambda: (last[0] - last[1]) / PERIOD)
        self.cell.drive_sensor(f"{finger}/effort", effort)

    def start(self, **options: Any) -> None:
        part = self.cell.workcell.part("gripper")
        self.hand = Hand("gripper_controller", part, self.client, HandOptions(**options), lambda: None)

    def follow(self, position: float, max_effort: float = 0.0, velocity: float = 0.0) -> list[GripperOutcome]:
        """The list in which its outcome will be."""
        found: list[GripperOutcome] = []
        self.hand.follow(GripperGoal(position=position, max_effort=max_effort, velocity=velocity), found.append)
        return found

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.01)):
            self.client.step(10)
            self.hand.process()

    def until(self, outcome: list[GripperOutcome]) -> GripperOutcome:
        for _ in range(500):
            if outcome:
                return outcome[0]
            self.run(0.01)
        raise AssertionError("no outcome")


@pytest.fixture(scope="module")
def shared() -> Iterator[GripperBench]:
    bench = GripperBench()
    with bench.client:
        yield bench


@pytest.fixture
def bench(shared: GripperBench) -> Iterator[GripperBench]:
    shared.start()
    assert shared.until(shared.follow(0.04)).reached_goal
    shared.half_width = 0.0
    yield shared
    shared.hand.close("the test is over")
    assert not shared.client.sessions()
    assert not shared.cell.kinds("part_faulted", "action_failed")


def test_Q13_it_moves_there_and_releases_the_gripper(bench: GripperBench) -> None:
    outcome = bench.until(bench.follow(0.01))
    assert outcome.reached_goal and outcome.is_success and not outcome.stalled and outcome.text == ""
    assert outcome.sample.position == pytest.approx(0.01, abs=0.002)
    bench.run(0.1)
    assert bench.live.position[:2] == pytest.approx([0.01, 0.01], abs=1e-6)
    assert not bench.client.sessions()


def test_Q13_the_velocity_of_a_goal_is_a_limit(bench: GripperBench) -> None:
    outcome = bench.follow(0.0, velocity=0.02)
    bench.run(1.0)
    assert not outcome and bench.live.position[0] == pytest.approx(0.02, abs=0.003)
    assert bench.until(outcome).reached_goal


@pytest.mark.parametrize(
    ("position", "max_effort", "half_width", "holders"),
    [
        (0.01, 0.0, 0.0, []),  # reached
        (0.0, 8.0, 0.015, ["gripper_controller"]),  # an object is held
        (0.012, 0.0, 0.015, []),  # stalled
    ],
)
def test_Q13_whoever_hears_of_the_outcome_finds_the_gripper_released(
    bench: GripperBench, position: float, max_effort: float, half_width: float, holders: list[str]
) -> None:
    bench.half_width = half_width
    found: list[list[str]] = []
    goal = GripperGoal(position=position, max_effort=max_effort)
    bench.hand.follow(goal, lambda _: found.append([s.name for s in bench.client.sessions()]))
    for _ in range(500):
        if found:
            break
        bench.run(0.01)
    assert found == [holders]


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        ({"position": 0.05}, "position of joint 'finger_1'; expected 0 to 0.04; got 0.05"),
        ({"position": float("nan")}, "position of joint 'finger_1'; expected 0 to 0.04; got nan"),
        ({"position": 0.0, "max_effort": -1.0}, "max_effort; expected a finite number, at least 0; got -1"),
        ({"position": 0.0, "velocity": float("inf")}, "velocity; expected a finite number, at least 0; got inf"),
    ],
)
def test_Q13_a_goal_that_is_not_valid_is_refused(bench: GripperBench, goal: dict[str, float], text: str) -> None:
    bench.run(0.05)
    with pytest.raises(RobotControlError) as caught:
        bench.follow(**goal)
    assert str(caught.value) == text and not bench.client.sessions()


def test_Q13_a_gripper_that_an_application_holds_is_not_free(bench: GripperBench) -> None:
    bench.run(0.05)
    with (
        bench.client.session("gripper", name="packing"),
        pytest.raises(RobotControlError, match="part 'gripper' is not free: .*packing"),
    ):
        bench.follow(0.01)


def test_Q14_with_an_effort_it_stalls_on_an_object_and_holds_it(bench: GripperBench) -> None:
    bench.half_width = 0.015
    bench.efforts.clear()
    outcome = bench.until(bench.follow(0.0, max_effort=8.0))
    assert outcome.stalled and not outcome.reached_goal and not outcome.is_success
    assert outcome.text == "the fingers stalled before the goal; the option allow_stalling makes this a success"
    assert outcome.sample.position == pytest.approx(0.015, abs=1e-3)
    bench.run(1.0)
    assert bench.client.sessions()[0].name == "gripper_controller"
    assert bench.efforts[-1] == pytest.approx(8.0, abs=0.3) and max(bench.efforts) < 10.0
    assert bench.until(bench.follow(0.04)).reached_goal
    bench.run(0.05)
    assert not bench.client.sessions()


def test_Q14_stalling_may_be_a_success(bench: GripperBench) -> None:
    bench.hand.close("")
    bench.start(allow_stalling=True)
    bench.half_width = 0.015
    outcome = bench.until(bench.follow(0.0, max_effort=8.0))
    assert outcome.stalled and outcome.is_success and outcome.text == ""


def test_Q14_with_nothing_in_the_way_it_stops_at_the_position(bench: GripperBench) -> None:
    bench.efforts.clear()
    assert bench.until(bench.follow(0.02, max_effort=8.0)).reached_goal
    bench.run(1.0)
    assert bench.live.position[:2] == pytest.approx([0.02, 0.02], abs=1e-4)
    assert max(bench.efforts) == 0.0 and not bench.client.sessions()


def test_Q14_a_motion_that_is_blocked_has_stalled_after_a_while(bench: GripperBench) -> None:
    bench.half_width = 0.015
    outcome = bench.follow(0.012)
    bench.run(1.0)
    assert not outcome
    assert bench.until(outcome).stalled and not bench.client.sessions()


def test_Q15_a_newer_goal_replaces_the_older_one(bench: GripperBench) -> None:
    first = bench.follow(0.0, max_effort=8.0)
    bench.run(0.1)
    second = bench.follow(0.03)
    assert (first[0].is_success, first[0].text) == (False, "preempted by a newer goal")
    assert bench.until(second).sample.position == pytest.approx(0.03, abs=0.002) and len(first) == 1


def test_Q15_a_bad_goal_changes_nothing(bench: GripperBench) -> None:
    first = bench.follow(0.0, velocity=0.05)
    bench.run(0.1)
    with pytest.raises(RobotControlError):
        bench.follow(1.0)
    assert bench.until(first).reached_goal


def test_Q15_cancelling_stops_the_fingers(bench: GripperBench) -> None:
    outcome = bench.follow(0.0, velocity=0.05)
    bench.run(0.2)
    bench.hand.cancel()
    assert outcome[0].is_cancelled and not outcome[0].is_success
    bench.run(0.2)
    before = float(bench.live.position[0])
    bench.run(0.2)
    assert 0.02 < bench.live.position[0] == before and not bench.client.sessions()


def test_Q15_closing_the_controller_aborts_its_goal(bench: GripperBench) -> None:
    outcome = bench.follow(0.0, velocity=0.05)
    bench.run(0.1)
    bench.hand.close("the controller was deactivated")
    assert outcome[0].text == "the controller was deactivated" and not outcome[0].is_success


def test_Q15_a_motion_that_reached_its_end_while_events_were_lost_has_reached_it(bench: GripperBench) -> None:
    outcome = bench.follow(0.0)
    with losing(bench.client):
        bench.client.step(600)  # less than the stall_timeout after it stands
    bench.run(0.05)
    assert outcome[0].reached_goal and outcome[0].is_success and not outcome[0].stalled


def test_Q14_what_held_an_object_is_released_when_it_ends(bench: GripperBench) -> None:
    bench.half_width = 0.015
    assert bench.until(bench.follow(0.0, max_effort=8.0)).stalled
    bench.client.stop_all()
    bench.run(0.1)
    assert not bench.client.sessions()


def test_Q15_what_ends_the_motion_aborts_the_goal(bench: GripperBench) -> None:
    outcome = bench.follow(0.0, velocity=0.05)
    bench.run(0.1)
    bench.client.stop_all()
    assert bench.until(outcome).text.startswith("the motion was ended: ") and not outcome[0].is_success


def test_L31_a_goal_after_a_protective_stop_resumes_the_session_that_held_an_object(bench: GripperBench) -> None:
    bench.half_width = 0.01
    assert bench.until(bench.follow(0.0, max_effort=10.0)).stalled
    bench.client.protective_stop("door")
    bench.run(0.1)
    bench.client.release(secret=bench.client.backend.operator_secret())
    bench.run(0.1)
    assert bench.until(bench.follow(0.03)).reached_goal
    bench.run(0.1)
