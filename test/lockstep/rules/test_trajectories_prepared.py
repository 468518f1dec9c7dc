"""Rule J24 of docs/semantics/trajectories.md: what is prepared once, and not for each goal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trajectory_bench import HERE, TrajectoryBench, goal, many_points, point, tolerance

from robot_rt_control.client import Action
from robot_rt_control.controllers.trajectory.goal import Code

THERE = (0.0, 0.1, -0.1)


def installed(bench: TrajectoryBench) -> int:
    return len([e for e in bench._events if e.kind == "tables_installed"])


@pytest.fixture
def bench(tmp_path: Path) -> TrajectoryBench:
    return TrajectoryBench(tmp_path)


def test_J24_goals_of_any_points_bring_no_new_tables_also_the_first_one(bench: TrajectoryBench) -> None:
    before = installed(bench)
    for given in (goal(point(1.0, HERE)), many_points(), goal(point(0.5, (0.2, 0.2, 0.2)), point(1.5, THERE))):
        assert bench.until(bench.follow(given)).code == Code.SUCCESSFUL
        bench.run(0.1)
    bench.follow(goal(point(1.0, HERE)))
    bench.run(0.4)
    assert bench.until(bench.follow(goal(point(1.0, THERE)))).code == Code.SUCCESSFUL
    assert installed(bench) == before
    bench.assert_limits_kept()
    assert np.allclose(bench.q[-1], THERE)


def test_J24_other_tolerances_do_and_those_of_the_goal_before_do_not(bench: TrajectoryBench) -> None:
    before, counts = installed(bench), []
    for end, names in ((HERE, "a"), (THERE, "a"), (HERE, "b"), (THERE, "b"), (HERE, "b")):
        given = goal(point(1.0, end), path_tolerances=tolerance(names, position=0.2))
        assert bench.until(bench.follow(given)).code == Code.SUCCESSFUL
        bench.run(0.1)
        counts.append(installed(bench) - before)
    assert counts[0] == 1 and counts[-1] - counts[-2] <= 1 and counts[-1] <= 4


def test_J24_an_event_of_an_earlier_goal_decides_nothing_of_a_later_one(bench: TrajectoryBench) -> None:
    first = bench.follow(goal(point(0.3, (0.02, 0.0, 0.0))))
    bench.client.step(400)  # it is reached, and nobody has looked
    second, third = (bench.follow(goal(point(1.0, end))) for end in (HERE, THERE))
    assert first[0].code == Code.SUCCESSFUL and second[0].code == Code.INVALID_GOAL and not third
    assert bench.until(third).code == Code.SUCCESSFUL and np.allclose(bench.q[-1], THERE, atol=1e-6)


def test_J24_a_part_that_was_moved_by_somebody_else_is_followed_from_where_it_is(bench: TrajectoryBench) -> None:
    assert bench.until(bench.follow(goal(point(1.0, HERE)))).is_success
    bench.until_free()
    with bench.client.session("arm") as other:
        other.add(Action("away", "move_joint", position=list(THERE)))
        other.follow("away").wait(20.0)
    bench.rows.clear()
    assert bench.until(bench.follow(goal(point(1.5, HERE)))).is_success
    assert np.allclose(bench.q[0], THERE, atol=1e-3) and np.allclose(bench.q[-1], HERE)
    bench.assert_limits_kept()


def test_J24_a_remembered_place_that_is_wrong_moves_nothing_and_is_asked_for(bench: TrajectoryBench) -> None:
    bench.follower._rest = np.array([0.01, 0.0, 0.0])
    bench.rows.clear()
    assert bench.until(bench.follow(goal(point(1.0, HERE)))).is_success
    assert np.abs(np.diff(bench.q[:5], axis=0)).max() < 1e-4
    bench.assert_limits_kept()
