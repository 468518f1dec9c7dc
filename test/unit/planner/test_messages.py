"""PlanContact's messages, of goals and plans."""

from __future__ import annotations

import math

import pytest

from robot_rt_control import msg
from robot_rt_control.planner.job import Report, error_of, mistakes_of
from robot_rt_control.planner.messages import checked_timeout, feedback, parameters_of, result
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError, SessionError

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
    assert math.isnan(made.contact_peak) and made.parts == ["pusher"]
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


def test_errors_come_back_as_they_were() -> None:
    one, other = DefinitionError("key a", expected="b", got="c", hint="d"), DefinitionError("key e")
    one.line, other.line = 3, 5
    back = error_of(mistakes_of(ProgramError([one, other])))
    assert isinstance(back, ProgramError) and str(back) == "key a; expected b; got c. d\nkey e"
    assert [mistake.line for mistake in back.mistakes] == [3, 5]
    for error in (SessionError("gone"), RobotControlError("failed", hint="look")):
        again = error_of(mistakes_of(error))
        assert type(again) is type(error) and str(again) == str(error)
