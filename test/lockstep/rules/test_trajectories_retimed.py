"""Rules J20, J21 and J23 of docs/semantics/trajectories.md: what is too fast is slowed on its path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trajectory_bench import ACCELERATION, PERIOD, VELOCITY, TrajectoryBench, goal, point

from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused
from robot_rt_control.motion_group.trajectory import curve_through
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.defaults import JERK_TIME_S

END = (0.3, -0.2, 0.1)
Z = (0.0, 0.0, 0.0)
TOO_FAST = {
    "a velocity at a point": goal(point(1, Z, (0.0, 0.0, 1.6)), point(2, Z, Z)),
    "an acceleration at a point": goal(point(1, Z, Z, (6.5, 0.0, 0.0)), point(2, Z, Z, Z)),
    "an acceleration between points": goal(point(2, Z, Z), point(2.4, END, Z)),
    "a velocity on the way to the first point": goal(point(0.1, END, Z), point(2.0, Z, Z)),
    "a single position": goal(point(0.4, (1.0, -0.6, 0.4))),
    "positions alone": goal(point(0.3, END), point(0.7, (0.9, 0.2, 0.0)), point(1.5, END)),
}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrajectoryBench]:
    """All of its goals are refused."""
    bench = TrajectoryBench(tmp_path_factory.mktemp("strict"), constraints={"retime": False})
    with bench.client:
        yield bench


def planned_limits_kept(bench: TrajectoryBench, first: int = 0) -> None:
    """Not only the system limits: those that actions plan with."""
    v, a = (np.diff(bench.q[first:], n, axis=0) / PERIOD**n for n in (1, 2))
    assert np.abs(v).max(initial=0.0) <= VELOCITY * (1.0 + 1e-9)
    assert np.abs(a).max(initial=0.0) <= ACCELERATION * (1.0 + 1e-3)
    bench.assert_limits_kept()


@pytest.mark.parametrize("what", TOO_FAST)
def test_J20_what_is_too_fast_is_slowed(tmp_path: Path, what: str) -> None:
    bench = TrajectoryBench(tmp_path)
    given = TOO_FAST[what]
    found = bench.until(bench.follow(given))
    assert found.code == Code.SUCCESSFUL
    assert found.text.startswith("slowed to 0.") and "it takes" in found.text
    np.testing.assert_allclose(bench.q[-1], given.points[-1].positions, atol=1e-12)
    planned_limits_kept(bench)


def test_J20_only_where_it_must_be_and_on_the_same_path(tmp_path: Path) -> None:
    """Joint a waves quickly in the middle of a slow motion of the others."""
    bench = TrajectoryBench(tmp_path)
    t = np.linspace(0.0, 6.0, 61)
    bump = np.where(abs(t - 3.0) < 0.5, np.cos(np.pi * (t - 3.0)) ** 2, 0.0)
    bump_v = np.where(abs(t - 3.0) < 0.5, -np.pi * np.sin(2 * np.pi * (t - 3.0)), 0.0)
    bump_a = np.where(abs(t - 3.0) < 0.5, -2 * np.pi**2 * np.cos(2 * np.pi * (t - 3.0)), 0.0)
    x = t / 6.0
    q, v = 10 * x**3 - 15 * x**4 + 6 * x**5, (30 * x**2 - 60 * x**3 + 30 * x**4) / 6
    a = (60 * x - 180 * x**2 + 120 * x**3) / 36
    given = goal(*(point(*p) for p in zip(
        t, np.column_stack([0.5 * bump, q, -q]), np.column_stack([0.5 * bump_v, v, -v]),
        np.column_stack([0.5 * bump_a, a, -a]), strict=True)))  # fmt: skip
    bench.follow(given)
    run = bench.follower._run
    assert run is not None
    motion = run.motion
    (slowing,) = motion.slowings
    assert 2.2 < slowing.begin < 2.6 and 3.4 < slowing.end < 3.8 and 0.6 < slowing.rate < 0.9
    assert motion.track.duration < 6.7 and len(motion.track.times) < 130
    bench.run(motion.track.duration + 0.1)
    # joint b tells how far the path is: there joint a is where the plan has it
    fine = np.linspace(0.0, 6.0, 60001)
    planned = curve_through(t, *(np.array([getattr(p, name) for p in given.points])
                                 for name in ("positions", "velocities", "accelerations")))(fine)  # fmt: skip
    expected = np.interp(bench.q[:, 1], planned[:, 1], planned[:, 0])
    inside = (bench.q[:, 1] > 0.05) & (bench.q[:, 1] < 0.95)
    assert inside.sum() > 3000 and np.abs(bench.q[inside, 0] - expected[inside]).max() < 1e-4
    planned_limits_kept(bench)


def test_J20_feedback_and_events_tell_it(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    outcome = bench.follow(TOO_FAST["an acceleration between points"])
    slowed = bench.follower.slowed
    assert slowed.startswith("slowed to 0.") and " s: it takes 2." in slowed and slowed.endswith("instead of 2.40 s")
    bench.run(2.0)
    assert bench.follower.progress(bench.follower.sample().elapsed)[0] in (0, 1)
    found = bench.until(outcome)
    assert found.text == slowed
    index, goal_time, late = bench.follower.progress(10.0)
    assert (index, goal_time) == (2, pytest.approx(2.4)) and 0.05 < late < 1.0
    events = [e for e in bench._events if e.name == "slowed"]
    assert [e.reaction.split("_between_")[0].startswith("to_0_") for e in events] == [True]
    assert events[0].tick < found.tick


def test_J20_from_a_motion_and_by_the_topic(tmp_path: Path) -> None:
    """As policies send them: single positions, too far for their times, one after the other."""
    bench = TrajectoryBench(tmp_path)
    for k, target in enumerate((1.5, 1.5, -1.0, -1.0, -1.0, 0.5)):
        outcome = bench.follow(goal(point(0.05, (target, 0.1 * k, -target)), is_monitored=False))
        bench.run(0.2)
    assert bench.until(outcome).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], (0.5, 0.5, -0.5), atol=1e-12)
    planned_limits_kept(bench)
    assert any(e.name == "slowed" and e.reaction.startswith("to_0_") for e in bench._events), "a trace shows it, too"


def test_J20_a_long_trajectory(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    t = np.linspace(0.0, 1.0, MAX_TRAJECTORY_POINTS + 100)
    x = t
    way = (1.2 * (10 * x**3 - 15 * x**4 + 6 * x**5))[:, None] * np.array([1.0, 1.0, 0.5])
    outcome = bench.follow(goal(*(point(*p) for p in zip(t, way, strict=True))))
    found = bench.until(outcome, at_once=10)
    assert found.code == Code.SUCCESSFUL and found.text.startswith("slowed to 0.")
    bench.run(0.1)
    np.testing.assert_allclose(bench.q[-1], way[-1], atol=1e-12)
    planned_limits_kept(bench)


def trapezoid(rates: int) -> Goal:
    """At full acceleration, as a time-optimal planner makes it, with as many rates: velocities, accelerations."""
    most, top = 5.9, 1.3
    ramp, duration = top / most, 1.0 / top + top / most
    t = np.append(np.arange(0.0, duration - 1e-9, 0.1), duration)
    left = duration - t
    q = np.where(t < ramp, most * t**2 / 2, np.where(left < ramp, 1.0 - most * left**2 / 2, top * (t - ramp / 2)))
    v = np.where(t < ramp, most * t, np.where(left < ramp, most * left, top))
    a = np.where(t < ramp, most, np.where(left < ramp, -most, 0.0))
    way = np.array([1.0, -0.6, 0.4])
    rows = [np.outer(x, way) for x in (q, v, a)][: rates + 1]
    return goal(*(point(*p) for p in zip(t, *rows, strict=True)))


@pytest.mark.parametrize("rates", [0, 1, 2])
@pytest.mark.parametrize("how", ["by the workcell", "by the option"])
def test_J23_a_limit_of_jerk_is_kept_from_rest(tmp_path: Path, rates: int, how: str) -> None:
    jerk = ACCELERATION / JERK_TIME_S
    by_option: dict[str, Any] = {"constraints": {"keep_jerk": True}}
    bench = TrajectoryBench(tmp_path, jerk=jerk) if how == "by the workcell" else TrajectoryBench(tmp_path, **by_option)
    given = trapezoid(rates)
    found = bench.until(bench.follow(given))
    assert found.code == Code.SUCCESSFUL and found.text.startswith("slowed to 0.")
    np.testing.assert_allclose(bench.q[-1], given.points[-1].positions, atol=1e-12)
    assert np.abs(np.diff(bench.q, 3, axis=0)).max() / PERIOD**3 <= jerk
    planned_limits_kept(bench)


def test_J23_from_a_motion_it_is_followed_all_the_same(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, jerk=ACCELERATION / JERK_TIME_S)
    for k, target in enumerate((1.5, 1.5, -1.0, -1.0, 0.5)):
        outcome = bench.follow(goal(point(0.05, (target, 0.1 * k, -target)), is_monitored=False))
        bench.run(0.2)
    assert bench.until(outcome).code == Code.SUCCESSFUL
    bench.run(1.0)
    np.testing.assert_allclose(bench.q[-1], (0.5, 0.4, -0.5), atol=1e-7)
    bench.assert_limits_kept()


def test_J23_otherwise_the_jerk_is_that_of_the_points(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, jerk=ACCELERATION / JERK_TIME_S, constraints={"keep_jerk": False})
    found = bench.until(bench.follow(trapezoid(2)))
    assert found.code == Code.SUCCESSFUL and found.text == "", "late, and there all the same (L33)"
    np.testing.assert_allclose(bench.q[-1], (1.0, -0.6, 0.4), atol=0.01)
    bench.assert_limits_kept()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (goal(point(1, Z, (0.0, 0.0, 1.6)), point(2, Z, Z)),
         "velocity of joint 'c' at point 1 is outside its limits; expected -1.5000 to 1.5000; got 1.6000"),
        (goal(point(1, Z, Z, (6.5, 0.0, 0.0)), point(2, Z, Z, Z)),
         "acceleration of joint 'a' at point 1 is outside its limits; expected -6.0000 to 6.0000; got 6.5000"),
        (goal(point(2, Z, Z), point(2.4, END, Z)),
         r"the acceleration of joint 'a' at 2\.\d+ s is outside its limits, between its points 1 and 2; expected -6.0"),
        (goal(point(0.1, END, Z), point(2.0, Z, Z)),
         r"the velocity of joint 'a' at 0\.\d+ s is outside its limits, on the way to its first point; expected -1.5"),
    ],
)  # fmt: skip
def test_J21_a_strict_controller_refuses_it(strict: TrajectoryBench, given: Goal, text: str) -> None:
    with pytest.raises(GoalRefused, match=text) as caught:
        strict.follow(given)
    assert caught.value.code == Code.INVALID_GOAL
    assert not strict.client.sessions() and not strict.q.any()


def test_J21_a_largest_slowing(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, constraints={"slowest": 0.5})
    with pytest.raises(GoalRefused, match=r"slowed to 0\.\d+ .* at least 0.5 of its speed .* got 0\.3"):
        bench.follow(goal(point(0.2, END)))
    assert bench.until(bench.follow(goal(point(0.35, END)))).code == Code.SUCCESSFUL
    planned_limits_kept(bench)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (goal(point(1, Z), point(1.2, (1.9, 0.0, 0.0)), point(1.4, (1.9, 0.1, 0.0)), point(2, Z)),
         "position of joint 'a' at .* is outside"),
        (goal(point(1, Z, (9e9, 0.0, 0.0)), point(2, Z, Z)), "position of joint 'a' at .* is outside"),
        (goal(point(1, Z), point(1 + 1e-9, END)), "expected at least 0.01 of its speed|is outside its limits"),
        (goal(point(1, END), point(1, Z)), "time_from_start of point 2; expected more than that of the point before"),
    ],
)  # fmt: skip
def test_J21_what_no_slowing_makes_right_is_refused(tmp_path: Path, given: Goal, text: str) -> None:
    bench = TrajectoryBench(tmp_path)
    with pytest.raises(GoalRefused, match=text):
        bench.follow(given)
