"""Rule E26 of docs/semantics/editor.md: jogs by a dead man's button, tick by tick."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.editor.client_use import part_jogger
from robot_rt_control.editor.jogs import FASTEST, LEASE_S, LOST_S, Jogs
from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.robot import Jogging, Json
from robot_rt_control.editor.ros_robot import as_json
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import RobotControlError

CONFIG = Path(__file__).parents[3] / "config"
BEAT_TICKS = 40
"""Of the page: 25 beats a second."""
AT_ONCE = 300
"""[ticks] 0.3 s."""
JOINT: Json = {"joint": 3, "direction": 1, "speed": 0.1}
DOWN: Json = {"axis": "z", "direction": -1, "frame": "world", "speed": 0.1}


class Bench:
    """A page that holds a button of the arm of arm7. The clock is the loop's; the jogger's work is done in between."""

    def __init__(self) -> None:
        self.client = LockstepClient(CONFIG / "arm7.yaml")
        self.period = self.client.cell.workcell.period
        self.begin()

    def begin(self) -> None:
        self.jogs = Jogs(self, now=lambda: self.client.cell.tick * self.period, start=self.start)  # type: ignore[arg-type]
        self.ann = Person(id="1", name="Ann", may_operate=True)
        self.work: Callable[[], None] = lambda: None
        self.number, self.holds = 0, 0

    def start(self, jogger: Jogging, wake: threading.Event, process: Callable[[], None]) -> None:
        self.work = process

    # The robot.

    def parts(self) -> list[Json]:
        return [as_json(part) for part in self.client.parts()]

    def jogger(self, part: Json, name: str, on_event: Callable[[], None]) -> Jogging:
        return part_jogger(self.client, part, name, on_event)

    # The page.

    def press(self, motion: Json, person: Person | None = None) -> None:
        self.holds += 1
        jogged = self.jogs.prepare(person or self.ann, "arm")
        self.number = self.jogs.begin({"hold": str(self.holds), **motion}, jogged)["beat"]

    def beat(self, **more: Any) -> Json:
        answer = self.jogs.beat(self.ann, {"hold": str(self.holds), "beat": self.number, **more})
        self.number = answer["beat"]
        self.work()
        return answer

    def hold(self, beats: int, motion: Json | None = None) -> None:
        """Press, and hold for so many beats."""
        self.press(motion or JOINT)
        for _ in range(beats):
            self.client.step(BEAT_TICKS)
            assert self.beat()["success"]

    def ticks_to_rest(self, *, work: bool = True, below: float = 0.0) -> int:
        """How many ticks pass before all joints rest, for good.

        Args:
            below: so much of its velocity limit counts as rest.
        """
        limits = np.array(self.parts()[0]["velocity_limit"])
        last = begun = self.client.cell.tick
        while self.client.cell.tick < begun + 2 * AT_ONCE:
            before = self.q
            self.client.step()
            if work:
                self.work()
            if (abs(self.q - before) > below * limits * self.period).any():
                last = self.client.cell.tick
        return last - begun

    @property
    def q(self) -> np.ndarray[Any, Any]:
        return self.client.cell.part("arm").commanded_position[:7].copy()

    @property
    def tool(self) -> np.ndarray[Any, Any]:
        return np.array([self.client.value(f"arm.tool.{axis}") for axis in "xyz"])

    def rests(self) -> bool:
        """Whether no joint is commanded anywhere else in the next tick."""
        before = self.q
        self.client.step()
        return bool((self.q == before).all())


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    with made.client:
        yield made
        made.jogs.close()
        made.client.step(300)
        assert made.rests() and not made.client.sessions()
        assert not made.client.cell.kinds("part_faulted", "action_failed", "stream_refused")


def test_E26_a_joint_moves_while_the_button_is_held_and_no_faster_than_asked(bench: Bench) -> None:
    before = bench.q
    limit = bench.parts()[0]["velocity_limit"][3]
    bench.hold(10)
    assert bench.client.cell.part("arm").motion_velocity[3] == pytest.approx(0.1 * limit)
    moved = bench.q - before
    assert 0.02 * limit < moved[3] < 0.04 * limit and not np.delete(moved, 3).any()
    assert bench.client.sessions()[0].name == "jog: Ann"


@pytest.mark.parametrize(
    "motion", [JOINT, {**JOINT, "speed": FASTEST}, DOWN, {**DOWN, "speed": FASTEST}, {**DOWN, "axis": "ry"}]
)
@pytest.mark.parametrize("lives", [True, False], ids=["page lost", "editor lost"])
def test_E26_the_arm_rests_0_3_s_after_the_last_beat(bench: Bench, motion: Json, lives: bool) -> None:
    bench.hold(12, motion)
    assert not bench.rests()
    assert 0 < bench.ticks_to_rest(work=lives) <= AT_ONCE


@pytest.mark.parametrize("motion", [{**JOINT, "speed": FASTEST}, {**DOWN, "speed": FASTEST}])
@pytest.mark.parametrize("beats", [1, 2, 4])
def test_E26_also_while_it_speeds_up(bench: Bench, motion: Json, beats: int) -> None:
    bench.hold(beats, motion)
    assert 0 < bench.ticks_to_rest() <= AT_ONCE


@pytest.mark.parametrize("motion", [JOINT, {**JOINT, "speed": FASTEST}, DOWN, {**DOWN, "speed": FASTEST}])
def test_E26_a_beat_that_the_network_held_up_allows_no_more(bench: Bench, motion: Json) -> None:
    """What counts is when the page was lost, not when its last word came."""
    for late in (0.0, 0.05, LEASE_S - 0.001):
        bench.hold(12, motion)
        lost = bench.client.cell.tick
        bench.client.step(max(round(late / bench.period), 1))
        assert bench.beat()["success"] and not bench.rests()
        assert bench.client.cell.tick - lost + bench.ticks_to_rest(below=0.01) <= AT_ONCE
    bench.hold(12, motion)
    for _ in range(2):  # each of them too late
        bench.client.step(round(LEASE_S / bench.period))
        bench.work()
        assert bench.beat()["success"], "the button is still held"
    assert bench.ticks_to_rest(below=0.01) <= AT_ONCE - 2 * round(LEASE_S / bench.period)


def test_E26_a_page_that_was_silent_has_to_press_again(bench: Bench) -> None:
    bench.hold(6)
    bench.client.step(round(LOST_S / bench.period) + 1)
    answer = bench.beat()
    assert not answer["success"] and answer["message"] == "nothing was heard of the page for 0.3 s: press again"
    assert not bench.beat()["success"]
    assert bench.ticks_to_rest() <= AT_ONCE
    bench.hold(6)
    assert not bench.rests()


def test_E26_a_beat_without_the_last_answer_moves_nothing(bench: Bench) -> None:
    bench.press(JOINT)
    before = bench.q
    for number in (0, 1, 99, "x", None, True):
        bench.client.step(10)
        bench.number = number  # type: ignore[assignment]
        bench.beat()
    bench.client.step(100)
    assert (bench.q == before).all()


def test_E26_release_stops_and_another_button_takes_its_place(bench: Bench) -> None:
    bench.hold(6)
    bench.client.step()
    bench.beat(release=True)
    assert 0 < bench.ticks_to_rest() <= AT_ONCE
    bench.hold(6)
    q = bench.q
    bench.hold(12, DOWN)
    assert bench.tool[2] < 2.0 and (bench.q - q).any() and not bench.beat(hold="1")["success"]


def test_E26_who_operates_no_more_moves_nothing(bench: Bench) -> None:
    bench.hold(6)
    bench.client.step()
    bench.jogs.end_others(Person(id="2", name="Ben", may_operate=True))
    bench.work()
    assert bench.beat()["message"] == "Ben operates"
    assert 0 < bench.ticks_to_rest() <= AT_ONCE


def test_E26_a_protective_stop_ends_the_hold_for_good(bench: Bench) -> None:
    bench.hold(6)
    bench.client.protective_stop("test")
    for _ in range(3):
        bench.client.step(BEAT_TICKS)
        answer = bench.beat()
    assert not answer["success"] and "protective stop" in answer["message"]
    bench.client.release(everything=True)
    q = bench.q
    for _ in range(5):
        bench.client.step(BEAT_TICKS)
        assert not bench.beat()["success"]
    assert bench.rests() and (bench.q == q).all(), "the button that is still held starts nothing"
    bench.hold(6)
    assert not bench.rests()


def test_E26_the_axes_of_the_tool_and_of_the_world(bench: Bench) -> None:
    for frame, sign in (("world", 1), ("tool", -1)):  # the tool's z axis points down
        before = bench.tool
        bench.hold(10, {**DOWN, "direction": 1, "frame": frame})
        assert np.sign(bench.tool - before)[2] == sign


def test_E26_the_axes_of_the_base_are_turned_into_the_worlds(bench: Bench) -> None:
    before = bench.tool
    jogged = bench.jogs.prepare(bench.ann, "arm")
    turned = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # its x is the world's y
    motion = {"hold": "1", "axis": "x", "direction": 1, "frame": "base", "speed": 0.1}
    bench.holds, bench.number = 1, bench.jogs.begin(motion, jogged, turned)["beat"]
    for _ in range(10):
        bench.client.step(BEAT_TICKS)
        bench.beat()
    moved = bench.tool - before
    assert moved[1] > 0.01 and abs(moved[[0, 2]]).max() < 1e-3


def test_E26_refused_in_words(bench: Bench) -> None:
    with bench.client.session("arm", name="welding"):
        bench.press(JOINT)
        bench.client.step(BEAT_TICKS)
        bench.beat()
        text = bench.beat()["message"]
        assert "part 'arm' is not free" in text and "welding" in text
    bench.client.disable("arm")
    bench.client.step(10)
    with pytest.raises(RobotControlError, match="part 'arm' is disabled; expected an enabled part"):
        bench.press(JOINT)
    bench.client.enable("arm")
    bench.client.step(10)
    with pytest.raises(RobotControlError, match="part 'elbow'; expected one of"):
        bench.jogs.prepare(bench.ann, "elbow")
    for motion, text in (
        ({**JOINT, "joint": 7}, "jog: joint; expected 0 to 6"),
        ({**JOINT, "joint": True}, "jog: joint"),
        ({**JOINT, "direction": 2}, "jog: direction; expected 1 or -1"),
        ({**JOINT, "speed": 0.51}, "jog: speed; expected more than 0, at most 0.5"),
        ({**JOINT, "speed": float("nan")}, "jog: speed"),
        ({**DOWN, "axis": ["z"]}, "jog: axis; expected x, y, z, rx, ry, rz"),
        ({**DOWN, "frame": "base"}, "the axes of the base of part 'arm' are not known, or move"),
        ({**DOWN, "frame": "camera"}, "jog: frame; expected world, base, tool"),
    ):
        with pytest.raises(RobotControlError, match=text):
            bench.press(motion)
    for hold in (None, "", "x" * 41, "a b", 3):
        with pytest.raises(RobotControlError, match="jog: hold"):
            bench.jogs.wanted_part(bench.ann, {"hold": hold, "part": "arm"})
