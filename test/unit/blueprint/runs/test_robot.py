"""What the executor sees of the robot: values of one tick, stops, answers that do not come."""

from __future__ import annotations

import math
from typing import Any

from robot_rt_control.blueprint.runs.robot import Robot, moment
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.errors import NoAnswer
from robot_rt_control.vocabulary.event_kinds import Kind


class Cell:
    """A backend with some values, which all change at each question."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.stopped, self.silent = 0.0, False

    def add_listener(self, listener: Any) -> None:
        self.tell = listener

    def present(self) -> tuple[int, float]:
        return 7, 0.007

    def state_values(self, names: Any, session: str) -> dict[str, float]:
        if self.silent:
            raise NoAnswer("nobody answers")
        self.asked.append(list(names))
        n = float(len(self.asked))
        known = {"a.x": n, "a.q[0]": n, "a.q[1]": n + 0.5, "b.y": n, "protective_stop": self.stopped}
        return {name: value for name, value in known.items() if any(name.startswith(word) for word in names)}


def problem(robot: Robot) -> str:
    return robot.problem


def made() -> tuple[Cell, Robot]:
    cell = Cell()
    return cell, Robot(cell)  # type: ignore[arg-type]


def test_all_values_of_a_moment_come_in_one_answer() -> None:
    cell, robot = made()
    values: Any = moment(robot, dict.fromkeys(["a.x", "a.q", "b.y"])).values
    assert cell.asked == [], "only when one is needed"
    assert (values["a.x"], values["b.y"], values["a.q"]) == (1.0, 1.0, [1.0, 1.5])
    assert values.get("b.y") == 1.0 and math.isnan(values.get("c.z", math.nan))
    assert cell.asked == [["a.x", "a.q", "b.y"], ["a.x", "a.q", "b.y", "c.z"]]


def test_without_an_answer_values_are_unknown_and_the_problem_is_told() -> None:
    cell, robot = made()
    cell.silent = True
    values: Any = moment(robot, {"a.x": None}).values
    assert math.isnan(values.get("a.x", math.nan)) and problem(robot) == "nobody answers"
    assert not robot.look_for_stop()
    cell.silent = False
    robot.values(["a.x"])
    assert problem(robot) == ""


def test_a_stop_is_known_by_its_event_or_by_a_question() -> None:
    cell, robot = made()
    seen = [robot.is_stopped]
    for kind in (Kind.PROTECTIVE_STOP, Kind.PROTECTIVE_STOP_RELEASED):
        cell.tell(Event(kind=kind))
        seen.append(robot.is_stopped)
    assert seen == [False, True, False]
    cell.stopped = 1.0
    assert robot.look_for_stop() and robot.is_stopped
