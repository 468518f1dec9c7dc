"""Rules J8 to J11, J13 to J15, J17, J18, J22: goals cancelled, replaced, early, late, long, random."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest
from random_goals import RandomGoals
from samples import tries
from trajectory_bench import ACCELERATION, PERIOD, TrajectoryBench, goal, point

from robot_rt_control.client import Session
from robot_rt_control.controllers.trajectory import follower
from robot_rt_control.controllers.trajectory.goal import Code, Goal, GoalRefused
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.errors import SessionError

END = (0.9, -0.6, 0.3)
Z = (0.0, 0.0, 0.0)


def on_one_line(q: np.ndarray, end: tuple[float, ...]) -> None:
    np.testing.assert_allclose(q / end - (q / end)[:, :1], 0.0, atol=1e-9)


def test_J8_cancel_stops_on_the_path_and_is_answered_at_rest(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    outcome = bench.follow(goal(point(2.0, END)))
    bench.run(0.9)
    bench.follower.cancel()
    begun = bench.cell.tick
    found = bench.until(outcome)
    assert found.is_cancelled and found.text == "cancelled" and not bench.client.sessions()
    speed = 0.65  # [rad/s] of joint a, about
    assert (found.tick - begun) * PERIOD < 3.0 * (speed / ACCELERATION + 0.1)
    bench.run(0.1)
    assert (bench.q[-1] == bench.q[-90]).all() and 0.2 < bench.q[-1][0] < 0.7
    on_one_line(bench.q, END)
    bench.assert_limits_kept()
    bench.follower.cancel()  # nothing to do


@pytest.mark.parametrize("how", ["cancelled", "stopped"])
def test_J8_the_part_is_released_before_the_outcome_is_reported(tmp_path: Path, how: str) -> None:
    bench = TrajectoryBench(tmp_path)
    found: list[int] = []
    bench.follower.follow(goal(point(2.0, END)), lambda _: found.append(len(bench.client.sessions())), 0.0)
    bench.run(0.9)
    if how == "cancelled":
        bench.follower.cancel()
    else:
        bench.client.stop_all()
    bench.run(1.0)
    assert found == [0]


def test_J8_a_goal_after_a_cancel_waits_until_the_part_stands(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(2.0, END)))
    bench.run(0.9)
    bench.follower.cancel()
    second = bench.follow(goal(point(2.0, Z)))
    assert first[0].is_cancelled
    assert bench.until(second).code == Code.SUCCESSFUL
    bench.assert_limits_kept()


def test_J8_a_controller_that_is_closed_stops_its_part(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    outcome = bench.follow(goal(point(2.0, END)))
    bench.run(0.9)
    bench.follower.close("the controller was deactivated")
    assert (outcome[0].code, outcome[0].text) == (Code.INVALID_GOAL, "the controller was deactivated")
    assert not bench.client.sessions()
    bench.run(0.1)
    assert (bench.q[-1] == bench.q[-90]).all() and bench.q[-1][0] < 0.7


@pytest.mark.parametrize("rates", [(), (Z,), (Z, Z)], ids=["positions", "velocities", "accelerations"])
def test_J9_a_newer_goal_goes_on_from_the_present_motion(tmp_path: Path, rates: tuple) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(2.0, END, *rates)))
    bench.run(0.9)
    second = bench.follow(goal(point(1.5, (0.2, 0.2, 0.2), *rates)))
    assert [(o.code, o.text) for o in first] == [(Code.INVALID_GOAL, "preempted by a newer goal")]
    assert len(bench.client.sessions()) == 1
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], (0.2, 0.2, 0.2), atol=1e-12)
    a = np.diff(bench.q, 2, axis=0) / PERIOD**2
    assert np.abs(a).max() < ACCELERATION  # of the plans; a jump in velocity would need the system limit
    bench.assert_limits_kept()


def test_J9_a_refused_goal_leaves_the_present_one(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(2.0, END)))
    bench.run(0.9)
    with pytest.raises(GoalRefused, match="the position of joint 'a' .* between its points 1 and 2"):
        bench.follow(goal(point(1.0, (1.9, 0.0, 0.0)), point(1.5, (1.9, 0.5, 0.0)), point(2.5, (0.0, 0.0, 0.0))))
    assert bench.until(first).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], END, atol=1e-12)


@pytest.mark.parametrize("ticks", range(8))
def test_J22_a_goal_after_a_success_goes_on_at_any_tick(tmp_path: Path, ticks: int) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(1.0, (0.2, 0.2, 0.2))))
    assert bench.until(first).code == Code.SUCCESSFUL
    bench.run(ticks * PERIOD)
    second = bench.follow(goal(point(1.0, Z)))
    assert len(bench.client.sessions()) == 1
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], Z, atol=1e-12)
    bench.assert_limits_kept()
    bench.until_free()


def test_J22_another_session_gets_the_part_some_ticks_after_the_success(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(1.0, (0.2, 0.2, 0.2))))
    bench.until(first)
    with pytest.raises(SessionError, match="arm_controller"):
        bench.client.session("arm", name="welding")
    bench.until_free(20 * PERIOD)
    with bench.client.session("arm", name="welding"):
        assert [s.name for s in bench.client.sessions()] == ["welding"]


def test_J9_speed_changes_do_not_make_a_jump(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.follow(goal(point(2.0, END)))
    bench.run(0.7)
    bench.client.set_speed(0.3)
    second = bench.follow(goal(point(1.5, (0.2, 0.2, 0.2))))
    bench.run(0.5)
    bench.client.set_speed(1.0)
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], (0.2, 0.2, 0.2), atol=1e-12)
    bench.assert_limits_kept()


def test_J9_a_motion_that_an_override_of_0_holds_is_replaced_on_the_way(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.follow(goal(point(2.0, (1.2, 1.2, 1.2))))
    bench.run(0.9)
    bench.client.set_speed(0.0)
    bench.run(0.5)
    second = bench.follow(goal(point(1.5, (1.3, 1.3, 1.3))))
    bench.client.set_speed(1.0)
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], 1.3, atol=1e-12)
    bench.assert_limits_kept()
    x = bench.q[-1200:]
    assert (np.diff(x, axis=0) > -1e-9).all()


@pytest.mark.parametrize("jump", [-2.0, 2.0, 7200.0])
def test_J10_a_start_is_refused_if_a_clock_was_set_since_the_loop_told_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    monkeypatch.setattr(CellBackend, "simulated", False)  # the system's clock is that of a workcell on the wall clock
    bench = TrajectoryBench(tmp_path)
    now = bench.ros_time
    first = bench.follow(goal(point(0.0, Z), point(1.5, END), start=now + 0.5), now)
    now = bench.ros_time + jump
    with pytest.raises(GoalRefused, match="the loop has another clock.*Was a clock set a moment ago?"):
        bench.follow(goal(point(1.0, Z), start=now + 0.6), now)
    assert bench.until(first).code == Code.SUCCESSFUL, "what is followed goes on"


def test_J10_a_start_in_the_future_keeps_what_is_followed_until_then(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    now = bench.ros_time
    waits = bench.follow(goal(point(0.0, Z), point(1.5, END), start=now + 0.5), now)
    begun = len(bench.rows)
    found = bench.until(waits)
    assert found.code == Code.SUCCESSFUL
    still = np.flatnonzero(np.abs(bench.q).max(axis=1) > 1e-12)[0]
    start = len(bench.rows) - 1 - 1500
    assert abs(still - start) <= 20 and start - begun > 300
    first = bench.follow(goal(point(2.0, Z)))
    bench.run(0.5)
    whole = bench.q[-1]
    now = bench.ros_time
    second = bench.follow(goal(point(1.0, (0.8, -0.2, 0.1)), start=now + 0.6), now)
    assert first[0].text == "preempted by a newer goal"
    bench.run(0.45)
    assert bench.q[-1][0] < whole[0] - 0.1  # it goes on
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], (0.8, -0.2, 0.1), atol=1e-12)
    bench.assert_limits_kept()


def test_J10_points_in_the_past_are_skipped(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    now = bench.ros_time
    points = point(0.5, (0.5, 0.5, 0.5)), point(2.0, (0.2, 0.1, 0.0)), point(3.0, (0.3, 0.2, 0.1))
    begun = bench.cell.tick
    outcome = bench.follow(goal(*points, start=now - 1.0), now)
    assert bench.until(outcome).code == Code.SUCCESSFUL
    assert abs(outcome[0].tick - begun - 2000) <= 2
    assert bench.q[:, 1].max() < 0.25  # not by way of the first point
    assert np.abs(bench.q - (0.2, 0.1, 0.0)).max(axis=1).min() < 1e-3
    bench.assert_limits_kept()


def test_J10_a_goal_whose_last_point_passes_while_it_is_prepared_is_too_old(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    now = bench.ros_time
    with pytest.raises(GoalRefused, match="expected a point that is not in the past") as caught:
        bench.follow(goal(point(0.5, END), start=now - 1.0), now - 0.6)  # at first it had 0.1 s left
    assert caught.value.code == Code.OLD_HEADER_TIMESTAMP
    assert not bench.client.sessions()


N_LONG = MAX_TRAJECTORY_POINTS + 100


def long_goal(begin: float, end: float, rates: int, *, n: int = N_LONG, first: float = 0.5, **fields: Any) -> Goal:
    """Joints move together from one position to another in 3 s, from rest to rest; the first point is at a time."""
    t = np.linspace(0.0, 3.0, n)
    shape = [6.0, -15.0, 10.0, 0.0, 0.0, 0.0]
    q, v, a = (np.polyval(np.polyder(shape, k), t / 3.0) * (end - begin) / 3.0**k for k in range(3))
    return goal(*(point(s, [p] * 3, *([w] * 3 for w in (vs, acc)[:rates]))
                  for s, p, vs, acc in zip(first + t, begin + q, v, a, strict=True)), **fields)  # fmt: skip


def accelerations_of_plans(bench: TrajectoryBench, since: int = 0) -> None:
    """A jump in velocity would need more."""
    assert np.abs(np.diff(bench.q[since:], 2, axis=0)).max() / PERIOD**2 < ACCELERATION
    bench.assert_limits_kept()


@pytest.mark.long
@pytest.mark.parametrize("rates", [0, 1, 2])
def test_J11_a_long_trajectory_begins_at_rest(tmp_path: Path, rates: int) -> None:
    bench = TrajectoryBench(tmp_path, constraints={"a": {"trajectory": 0.1}})
    outcome = bench.follow(long_goal(0.0, 0.6, rates))
    assert bench.until(outcome).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], 0.6, atol=1e-9)
    bench.until_free()


@pytest.mark.parametrize("rates", [0, 1, 2])
def test_J11_long_ones_replace_and_are_replaced_while_the_part_moves(tmp_path: Path, rates: int) -> None:
    bench = TrajectoryBench(tmp_path, constraints={"a": {"trajectory": 0.1}})
    goals = (
        goal(point(2.0, (-0.4, -0.4, -0.4))),
        long_goal(-0.1, 0.6, rates, n=2000, first=1.0),
        long_goal(0.3, -0.2, rates, first=1.0),
        goal(point(2.0, (0.1, 0.2, 0.3))),
    )
    outcomes = []
    for given, then in zip(goals, (0.6, 2.1, 1.9, 0.0), strict=True):
        outcomes.append(bench.follow(given))
        bench.run(then)
        assert np.abs(bench.q[-1] - bench.q[-2]).max() > 1e-4  # it moves
    assert [o[0].text for o in outcomes[:3]] == ["preempted by a newer goal"] * 3
    assert len(bench.client.sessions()) == 1
    assert bench.until(outcomes[3]).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], (0.1, 0.2, 0.3), atol=1e-9)
    accelerations_of_plans(bench)
    bench.until_free()


def test_J11_what_is_reached_while_the_newer_goal_is_prepared_is_a_success(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(1.0, (0.2, 0.2, 0.2))))
    bench.run(0.8)
    second = bench.follow(long_goal(0.2, 0.6, 1, n=2000))
    assert [o.code for o in first] == [Code.SUCCESSFUL]
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], 0.6, atol=1e-9)
    accelerations_of_plans(bench)


def test_J11_one_with_a_first_point_at_the_start_passes_its_points_in_time(tmp_path: Path) -> None:
    """It was planned from the moving part, as servoing planners do."""
    bench = TrajectoryBench(tmp_path)
    bench.follow(long_goal(0.0, 0.6, 1))
    bench.run(1.5)
    now, tick = bench.ros_time, bench.cell.tick
    times = 0.002 * np.arange(700)
    states = [bench.follower.state_at(now + 0.4 + t)[:2] for t in times]
    points = [point(t, q.tolist(), v.tolist()) for t, (q, v) in zip(times, states, strict=True)]
    outcome = bench.follow(goal(*points, point(2.0, [0.62] * 3, Z), start=now + 0.4), now)
    bench.until(outcome)
    np.testing.assert_allclose(bench.q[-1], 0.62, atol=1e-9)
    first = bench.ticks.index(tick + 400)
    np.testing.assert_allclose(bench.q[first : first + 1400 : 2], [q for q, _ in states], atol=1e-6)
    accelerations_of_plans(bench)


def test_J11_a_start_in_the_future_joins_a_long_motion_to_the_present_one(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.follow(goal(point(2.0, (0.5, 0.5, 0.5))))
    bench.run(0.6)
    now = bench.ros_time
    second = bench.follow(long_goal(0.6, -0.3, 2, start=now + 0.7), now)
    assert abs(bench.until(second).tick - round((now + 0.7 + 3.5 - bench.ros_time) / PERIOD) - bench.cell.tick) <= 2
    np.testing.assert_allclose(bench.q[-1], -0.3, atol=1e-9)
    accelerations_of_plans(bench)


@pytest.mark.parametrize("speeds", [(0.3, 1.0), (0.0, 0.6)], ids=["slower", "standing"])
def test_J11_at_any_speed_override(tmp_path: Path, speeds: tuple[float, float]) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.follow(long_goal(0.0, 0.6, 1))
    bench.run(1.7)
    bench.client.set_speed(speeds[0])
    bench.run(0.5)
    second = bench.follow(long_goal(0.5, -0.2, 1))
    bench.run(0.8)
    third = bench.follow(goal(point(2.0, (0.1, 0.1, 0.1))))
    assert second[0].text == "preempted by a newer goal"
    bench.run(0.5)
    bench.client.set_speed(speeds[1])
    assert bench.until(third).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1], 0.1, atol=1e-9)
    bench.assert_limits_kept()
    on_one_line(bench.q[100:], (1.0, 1.0, 1.0))


def test_J11_cancelled_while_it_moves_it_stops_on_its_path(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.follow(goal(point(2.0, (-0.3, -0.3, -0.3))))
    bench.run(0.5)
    long = bench.follow(long_goal(-0.1, 0.6, 1))
    bench.run(1.5)
    bench.follower.cancel()
    assert bench.until(long).is_cancelled
    q = bench.q[-1]
    assert -0.1 < q[0] < 0.5 and np.ptp(q) < 1e-6
    bench.assert_limits_kept()
    assert bench.until(bench.follow(goal(point(1.0, Z)))).code == Code.SUCCESSFUL


def test_J11_a_last_velocity_of_a_long_one_is_braked(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, allow_nonzero_velocity_at_trajectory_end=True)
    times = np.linspace(0.5, 2.5, N_LONG)
    outcome = bench.follow(goal(*(point(t, [0.1 * (t - 0.5) ** 2] * 3, [0.2 * (t - 0.5)] * 3) for t in times)))
    found = bench.until(outcome)
    assert found.code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[bench.ticks.index(found.tick) - 1], 0.4, atol=1e-3)
    bench.until_free()
    assert 0.42 < bench.q[-1][0] < 0.6
    accelerations_of_plans(bench)


def at_each(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], object]) -> None:
    """Do something before each call of a method."""
    call = getattr(owner, name)

    def act_and_call(*arguments: Any, **named: Any) -> Any:
        act()
        return call(*arguments, **named)

    monkeypatch.setattr(owner, name, act_and_call)


def in_a_thread(act: Callable[[], object]) -> Callable[[], None]:
    """A function that returns once another thread has done this."""

    def do() -> None:
        thread = Thread(target=act, daemon=True)
        thread.start()
        thread.join(60.0)
        assert not thread.is_alive(), "it waits for the goal that is being prepared"

    return do


WHILE_PREPARED = pytest.mark.parametrize(
    "when", ["before it is defined", "when it is defined", "shortly before its start"]
)


def give_up(monkeypatch: pytest.MonkeyPatch, bench: TrajectoryBench, when: str, act: Callable[[], object]) -> list[int]:
    """Let another thread do something while a goal is prepared. Returns the list in which the ticks of it will be."""
    ticks: list[int] = []

    def do() -> None:
        ticks.append(bench.cell.tick)
        in_a_thread(act)()

    if when == "before it is defined":
        at_each(monkeypatch, follower, "splice", do)
    elif when == "when it is defined":
        at_each(monkeypatch, Session, "replace", do)
    else:
        at_each(monkeypatch, bench.client, "sleep", do)
    return ticks


@WHILE_PREPARED
@pytest.mark.parametrize("is_long", [False, True], ids=["short", "long"])
def test_J8_a_cancel_while_the_successor_is_prepared_stops_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_long: bool, when: str
) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(long_goal(0.0, 0.6, 1, first=0.1) if is_long else goal(point(3.0, END)))
    bench.run(1.2)
    with monkeypatch.context() as patch:
        ticks = give_up(patch, bench, when, bench.follower.cancel)
        with pytest.raises(GoalRefused, match="^cancelled before it began$"):
            bench.follow(long_goal(0.2, 0.6, 1, n=2000, first=2.0))
    found = bench.until(first)
    assert found.is_cancelled and (found.tick - ticks[0]) * PERIOD < 0.6
    on_one_line(bench.q, (0.6, 0.6, 0.6) if is_long else END)
    bench.until_free()
    bench.run(0.5)
    assert np.ptp(bench.q[-400:], axis=0).max() == 0.0
    bench.assert_limits_kept()
    assert bench.until(bench.follow(goal(point(1.0, Z)))).code == Code.SUCCESSFUL


@WHILE_PREPARED
def test_J8_a_goal_that_is_cancelled_while_it_is_prepared_moves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    bench = TrajectoryBench(tmp_path)
    now = bench.ros_time
    with monkeypatch.context() as patch:
        give_up(patch, bench, when, bench.follower.cancel)
        with pytest.raises(GoalRefused, match="^cancelled before it began$"):
            bench.follow(long_goal(0.0, 0.6, 1, start=now + 0.1), now)
    assert not bench.client.sessions()
    bench.run(1.5)
    assert np.abs(bench.q).max() == 0.0


@WHILE_PREPARED
def test_J8_a_controller_that_is_deactivated_while_a_goal_is_prepared_stops_its_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(3.0, END)))
    bench.run(1.2)
    closing = Thread(target=bench.follower.close, args=["it was deactivated"], daemon=True)

    def close() -> None:
        """It returns when the goal is given up."""
        if not closing.ident:
            closing.start()
        while not first:
            closing.join(0.01)

    with monkeypatch.context() as patch:
        give_up(patch, bench, when, close)
        with pytest.raises(GoalRefused, match="^it was deactivated$"):
            bench.follow(long_goal(0.2, 0.6, 1, n=2000, first=2.0))
    closing.join(60.0)
    assert not closing.is_alive() and not bench.client.sessions()
    assert [(o.code, o.text) for o in first] == [(Code.INVALID_GOAL, "it was deactivated")]
    bench.run(0.5)
    assert np.ptp(bench.q[-400:], axis=0).max() == 0.0
    on_one_line(bench.q, END)
    with pytest.raises(GoalRefused, match="^it was deactivated$"):
        bench.follow(goal(point(1.0, Z)))
    assert not bench.client.sessions()


@pytest.mark.parametrize("how", ["cancel", "stop"])
@pytest.mark.parametrize("is_long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("after", [0, 20])
def test_J18_a_stop_that_comes_while_a_start_waits_for_its_tick_is_obeyed_in_two_ticks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, is_long: bool, after: int
) -> None:
    second = long_goal(0.3, 0.6, 1, first=1.5) if is_long else goal(point(1.5, (0.2, 0.2, 0.2)))
    rows: list[np.ndarray] = []
    asked: list[int] = []
    for is_stopped in (False, True):
        bench = TrajectoryBench(tmp_path)
        first = bench.follow(goal(point(3.0, END)))
        bench.run(1.2)
        end = bench.follower.cancel if how == "cancel" else lambda: bench.follower.stop("enough")  # noqa: B023
        sent: list[int] = []

        def end_in_the_wait() -> None:
            if sent and not asked and bench.cell.tick >= sent[-1] + after:  # noqa: B023
                asked.append(bench.cell.tick)  # noqa: B023
                in_a_thread(end)()  # noqa: B023

        with monkeypatch.context() as patch:
            at_each(patch, Session, "start", lambda: sent.append(bench.cell.tick))  # noqa: B023
            if not is_stopped:
                bench.follow(second)
                rows.append(bench.q)
                continue
            bench.cell.after_tick.append(end_in_the_wait)
            with pytest.raises(GoalRefused, match="^cancelled before it began$|^enough$"):
                bench.follow(second)
        bench.until_free()
        bench.run(0.3)
        rows.append(bench.q)
    n = len(rows[0])
    changed = np.flatnonzero(np.abs(rows[0] - rows[1][:n]).max(axis=1))
    assert bench.ticks[changed[0]] - asked[0] <= 2
    assert first[0].is_cancelled == (how == "cancel")
    on_one_line(bench.q, END)
    assert np.ptp(bench.q[-200:], axis=0).max() == 0.0
    bench.assert_limits_kept()
    assert bench.until(bench.follow(goal(point(1.0, Z)))).code == Code.SUCCESSFUL


def test_J18_a_start_that_is_not_taken_back_in_time_is_stopped_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(3.0, END)))
    bench.run(1.2)
    sent: list[int] = []
    asked: list[int] = []

    def cancel_in_the_wait() -> None:
        if sent and not asked:
            asked.append(bench.cell.tick)
            in_a_thread(bench.follower.cancel)()

    bench.cell.after_tick.append(cancel_in_the_wait)
    with monkeypatch.context() as patch:
        patch.setattr(Session, "remove", lambda *_: None)
        at_each(patch, Session, "start", lambda: sent.append(bench.cell.tick))
        second = bench.follow(goal(point(1.5, (0.2, 0.2, 0.2))))
    assert first[0].text == "preempted by a newer goal"
    assert bench.until(second).is_cancelled
    bench.until_free()
    bench.run(0.3)
    assert np.ptp(bench.q[-200:], axis=0).max() == 0.0
    bench.assert_limits_kept()


@pytest.mark.parametrize("how", ["cancel", "stop"])
def test_J18_a_goal_at_rest_whose_start_is_on_its_way_is_stopped_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """It is defined and started by one request, which nothing takes back."""
    bench = TrajectoryBench(tmp_path)
    end = bench.follower.cancel if how == "cancel" else lambda: bench.follower.stop("enough")
    with monkeypatch.context() as patch:
        at_each(patch, Session, "replace", in_a_thread(end))
        outcome = bench.follow(goal(point(1.0, END)))
    found = bench.until(outcome)
    assert found.is_cancelled if how == "cancel" else found.text == "enough"
    bench.until_free()
    bench.run(0.3)
    on_one_line(bench.q, END)
    assert np.abs(bench.q).max() < 0.01
    bench.assert_limits_kept()
    assert bench.until(bench.follow(goal(point(1.0, Z)))).code == Code.SUCCESSFUL


def test_J18_a_goal_at_rest_that_is_given_up_before_its_request_moves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = TrajectoryBench(tmp_path)
    with monkeypatch.context() as patch:
        at_each(patch, follower, "splice", in_a_thread(bench.follower.cancel))
        with pytest.raises(GoalRefused, match="^cancelled before it began$"):
            bench.follow(goal(point(1.0, END)))
    assert not bench.client.sessions()
    bench.run(0.5)
    assert np.abs(bench.q).max() == 0.0


def test_J18_a_goal_at_rest_does_not_begin_if_a_protective_stop_comes_and_goes_while_its_start_is_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = TrajectoryBench(tmp_path)

    def stop_and_release() -> None:
        bench.client.protective_stop("door")
        bench.client.release()

    with monkeypatch.context() as patch:
        at_each(patch, Session, "replace", in_a_thread(stop_and_release))
        with pytest.raises(GoalRefused, match="a protective stop came before it began"):
            bench.follow(goal(point(1.0, END)))
    bench.run(0.5)
    assert np.abs(bench.q).max() == 0.0 and not bench.client.sessions()


@WHILE_PREPARED
def test_J18_what_is_prepared_when_a_protective_stop_comes_does_not_begin_after_its_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    bench = TrajectoryBench(tmp_path)
    now = bench.ros_time

    def stop_and_release() -> None:
        bench.client.protective_stop("door")
        bench.client.release()

    with monkeypatch.context() as patch:
        give_up(patch, bench, when, stop_and_release)
        with pytest.raises(GoalRefused, match="a protective stop came before it began"):
            bench.follow(long_goal(0.0, 0.6, 1, start=now + 0.1), now)
    bench.run(1.0)
    assert np.abs(bench.q).max() == 0.0 and not bench.client.sessions()


def test_J17_of_goals_that_wait_only_the_newest_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = TrajectoryBench(tmp_path)
    turns = [bench.follower.turn() for _ in range(3)]
    given = goal(point(1.5, (0.2, 0.2, 0.2)))
    for turn in turns[:2]:
        with pytest.raises(GoalRefused, match="^preempted by a newer goal before it began$"):
            bench.follower.follow(given, lambda _: None, 0.0, turn)
    bench.follower.follow(given, lambda _: None, 0.0, turns[2])
    late = bench.follower.turn()
    bench.follower.stop("enough")
    with pytest.raises(GoalRefused, match="^enough$"):
        bench.follower.follow(given, lambda _: None, 0.0, late)
    bench.until_free()
    assert not bench.client.sessions()


def test_J17_trajectories_at_a_high_rate_end_with_the_last_one(tmp_path: Path) -> None:
    """50 a second, as policies send them; while one is prepared the next ones come."""
    bench = TrajectoryBench(tmp_path)
    begun = 0
    for k in range(60):
        q = 0.1 * np.sin(0.02 * k + np.array([0.3, 0.2, 0.1]))
        came = bench.cell.tick
        bench.follow(goal(point(0.3, q.tolist())))
        begun += 1
        assert bench.cell.tick - came <= 80
    last = bench.cell.tick
    bench.until_free()
    assert begun == 60 and (bench.cell.tick - last) * PERIOD < 0.5
    bench.assert_limits_kept()


def test_J8_of_a_goal_that_was_reached_a_cancel_gives_up_the_successor_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = TrajectoryBench(tmp_path)
    first = bench.follow(goal(point(1.0, (0.2, 0.2, 0.2))))
    bench.run(0.8)

    def reach_and_cancel() -> None:
        bench.client.step(230)
        bench.follower.cancel()

    with monkeypatch.context() as patch:
        give_up(patch, bench, "when it is defined", reach_and_cancel)
        with pytest.raises(GoalRefused, match="^cancelled before it began$"):
            bench.follow(long_goal(0.2, 0.6, 1, n=2000))
    assert [o.code for o in first] == [Code.SUCCESSFUL]
    bench.until_free()
    np.testing.assert_allclose(bench.q[-1], 0.2, atol=1e-12)


def test_J13_a_last_velocity_is_braked_after_the_last_point(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path, allow_nonzero_velocity_at_trajectory_end=True)
    outcome = bench.follow(goal(point(1.0, (0.5, 0.0, 0.0), (0.8, 0.0, 0.0))))
    found = bench.until(outcome)
    assert found.code == Code.SUCCESSFUL
    at = bench.ticks.index(found.tick)
    np.testing.assert_allclose(bench.q[at - 1], (0.5, 0.0, 0.0), atol=2e-3)
    bench.until_free()
    bench.run(0.1)
    assert 0.55 < bench.q[-1][0] < 0.7 and (bench.q[-1] == bench.q[-50]).all()
    bench.assert_limits_kept()
    with pytest.raises(GoalRefused, match="position of joint 'a' at 2.* is outside its limits, after its last point"):
        bench.follow(goal(point(2.0, (1.95, 0.0, 0.0), (1.0, 0.0, 0.0))))


def test_J14_a_continuous_joint_takes_the_shorter_way(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    assert bench.until(bench.follow(goal(point(3.0, (0.0, 0.0, 2.5))))).code == Code.SUCCESSFUL
    second = bench.follow(goal(point(2.0, (0.0, 0.0, -2.5)), point(3.0, (0.0, 0.0, -2.2))))
    assert bench.until(second).code == Code.SUCCESSFUL
    np.testing.assert_allclose(bench.q[-1][2], 2.0 * np.pi - 2.2, atol=1e-12)
    assert bench.q[:, 2].min() > -1e-9


@pytest.mark.sampled
def test_J15_random_goals_fault_nothing(tmp_path: Path) -> None:
    """10 000 of them are part of `./run prove`."""
    random, count = RandomGoals(tmp_path), tries(30, whole=100)
    accepted, refused = random.run(Random(7), count)
    assert accepted > 0.3 * count and refused > 0.3 * count
