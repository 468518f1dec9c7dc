"""Rules M9 to M12 of docs/semantics/groups.md: motion groups whose set points come from outside the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arms_cell import arms_file, cell_of, go, limits_kept, on_path, positions

from robot_rt_control.client import Action, MotionCommand, MotionGroup, Reaction, Session, Trajectory
from robot_rt_control.testing import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.mark.parametrize("finish", ["own", "together"])
def test_M9_both_ways_give_equal_set_points(finish: str, tmp_path: Path) -> None:
    runs = []
    for profile in ("realtime", "async"):
        cell, session = cell_of(tmp_path, 2)
        group = go(2, finish=finish, profile=profile)
        group.add(MotionCommand(part="arm0", position=(0.0, 0.1, 0.0), duration=0.9, jerk_percent=50.0))
        group.add(MotionCommand(part="arm1", velocity=(0.2, -0.1, 0.0), time=0.9))
        session.add(group)
        session.start("go")
        runs.append(positions(cell, 2, 2500))
    assert np.ptp(runs[0], axis=0).max() > 0.1
    assert np.abs(runs[0] - runs[1]).max() < 1e-9


def test_M9_lockstep_runs_are_bit_identical(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):
        cell, session = cell_of(tmp_path, 2)
        session.add(go(2, profile="async"))
        session.start("go")
        runs.append(positions(cell, 2, 600))
    assert (runs[0] == runs[1]).all()


def slow(n: int, **options: Any) -> MotionGroup:
    """A motion longer than what the queue holds."""
    commands = (
        MotionCommand(part=f"arm{i}", position=(2.5 - i, -1.0, 0.5), duration=12.0) for i in range(n)
    )
    return MotionGroup("go", *commands, profile="async", finish="together", **options)


def test_M10_without_set_points_the_parts_stop_on_their_paths_and_go_on_later(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    session.add(slow(2))
    session.start("go")
    whole = positions(cell, 2, 12_100)
    cell, session = cell_of(tmp_path, 2)
    starving = Reaction("starved", event="starving", capture=["progress"])
    group = slow(2)
    group.reactions = [starving]
    session.add(group)
    session.start("go")
    cell.step(500)
    profilers = cell.server.core.connection.at().profilers
    profilers.paused.add(0)
    paused = positions(cell, 2, 8000)
    assert (paused[-1] == paused[-2]).all() and np.abs(paused[-1] - whole[-1]).max() > 0.1
    (event,) = cell.kinds("motion_starved")
    assert event.current_action == "go"
    assert [e.event for e in cell.kinds("reaction_fired")] == ["starving"]
    profilers.paused.clear()
    later = positions(cell, 2, 14_000)
    np.testing.assert_allclose(later[-1], whole[-1], atol=1e-12)
    both = np.concatenate([paused, later])
    on_path(both[::20], whole)
    limits_kept(both)


def test_M11_if_the_profiler_is_lost_the_group_stops_on_its_path_and_ends(tmp_path: Path) -> None:
    cell = LockstepCell(arms_file(tmp_path, 4))
    session = cell.session(*(f"arm{i}" for i in range(4)))
    other = MotionGroup("other", MotionCommand(part="arm3", position=(2.0, 0, 0), duration=6.0), profile="async")
    session.add(slow(2), other)
    session.start("go", "other")
    cell.step(1000)
    cell.executor.channel.memory.motion_queues[0]["failed"] = 1
    q = positions(cell, 4, 6000)
    ended = [e for e in cell.kinds("action_stopped") if e.previous_action == "go"]
    assert [e.reason for e in ended] == ["the process that planned its motion ended"]
    assert cell.active("arm3") == "other"
    np.testing.assert_allclose(q[-1, 3], (2.0, 0.0, 0.0), atol=1e-12)
    limits_kept(q)


def test_M5_a_group_from_outside_begins_at_its_start_at_rest(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    session.add(go(2), go(2, "late", -1.0, profile="async"))
    session.start("go")
    cell.step(100)
    session.start("late")
    cell.step()
    cell.step(900)
    session.start("late")
    cell.step()
    reasons = [e.reason for e in cell.kinds("command_refused")]
    assert "the robot is too far from where the motion begins" in reasons[1]
    assert len(reasons) == 2


def cruising(cell: LockstepCell, session: Session, begin: np.ndarray, speed: np.ndarray) -> None:
    """Bring two arms to these speeds; a group that goes on from there is defined."""
    away = (MotionCommand(part=f"arm{i}", velocity=speed[i], time=3.0) for i in range(2))
    on = (
        MotionCommand(
            part=f"arm{i}",
            trajectory=Trajectory(
                times=np.array([0.0, 1.0]),
                positions=np.stack([begin[i], begin[i] + speed[i] / 2.0]),
                velocities=np.stack([speed[i], 0.0 * speed[i]]),
            ),
            start_tolerance=1.0,
        )
        for i in range(2)
    )
    session.add(MotionGroup("away", *away), MotionGroup("on", *on, profile="async"))
    session.start("away")


def test_M5_a_trajectory_that_begins_with_a_velocity_goes_on_from_the_motion(tmp_path: Path) -> None:
    speed = np.array([[0.4, -0.2, 0.1], [0.1, 0.3, 0.6]])
    cell, session = cell_of(tmp_path, 2)
    cruising(cell, session, np.zeros((2, 3)), speed)
    begin = positions(cell, 2, 1000)[-1]
    cell, session = cell_of(tmp_path, 2)
    cruising(cell, session, begin, speed)
    q = [positions(cell, 2, 1000)]
    np.testing.assert_allclose(q[0][-1], begin, atol=1e-12)
    session.start("on")
    q.append(positions(cell, 2, 1200))
    np.testing.assert_allclose(q[1][-1], begin + speed / 2.0, atol=1e-12)
    seam = np.diff(np.concatenate(q)[995:1005], axis=0) / 1e-3
    np.testing.assert_allclose(seam, np.tile(speed, (9, 1, 1)), atol=0.01)
    limits_kept(np.concatenate(q))
    session.start("on")
    cell.step()
    (refused,) = cell.kinds("command_refused")
    assert "the robot has another velocity than the motion at its begin" in refused.reason


def test_M5_it_does_not_begin_in_motion_without_its_set_points(tmp_path: Path) -> None:
    speed = np.full((2, 3), 0.3)
    cell, session = cell_of(tmp_path, 2)
    cruising(cell, session, np.full((2, 3), 0.25), speed)
    cell.step(1000)
    cell.server.core.connection.at().profilers.paused.add(0)
    session.start("on")
    cell.step(5)
    session.start("on")
    q = positions(cell, 2, 1000)
    (failed,) = cell.kinds("action_failed")
    assert "its set points have not come yet" in failed.reason
    assert (q[-1] == q[-2]).all()
    limits_kept(q)


@pytest.mark.parametrize("condition", ["is_done", "is_settled"])
def test_M8_a_group_from_outside_starts_the_next_one_as_it_arrives(condition: str, tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    there = go(2, profile="async", finish="together")
    there.reactions = [Reaction(condition, start="back")]
    starts = ((0.3 + 0.05 * i, -0.2, 0.1) for i in range(2))
    back = (MotionCommand(part=f"arm{i}", position=(0, 0, 0), start=start) for i, start in enumerate(starts))
    session.add(there, MotionGroup("back", *back, profile="async"))
    session.start("go")
    q = positions(cell, 2, 3000)
    assert cell.active("arm0") == "back" and not cell.kinds("action_failed")
    np.testing.assert_allclose(q[-1], 0.0, atol=1e-12)
    limits_kept(q)


def test_M12_paths_and_long_trajectories_come_through_the_queue(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    times = np.linspace(0.0, 6.0, 3000)
    wave = 0.5 * (1.0 - np.cos(np.pi * times / 3.0)) * np.ones((3, 1))
    session.add(
        MotionGroup(
            "go",
            MotionCommand(part="arm0", trajectory=Trajectory(times=times, positions=wave.T)),
            MotionCommand(part="arm1", position=(0.0, 0.6, 0.0), via=((0.4, 0.0, 0.0), (0.4, 0.6, 0.0)), blend=0.05),
            profile="async",
        )
    )
    session.start("go")
    q = positions(cell, 2, 6100)
    expected = 0.5 * (1.0 - np.cos(np.pi * np.arange(1, 6001) * 1e-3 / 3.0))
    np.testing.assert_allclose(q[:6000, 0, 1], expected, atol=1e-6)
    np.testing.assert_allclose(q[-1, 1], (0.0, 0.6, 0.0), atol=1e-12)
    assert 0.33 < q[:, 1, 0].max() < 0.4 + 1e-9
    limits_kept(q)


def test_M12_track_trajectory_of_any_length_is_a_group(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 1)
    times = np.linspace(0.0, 3.0, 2001)
    wave = 0.4 * (1.0 - np.cos(np.pi * times / 1.5))
    points: dict[str, Any] = {"times": times, "positions": np.repeat(wave, 3)}
    done = Reaction("is_done", event="arrived", capture=["progress"])
    session.add(
        Action("long", "track_trajectory", parts="arm0", reactions=[done], **points),
        Action("short", "track_trajectory", parts="arm0", times=[0, 1], positions=[0] * 6, accelerations=[0] * 6,
               velocities=[0] * 6),
    )  # fmt: skip
    with pytest.raises(DefinitionError, match=r"action 'wrong': number of positions; expected a multiple of 2001"):
        session.add(Action("wrong", "track_trajectory", parts="arm0", times=times, positions=[0.0] * 7))
    with pytest.raises(DefinitionError, match=r"the velocity of joint 'j0' at .*s is outside its limits"):
        fast: dict[str, Any] = {"times": times * 0.05, "positions": np.repeat(wave, 3)}
        session.add(Action("fast", "track_trajectory", parts="arm0", slowest=1.0, **fast))
    with pytest.raises(DefinitionError, match=r"it would be slowed to 0.* at least 0.5 of its speed"):
        session.add(Action("fast", "track_trajectory", parts="arm0", slowest=0.5, **fast))
    session.add(Action("fast", "track_trajectory", parts="arm0", **fast))
    session.start("long")
    q = positions(cell, 1, 3100)[:, 0]
    expected = 0.4 * (1.0 - np.cos(np.pi * np.arange(1, 3001) * 1e-3 / 1.5))
    np.testing.assert_allclose(q[:3000], expected[:, None] * np.ones(3), atol=1e-6)
    assert [e.values for e in cell.kinds("reaction_fired")] == [(1.0,)]


def test_M6_a_group_from_outside_stops_on_its_path_and_starts_again(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    back = MotionGroup("back", *(MotionCommand(part=f"arm{i}", position=(0, 0, 0)) for i in range(2)))
    session.add(slow(2), back)
    session.start("go")
    whole = positions(cell, 2, 12_100)
    for _ in range(2):
        session.start("back")
        cell.step(4000)
        session.start("go")
        cell.step(2000)
        session.stop("go")
        q = positions(cell, 2, 2500)
        on_path(q[::10], whole)
        limits_kept(q)
        assert cell.active("arm0") != "go"


def test_M6_what_a_stopped_group_left_in_its_queue_makes_room_for_its_start(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    back = MotionGroup("back", *(MotionCommand(part=f"arm{i}", position=(0, 0, 0)) for i in range(2)))
    session.add(slow(2), back)
    session.start("go")
    cell.step(2000)
    session.stop("go")
    cell.step(2500)
    cell.server.core.connection.at().profilers.paused.add(0)
    session.start("back")
    cell.step(4000)
    session.start("go")
    q = positions(cell, 2, 500)
    assert not cell.kinds("motion_starved") and np.abs(q[-1] - q[0]).max() > 0.01


@pytest.mark.parametrize("head, tail", [(-1, -7), (1 << 62, 3), (-(1 << 63), 1 << 62), (5, 1 << 40)])
def test_M11_whatever_the_shared_counters_say_the_loop_reads_its_own_queue(
    head: int, tail: int, tmp_path: Path
) -> None:
    cell, session = cell_of(tmp_path, 3)
    other = MotionGroup("other", MotionCommand(part="arm2", position=(1.0, 0, 0), duration=2.0))
    session.add(slow(2), other)
    session.start("go", "other")
    cell.step(200)
    cell.server.core.connection.at().profilers.paused.add(0)
    queue = cell.executor.channel.memory.motion_queues[0]
    queue["head"], queue["tail"] = head, tail
    q = positions(cell, 3, 2000)
    assert np.isfinite(q).all()
    np.testing.assert_allclose(q[-1, 2], (1.0, 0.0, 0.0), atol=1e-12)
    limits_kept(q)
