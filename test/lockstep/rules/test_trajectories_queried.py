"""Rule J16 of docs/semantics/trajectories.md: the state of a trajectory at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trajectory_bench import PERIOD, TrajectoryBench, goal, point

from robot_rt_control.controllers.trajectory.track import State
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.errors import RobotControlError

END = (0.9, -0.6, 0.3)
WAY = goal(point(0.0, (0.0, 0.0, 0.0)), point(1.0, (0.4, 0.2, 0.0)), point(2.0, END))


class Query:
    """Asks for states at ticks, and compares them with what was, or will be, commanded."""

    def __init__(self, bench: TrajectoryBench) -> None:
        self.bench = bench
        self.asked: dict[int, State] = {}

    def at(self, seconds: float) -> None:
        """Ask for the state at a time from now."""
        ahead = round(seconds / PERIOD)
        state = self.bench.follower.state_at(self.bench.ros_time + ahead * PERIOD)
        self.asked[self.bench.cell.tick + ahead] = state

    def compare(self) -> None:
        rows = dict(zip(self.bench.ticks, self.bench.q, strict=True))
        for tick, (q, v, a) in self.asked.items():
            before, now, after = (rows[tick + i] for i in (-1, 0, 1))
            np.testing.assert_allclose(now, q, atol=1e-6)
            np.testing.assert_allclose((after - before) / (2 * PERIOD), v, atol=1e-4)
            np.testing.assert_allclose((after - 2 * now + before) / PERIOD**2, a, atol=0.05)


@pytest.mark.parametrize("speed", [1.0, 0.5])
def test_J16_it_is_that_of_the_part_before_and_after_now(tmp_path: Path, speed: float) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.client.set_speed(speed)
    outcome = bench.follow(WAY)
    query = Query(bench)
    for _ in range(3):
        bench.run(0.4)
        for seconds in (-0.3, 0.0, 0.1, 0.45):
            query.at(seconds)
    bench.until(outcome)
    query.compare()


def test_J16_a_replaced_trajectory_is_the_present_one_until_the_other_begins(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.follow(WAY)
    bench.run(0.7)
    query = Query(bench)
    outcome = bench.follow(goal(point(1.5, (0.1, 0.5, -0.2)), start=bench.ros_time + 0.3), bench.ros_time)
    for seconds in (0.1, 0.3, 0.5, 1.6):
        query.at(seconds)
    bench.until(outcome)
    query.compare()


def test_J16_until_its_start_the_part_stands(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    bench.client.watch().close()  # the loop's clock becomes known
    bench.run(0.01)
    now = bench.ros_time
    outcome = bench.follow(goal(point(1.0, (0.3, 0.1, 0.0)), point(2.5, END), start=now + 2.0), now)
    query = Query(bench)
    for seconds in (0.5, 1.9, 2.2, 3.0):
        query.at(seconds)
    assert not query.asked[min(query.asked)][1].any()
    bench.until(outcome)
    query.compare()


def test_J16_a_long_trajectory_is_asked_alike(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)
    n = MAX_TRAJECTORY_POINTS + 40
    times = np.linspace(0.0, 3.0, n)
    share = (1.0 - np.cos(np.pi * times / 3.0)) / 2.0
    points = (point(float(t), [float(s) * x for x in END]) for t, s in zip(times, share, strict=True))
    outcome = bench.follow(goal(*points))
    query = Query(bench)
    bench.run(0.8)
    for seconds in (-0.2, 0.0, 0.7):
        query.at(seconds)
    bench.until(outcome)
    query.compare()


def test_J16_a_time_at_which_it_is_not_followed_is_refused(tmp_path: Path) -> None:
    bench = TrajectoryBench(tmp_path)

    def refusal(time: float) -> str:
        with pytest.raises(RobotControlError) as caught:
            bench.follower.state_at(time)
        return str(caught.value)

    assert refusal(0.0) == "no trajectory is followed"
    outcome = bench.follow(WAY)
    bench.run(0.5)
    now = bench.ros_time
    for time in (now - 0.6, now + 1.6, 0.0):
        assert refusal(time).startswith("the trajectory is not followed at this time; expected ")
    begin, end = (float(word) for word in refusal(0.0).split("expected ")[1].split(" s; got")[0].split(" to "))
    assert (begin, end) == pytest.approx((now - 0.5, now + 1.5), abs=0.003)
    bench.client.set_speed(0.0)
    bench.run(1.5)
    q, v, a = bench.follower.state_at(now + 1000.0)
    np.testing.assert_allclose(q, bench.q[-1], atol=1e-9)
    assert not v.any() and not a.any()
    bench.client.set_speed(1.0)
    bench.run(0.1)
    bench.follower.cancel()
    assert refusal(bench.ros_time) == "the trajectory is being stopped; expected one that is followed to its end"
    bench.until(outcome)
    assert refusal(bench.ros_time) == "no trajectory is followed"
