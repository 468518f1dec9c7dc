"""Rules J1 to J7 and J12 of docs/semantics/trajectories.md: goals of FollowJointTrajectory, refused or followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trajectory_bench import PERIOD, TrajectoryBench, goal, point, tolerance

from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused, JointTolerance

END = (0.3, -0.2, 0.1)
Z = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrajectoryBench]:
    """All of its goals are refused."""
    bench = TrajectoryBench(tmp_path_factory.mktemp("refusing"))
    with bench.client:
        yield bench


@pytest.mark.parametrize(
    ("given", "code", "text"),
    [
        (goal(point(1, END), joints=("a", "b", "d")), Code.INVALID_JOINTS, "joint 'd'; expected one of: a, b, c"),
        (goal(point(1, END), joints=("a", "b", "a")), Code.INVALID_JOINTS, "expected each joint once; got 2 times"),
        (goal(point(1, END[:2]), joints=("a", "b")), Code.INVALID_JOINTS,
         "joint names; expected all 3 of the part; got no c. Or set the option allow_partial_joints_goal"),
        (goal(point(1, ()), joints=()), Code.INVALID_JOINTS, "expected those of the part: a, b, c; got none"),
        (goal(), Code.INVALID_GOAL, "the trajectory; expected at least one point; got none"),
        (goal(point(1, END), point(1, Z)), Code.INVALID_GOAL,
         "time_from_start of point 2; expected more than that of the point before, 1 s; got 1 s"),
        (goal(point(-1, END)), Code.INVALID_GOAL, "time_from_start of point 1; expected at least 0 s; got -1 s"),
        (goal(point(1, END[:2])), Code.INVALID_GOAL, "positions of point 1; expected 3, one for each .*; got 2"),
        (goal(point(1, END), point(2, END, Z)), Code.INVALID_GOAL,
         "velocities of point 2; expected none, as point 1 has no velocities; got 3"),
        (goal(point(1, END, (), Z)), Code.INVALID_GOAL, "accelerations; expected velocities with them; got none"),
        (goal(point(1, (0.0, np.nan, 0.0))), Code.INVALID_GOAL,
         "positions of point 1: joint 'b'; expected a finite number; got nan"),
        (goal(replace(point(1, END), efforts=Z)), Code.INVALID_GOAL, "efforts of point 1; expected none"),
        (goal(point(1, END), has_more=True), Code.INVALID_GOAL, "multi_dof_trajectory; expected none"),
        (goal(point(1, END, (0.0, 0.1, 0.0))), Code.INVALID_GOAL,
         "velocity of joint 'b' at the last point, 1; expected 0; got 0.1. Or set the option allow_nonzero_velo"),
        (goal(point(1, Z), point(2, (0.0, 2.5, 0.0))), Code.INVALID_GOAL,
         "position of joint 'b' at point 2 is outside its limits; expected -2.0000 to 2.0000; got 2.5000"),
        (goal(point(1, END), start=5.0), Code.OLD_HEADER_TIMESTAMP,
         "header.stamp: the whole trajectory is in the past; expected an end after 10.000 s; got 6.000 s"),
        (goal(point(0, (0.0, 0.1, 0.0)), point(1, END)), Code.INVALID_GOAL,
         "position of joint 'b' at the first point, which is due at the start; expected within 0.02 of its commanded "
         "position, 0.0000; got 0.1000. Plan from the present position, or give the first point a later time"),
    ],
)  # fmt: skip
def test_J1_a_goal_that_is_not_valid_is_refused(refusing: TrajectoryBench, given: Goal, code: Code, text: str) -> None:
    with pytest.raises(GoalRefused, match=text) as caught:
        refusing.follow(given, now=10.0)
    assert caught.value.code == code
    assert not refusing.client.sessions() and not refusing.q.any()


@pytest.mark.parametrize(
    ("fields", "code", "text"),
    [
        ({"path_tolerances": tolerance("d", position=1.0)}, Code.INVALID_JOINTS, "path_tolerance of joint 'd'; exp"),
        ({"goal_tolerances": tolerance("b", velocity=-0.5)}, Code.INVALID_GOAL,
         r"goal_tolerance of joint 'b': velocity; expected 0 \(the default\), -1 \(any\), or a positive .*; got -0.5"),
        ({"path_tolerances": tolerance("b", acceleration=1.0)}, Code.INVALID_GOAL, "accelerations are not measured"),
        ({"goal_time_tolerance": -2.0}, Code.INVALID_GOAL, "goal_time_tolerance; expected 0"),
    ],
)  # fmt: skip
def test_J7_tolerances_without_a_meaning_are_refused(
    refusing: TrajectoryBench, fields: dict[str, Any], code: Code, text: str
) -> None:
    with pytest.raises(GoalRefused, match=text) as caught:
        refusing.follow(goal(point(1, END), **fields))
    assert caught.value.code == code


def test_J2_joints_in_any_order_and_some_of_them(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, allow_partial_joints_goal=True)
    jumbled = bench.follow(goal(point(1, (0.1, 0.3, -0.2)), joints=("c", "a", "b")))
    assert bench.until(jumbled).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], END, atol=1e-12)
    partial = bench.follow(goal(point(1, (0.5,)), joints=("b",)))
    assert bench.until(partial).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], (0.3, 0.5, 0.1), atol=1e-12)
    bench.follow(goal(point(2.0, (1.0, 1.0, 1.0))))
    bench.run(1.0)
    while_moving = bench.follow(goal(point(1.0, (1.0,)), joints=("b",)))
    assert bench.until(while_moving).code == Code.SUCCESSFUL
    assert 0.6 < bench.q[-1][0] < 1.2
    bench.assert_limits_kept()


@pytest.mark.parametrize("how", ["positions", "velocities", "accelerations"])
def test_J3_the_first_point_may_be_later_or_near(tmp_path: Path, how: str) -> None:
    bench = TrajectoryBench(tmp_path)
    n = ("positions", "velocities", "accelerations").index(how)
    rates = [Z] * n
    points = point(1.0, END, *rates), point(2.0, Z, *rates)
    outcome = bench.follow(goal(*points))
    assert bench.until(outcome).code == Code.SUCCESSFUL
    first = len(bench.q) - 1 - 1000
    np.testing.assert_allclose(bench.q[first - 2 : first + 1].mean(axis=0), END, atol=2e-3)
    near = bench.follow(goal(point(0.0, (0.015, 0.0, 0.0), *rates), point(1.0, END, *rates)))
    assert bench.until(near).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], END, atol=1e-12)
    here = bench.follow(goal(point(0.0, END, *rates)))
    assert bench.until(here, 1.0).code == Code.SUCCESSFUL
    bench.assert_limits_kept()


def test_J4_reached_in_the_tick_in_which_the_tolerances_hold(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, time_constant=0.05, constraints={"a": {"goal": 0.01}})
    outcome = bench.follow(goal(point(1.0, (0.3, 0.3, 0.3))))
    measured, first = [], len(bench.ticks)
    while not outcome:
        bench.run(PERIOD)
        part = bench.cell.part("arm")
        measured.append((part.position[:3].copy(), part.velocity[:3].copy()))
    found = outcome[0]
    assert (found.code, found.text) == (Code.SUCCESSFUL, "")
    inside = [abs(q[0] - 0.3) <= 0.01 and (np.abs(v) <= 0.01).all() for q, v in measured]
    ticks = bench.ticks[first:]
    assert found.tick == ticks[inside.index(True)] and found.tick - ticks[0] - 1000 > 20


def test_J5_a_path_tolerance_stops_in_the_tick_on_the_path(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, time_constant=0.05)
    end = (0.9, 0.3, -0.6)
    outcome = bench.follow(goal(point(1.5, end), path_tolerances=tolerance("a", position=0.04)))
    first = len(bench.rows)
    found = bench.until(outcome)
    assert found.code == Code.PATH_TOLERANCE_VIOLATED
    assert "path tolerance violated: position of joint 'a' is 0.04" in found.text and "at most 0.04" in found.text
    bench.until_free()
    bench.run(0.1)
    assert (bench.q[-1] == bench.q[-20]).all() and 0.1 < bench.q[-1][0] < 0.6
    np.testing.assert_allclose(bench.q[first:] @ np.diag(1 / np.array(end)) @ [1, -1, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(bench.q[first:] @ np.diag(1 / np.array(end)) @ [1, 0, -1], 0.0, atol=1e-9)
    k = bench.ticks.index(found.tick)
    v = np.diff(bench.q[:, 0])
    assert (np.diff(v[k + 40 : k + 90]) < 0).all()  # it slows down at once
    bench.assert_limits_kept()


def test_J5_a_velocity_tolerance_on_the_path(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, time_constant=0.05)
    outcome = bench.follow(goal(point(1.5, END), path_tolerances=tolerance("b", velocity=0.01)))
    found = bench.until(outcome)
    assert found.code == Code.PATH_TOLERANCE_VIOLATED and "velocity of joint 'b'" in found.text


def test_J6_the_goal_must_be_reached_in_time(tmp_path: Path) -> None:
    # too slow for the goal, not for the monitor of the following error
    bench = TrajectoryBench(tmp_path, time_constant=0.15, constraints={"a": {"goal": 0.001}, "goal_time": 0.2})
    begun = bench.cell.tick
    found = bench.until(bench.follow(goal(point(1.0, (0.3, 0.0, 0.0)))))
    assert found.code == Code.GOAL_TOLERANCE_VIOLATED
    assert "goal tolerance violated: 0.2 s after the last point, position of joint 'a' is 0." in found.text
    assert "expected 0.30000 within 0.001" in found.text
    assert 1200 <= found.tick - begun < 1300
    bench.until_free()
    patient = bench.follow(goal(point(1.0, (0.6, 0.0, 0.0)), goal_time_tolerance=-1.0))
    assert bench.until(patient).code == Code.SUCCESSFUL


def test_J7_tolerances_of_a_goal_are_set_default_or_erased(tmp_path: Path) -> None:
    defaults = {"a": {"trajectory": 0.01}, "stopped_velocity_tolerance": 0.0}
    bench = TrajectoryBench(tmp_path, time_constant=0.05, constraints=defaults)
    for position, code in ((0.0, Code.PATH_TOLERANCE_VIOLATED), (0.2, Code.SUCCESSFUL), (-1.0, Code.SUCCESSFUL)):
        q = 0.3 if bench.cell.part("arm").position[0] < 0.15 else 0.0
        given = (JointTolerance(joint="a", position=position),)
        assert bench.until(bench.follow(goal(point(1.0, (q, 0.0, 0.0)), path_tolerances=given))).code == code
        bench.until_free()


def test_J12_a_part_that_another_session_holds_is_refused_with_its_name(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    with bench.client.session("arm", name="welding"), pytest.raises(GoalRefused, match="not free: .*welding"):
        bench.follow(goal(point(1.0, END)))
    outcome = bench.follow(goal(point(1.0, END)))
    assert [s.name for s in bench.client.sessions()] == ["arm_controller"]
    assert bench.until(outcome).code == Code.SUCCESSFUL
    bench.until_free()


def test_J12_what_ends_the_motion_otherwise_is_the_outcome(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    outcome = bench.follow(goal(point(1.0, END)))
    bench.run(0.3)
    bench.client.protective_stop("door")
    found = bench.until(outcome)
    assert found.code == Code.INVALID_GOAL and "the motion was ended: " in found.text
    bench.until_free()
    bench.run(0.5)
    bench.client.release()
    assert bench.until(bench.follow(goal(point(1.0, Z)))).code == Code.SUCCESSFUL
