"""PlanContact's messages, of goals and plans."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from robot_rt_control import msg
from robot_rt_control.drawing.shape import GREEN, RED, Shape, ShapeKind
from robot_rt_control.planner.job import (
    Described,
    Finished,
    Measure,
    Message,
    Picture,
    Refused,
    Report,
    plain,
)
from robot_rt_control.planner.messages import checked_timeout, feedback, parameters_of, result
from robot_rt_control.planner.planning_process import message_of
from robot_rt_control.processes.errors import fields_of
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

from .solvers import a_plan


def test_parameters_are_numbers_and_all_that_are_not_are_named() -> None:
    given = [
        msg.ParameterValue(name="distance", values=[0.3], unit="m"),
        msg.ParameterValue(name="way", values=[0.1, 0.2]),
    ]
    assert parameters_of(given) == {"distance": (0.3, "m"), "way": ((0.1, 0.2), "")}
    wrong = [msg.ParameterValue(name="a", text="far"), msg.ParameterValue(name="b")]
    with pytest.raises(ProgramError) as caught:
        parameters_of(wrong)
    assert str(caught.value).splitlines() == [
        "parameter 'a'; expected numbers in `values`; got a text",
        "parameter 'b'; expected numbers in `values`; got none",
    ]


@pytest.mark.parametrize("timeout", [-1.0, math.nan, math.inf])
def test_a_timeout_is_a_time(timeout: float) -> None:
    assert checked_timeout(0.0) == 0.0
    with pytest.raises(DefinitionError, match="^timeout; expected a time in seconds, 0: none"):
        checked_timeout(timeout)


def test_a_plan_as_a_result() -> None:
    plan = a_plan(error=0.004)
    made = result(plan, "/plans/one.plan", {"pusher.slide": "left_slide"}, elapsed=3.0)
    assert made.plan_file == "/plans/one.plan" and made.elapsed == 3.0
    assert (made.position_error, made.normalized_error, made.orientation_error) == (0.004, 0.02, 0.002)
    assert (made.stiffness_average, made.stiffness_greatest) == (0.2, 0.7)
    assert (made.contact_peak, made.contact_impulse) == (12.5, 0.5) and made.parts == ["pusher"]
    (trajectory,) = made.trajectories
    assert trajectory.joint_names == ["left_slide"]
    points = trajectory.points
    assert [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points] == [0.0, 0.5, 1.0, 1.5]
    assert [p.positions[0] for p in points] == [0.0, 0.1, 0.2, 0.2]
    assert [p.velocities[0] for p in points] == [0.0, 0.2, 0.0, 0.0]
    assert [p.effort[0] for p in points] == [3.0, -1.0, 0.0, 0.0]


def test_a_velocity_driven_part_has_no_efforts() -> None:
    plan = a_plan()
    plan.header["velocity_driven"] = [True]
    made = result(plan, "", {}, elapsed=0.0)
    assert all(not point.effort for point in made.trajectories[0].points)
    assert made.trajectories[0].joint_names == ["slide"]


def test_no_plan_has_no_numbers() -> None:
    made = result(None, "/plans/none.plan", {}, elapsed=1.0)
    assert made.plan_file == "" and made.parts == [] and made.trajectories == []
    assert all(math.isnan(v) for v in (made.position_error, made.stiffness_average, made.contact_peak))


def test_feedback_says_what_is_unknown() -> None:
    made = feedback(Report(phase="penalty", iteration=3, cost=0.5), 2.0)
    assert (made.phase, made.iteration, made.cost, made.elapsed) == ("penalty", 3, 0.5, 2.0)
    assert math.isnan(made.best_position_error) and math.isnan(made.progress)


@pytest.mark.parametrize(
    "message",
    [
        Report(phase="physical", cost=1.5, best_position_error=math.inf),
        Described(pose="camera"),
        Measure(prefixes=("arm.", "camera.")),
        Picture(
            shapes=(
                Shape(
                    namespace="path", frame="world", kind=ShapeKind.ARROW, points=((0.0, 0.1, 1e-9), (1.0, 2.0, 3.0)),
                    size=0.1, color=RED, colors=(RED, GREEN), text="ä",
                ),
            )
        ),
        Finished(success=True, message="found"),
        Refused(mistakes=fields_of(DefinitionError("a", expected="b", got="c", hint="d"))),
    ],
)  # fmt: skip
def test_what_planning_says_comes_back_as_it_was(message: Message) -> None:
    assert repr(message_of(json.loads(json.dumps(plain(message))))) == repr(message)


@pytest.mark.parametrize(
    "found", [{}, {"Job": {}}, {"Finished": {"success": 1}}, {"Measure": {"prefixes": [1]}}, {"Picture": [], "more": 1}]
)
def test_what_is_no_message_is_refused(found: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        message_of(found)
