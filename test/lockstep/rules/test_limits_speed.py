"""Rules L10 and L24 of docs/semantics: the speed override slows motions down on their path, without a jolt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from arms_cell import cell_of, go

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.defaults import ACCELERATION_MARGIN, JERK_MARGIN

ARM7 = Path(__file__).parents[3] / "config" / "arm7.yaml"
DT = 1e-3
FAR = [0.8, -0.2, 0.5, -1.8, 0.4, 1.3, -0.6]

MOTIONS: dict[str, tuple[dict[str, Any], float]] = {
    "move_joint": ({"position": FAR}, 1e-9),
    "sine_wave": ({"joint": 3, "amplitude": 0.2, "frequency": 0.5}, 1e-9),
    "velocity_move": ({"velocity": [0.3, -0.1, 0.0, 0.2, 0.0, 0.1, -0.4]}, 2e-3),
    "velocity_move of the tool": ({"linear": [0.05, 0.1, -0.05]}, 2e-3),
    "move_linear": ({"offset": [0.05, 0.1, -0.05], "speed": 0.2}, 2e-3),
    "track_trajectory": ({"times": [0.0, 1.0, 2.0]}, 1e-9),
}
"""Motion → parameters, and how far [rad] a joint may be off its path: those that integrate velocities are a little."""


@pytest.fixture
def arm() -> Iterator[LockstepCell]:
    with LockstepCell(ARM7) as made:
        yield made


def start(cell: LockstepCell, motion: str) -> Session:
    parameters, _ = MOTIONS[motion]
    kind = motion.split()[0]
    q = cell.part("arm").position[:7].copy()
    if kind == "track_trajectory":
        way = np.array([[0.0] * 7, [0.3, 0.1, -0.2, -0.2, 0.1, 0.2, 0.3], [0.1, 0.2, 0.1, -0.4, 0.0, 0.1, 0.5]])
        parameters = {**parameters, "positions": (q + way).ravel().tolist()}
    session = cell.session("arm")
    session.add(Action("go", kind, **parameters))
    session.start("go")
    return session


def path(cell: LockstepCell, ticks: int) -> tuple[np.ndarray, np.ndarray]:
    """The next ticks: the actions' time that has passed [s], and the joints' commands."""
    live, world = cell.part("arm"), cell.executor.world.memory
    times, commands, limits = [], [], cell.workcell.part("arm").system_limits
    passed = 0.0
    v = live.commanded_velocity[:7].copy()
    for _ in range(ticks):
        cell.step()
        passed += float(world.speed) * DT
        times.append(passed)
        commands.append(live.commanded_position[:7].copy())
        change = np.abs(live.commanded_velocity[:7] - v)
        assert (change <= limits.acceleration[:7] * DT * (1 + 1e-9)).all()
        v = live.commanded_velocity[:7].copy()
    return np.array(times), np.array(commands)


def nominal(motion: str, ticks: int) -> tuple[np.ndarray, np.ndarray]:
    with LockstepCell(ARM7) as cell:
        start(cell, motion)
        return path(cell, ticks)


def deviation(reference: tuple[np.ndarray, np.ndarray], run: tuple[np.ndarray, np.ndarray]) -> float:
    """Largest distance of a run from the path, at equal times of the action."""
    times, commands = reference
    inside = run[0] <= times[-1]
    on_path = np.stack([np.interp(run[0][inside], times, commands[:, j]) for j in range(7)], axis=1)
    return float(np.abs(run[1][inside] - on_path).max())


@pytest.mark.parametrize("motion", MOTIONS)
def test_L10_the_path_is_the_same_at_a_quarter_of_the_speed(arm: LockstepCell, motion: str) -> None:
    reference = nominal(motion, 1000)
    arm.server.set_speed(0.25)
    arm.step()
    assert arm.executor.world.memory.speed == 0.25, "at once: nothing moves"
    session = start(arm, motion)
    run = path(arm, 4000)
    times = run[0][3::4]
    np.testing.assert_allclose(times, reference[0], atol=1e-9)
    assert np.abs(run[1][3::4] - reference[1]).max() <= MOTIONS[motion][1]
    assert np.abs(reference[1] - reference[1][0]).max() > 0.05, "it does move"
    assert session.ended is None and not arm.kinds("part_faulted")


@pytest.mark.long
@pytest.mark.parametrize("motion", MOTIONS)
def test_L10_the_path_is_the_same_however_the_speed_changes_and_it_stands_at_0(
    arm: LockstepCell, motion: str
) -> None:
    random = Random(motion)
    reference = nominal(motion, 2500)
    start(arm, motion)
    times, commands, passed = [], [], 0.0
    for speed in (1.0, 0.0, 0.7, 0.1, 1.0, 0.0, *(random.choice((0.0, 0.25, 0.5, 1.0)) for _ in range(6)), 1.0):
        arm.server.set_speed(speed)
        t, q = path(arm, 600 if speed == 0.0 else random.randint(50, 300))
        times.append(t + passed)
        commands.append(q)
        passed = float(times[-1][-1])
        if speed == 0.0:
            assert arm.executor.world.memory.speed == 0.0
            assert (q[-50:] == q[-1]).all(), "it stands"
    run = np.concatenate(times), np.concatenate(commands)
    # Between two ticks of the reference the path is curved: a (dt / 2)^2 / 2 beside the chord.
    assert deviation(reference, run) <= MOTIONS[motion][1] + 2e-6
    assert not arm.kinds("part_faulted")


def test_L10_a_step_from_full_speed_to_0_takes_less_than_half_a_second(arm: LockstepCell) -> None:
    start(arm, "move_joint")
    arm.step(300)
    world = arm.executor.world.memory
    arm.server.set_speed(0.0)
    speeds = []
    while world.speed > 0.0:
        arm.step()
        speeds.append(float(world.speed))
        assert len(speeds) < 500
    assert (np.diff([1.0, *speeds]) < 0.0).all() and len(speeds) > 100
    assert arm.view.speed == 0.0 and not arm.part("arm").commanded_velocity[:7].any()


def test_L10_an_override_next_to_nothing_is_0_and_ends_no_action(arm: LockstepCell) -> None:
    session = arm.session("arm")
    session.add(Action("go", "follow_joint_stream"))
    session.start("go")
    session.stream("go", "goal").write(FAR)
    arm.step(100)
    for speed, taken in ((5e-324, 0.0), (1e-308, 0.0), (1e-6, 1e-6), (1.0, 1.0)):
        arm.server.set_speed(speed)
        arm.step(700)
        assert arm.executor.world.memory.speed == taken
    assert session.ended is None and session.active == ("go",)


def test_L10_conditions_read_the_speed_as_it_is(arm: LockstepCell) -> None:
    session = arm.session("arm")
    session.add(Action("go", "move_joint", position=FAR), reactions=[Reaction("speed < 0.5", event="slow")])
    session.start("go")
    arm.step(300)
    arm.server.set_speed(0.0)
    asked = arm.step()
    arm.step(500)
    (slow,) = arm.fired("slow")
    assert slow.tick > asked + 50


@pytest.mark.parametrize("speed", [0.2, 0.5])
def test_L10_an_action_that_takes_over_at_reduced_speed_goes_on_without_a_jolt(arm: LockstepCell, speed: float) -> None:
    arm.server.set_speed(speed)
    arm.step()
    session = arm.session("arm")
    session.add(Action("go", "move_joint", position=FAR), Action("other", "move_joint", position=[0.0] * 7))
    session.start("go")
    path(arm, int(300 / speed))
    live = arm.part("arm")
    before = live.commanded_velocity[:7].copy()
    assert np.abs(before).max() > 0.1
    session.start("other")
    arm.step()
    planned = live.acceleration_limit[:7] * speed**2  # what a plan in the action's time needs
    assert (np.abs(live.commanded_velocity[:7] - before) <= planned * DT * (1 + 1e-6)).all()
    path(arm, int(3000 / speed))
    np.testing.assert_allclose(live.position[:7], 0.0, atol=1e-6)


def test_L10_a_safety_action_brings_to_rest_as_fast_at_any_speed(arm: LockstepCell) -> None:
    arm.server.set_speed(0.1)
    arm.step()
    session = arm.session("arm")
    session.add(Action("go", "move_joint", position=FAR))
    session.start("go")
    arm.step(3000)
    live = arm.part("arm")
    assert np.abs(live.commanded_velocity[:7]).max() > 0.01
    session.close()
    arm.step(100)
    assert arm.active("arm") == "safety" and not live.commanded_velocity[:7].any()


STREAMS: dict[str, list[float]] = {
    "follow_joint_stream": [0.5, 0.4, 0.5, 0.4, 0.5, 0.4, 0.5],
    "follow_joint_velocity_stream": [0.5, -0.4, 0.5, -0.4, 0.5, -0.4, 0.5],
    "follow_twist_stream": [0.05, 0.1, -0.05, 0.1, 0.0, -0.1],
}
"""Follower → how far its goal swings: about the start, or about 0."""


def swing(k: int) -> float:
    """From -1 to 1 and back, now and then at once."""
    return float(np.sin(0.004 * k)) if k % 1400 < 1000 else -1.0


def needs(cell: LockstepCell, parts: list[str], ticks: int, change: Random | None, goal: Any = None) -> np.ndarray:
    """Largest acceleration and jerk that left in these ticks, as fractions of what applications plan with.

    Args:
        change: the override is changed at these moments: to 0 and back, and while it still changes.
        goal: called before each tick with its number.
    """
    rows = []
    live = [cell.part(p) for p in parts]
    for k in range(ticks):
        if change is not None and change.random() < 0.012:
            now = float(cell.executor.world.memory.speed)
            cell.server.set_speed(change.choice((0.0, 0.0, 1.0, 1.0, now, change.random())))
        if goal is not None:
            goal(k)
        cell.step()
        rows.append(np.concatenate([part.commanded_position[: part.dof] for part in live]))
    a, jerk = (np.concatenate([part[f][: part.dof] for part in live]) for f in ("acceleration_limit", "jerk_limit"))
    q = np.array(rows)
    return np.array([(np.abs(np.diff(q, n, axis=0)) / DT**n / limit).max() for n, limit in ((2, a), (3, jerk))])


def assert_no_jolt(changed: np.ndarray, constant: np.ndarray) -> None:
    """What a motion needs beside its own, while the override changes."""
    most = np.maximum(constant, [ACCELERATION_MARGIN, JERK_MARGIN])
    assert (changed <= 1.02 * most).all(), f"{changed} of acceleration and jerk; at a constant override {constant}"


@pytest.mark.parametrize("motion", MOTIONS)
def test_L24_no_motion_jolts_however_the_speed_changes(motion: str) -> None:
    found = []
    for change in (None, Random(motion)):
        with LockstepCell(ARM7) as cell:
            start(cell, motion)
            found.append(needs(cell, ["arm"], 2500, change))
            assert not cell.kinds("part_faulted") and not cell.kinds("action_failed")
    assert_no_jolt(found[1], found[0])


@pytest.mark.parametrize("follower", STREAMS)
def test_L24_no_follower_of_a_stream_jolts_however_the_speed_changes(follower: str) -> None:
    reach = STREAMS[follower]
    found = []
    for change in (None, Random(follower)):
        with LockstepCell(ARM7) as cell:
            session = cell.session("arm")
            session.add(Action("go", follower))
            session.start("go")
            stream = session.stream("go", "goal")
            begin = cell.part("arm").position[:7].copy() if follower == "follow_joint_stream" else np.zeros(len(reach))

            def goal(k: int) -> None:
                if k % 10 == 0:
                    stream.write((begin + swing(k) * np.array(reach)).tolist())  # noqa: B023

            found.append(needs(cell, ["arm"], 3000, change, goal))
            assert not cell.kinds("part_faulted") and not cell.kinds("action_failed")
    assert_no_jolt(found[1], found[0])


@pytest.mark.parametrize("options", [{}, {"finish": "together"}, {"profile": "async"}])
def test_L24_no_motion_group_jolts_however_the_speed_changes(tmp_path: Path, options: dict[str, Any]) -> None:
    found = []
    for change in (None, Random(str(options))):
        cell, session = cell_of(tmp_path, 3)
        session.add(go(3, **options), go(3, "back", -1.0, **options))
        session.start("go")
        found.append(needs(cell, ["arm0", "arm1", "arm2"], 800, change))
        session.start("back")
        found[-1] = np.maximum(found[-1], needs(cell, ["arm0", "arm1", "arm2"], 2500, change))
        assert not cell.kinds("part_faulted") and not cell.kinds("action_failed")
        cell.close()
    assert_no_jolt(found[1], found[0])


def test_L24_braking_by_the_default_action_goes_on_without_a_jolt_also_after_the_speed_was_0(
    arm: LockstepCell,
) -> None:
    session = start(arm, "move_joint")
    arm.step(500)
    session.stop("go")
    arm.step(40)
    assert arm.active("arm") == "default" and arm.part("arm").commanded_velocity[:7].any()
    found = []
    for speed, ticks in ((0.0, 600), (1.0, 60), (0.2, 100), (1.0, 800)):
        arm.server.set_speed(speed)
        found.append(needs(arm, ["arm"], ticks, None))
    assert_no_jolt(np.max(found, axis=0), np.ones(2))
    assert not arm.part("arm").commanded_velocity[:7].any() and arm.executor.world.memory.speed == 1.0
