"""Rule T5 of docs/semantics/tick.md: an action continues from the motion at the end of the last command."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hand_over import DT, MOTIONS, PARTS, SPARE, WITHIN, HandOver, excess

from robot_rt_control.client.actions import Action

FOLLOWERS = ("back", "up", "stop")
AT_A_TIME = PARTS // len(FOLLOWERS)


@pytest.fixture(scope="module")
def shared() -> Iterator[HandOver]:
    made = HandOver()
    with made.cell:
        yield made


@pytest.fixture
def moving(shared: HandOver) -> Iterator[HandOver]:
    """All parts at rest at 0, override 1."""
    yield shared
    shared.cell.server.set_speed(1.0)
    shared.step(2000 if shared.world.speed != 1.0 else 1)
    shared.rest()
    shared.take()


def test_T5_a_motion_taken_over_at_any_of_its_ticks_keeps_the_limits(moving: HandOver) -> None:
    moving.start("far0")
    moving.step(2)
    while moving.world.parts[0].commanded_velocity[:2].any():
        moving.step()
    q, _ = moving.take()
    duration = len(q)
    moving.rest()
    q = q[:, 0, 0]
    assert 200 < duration < 400 and (np.abs(np.diff(q) / DT) > 0.999).any(), "it speeds up, cruises and brakes"
    moving.take()
    for first in range(0, duration, AT_A_TIME):
        moving.start(*(f"far{i}" for i in range(PARTS)))
        moving.step(first + 1)
        for k in range(AT_A_TIME):
            moving.start(*(f"{name}{k * len(FOLLOWERS) + i}" for i, name in enumerate(FOLLOWERS)))
            moving.step()
        moving.step(10)
        moving.rest()
    q, speeds = moving.take()
    assert (excess(q, speeds * DT) <= WITHIN).all()


def test_T5_a_thousand_random_switches_of_motions_and_laws_keep_the_limits(moving: HandOver) -> None:
    assert moving.switch(Random(5), 600) >= 1000
    q, speeds = moving.take()
    assert (speeds == 1.0).all() and np.abs(np.diff(q, axis=0)).max() > 0.9 * DT
    assert (excess(q, speeds * DT) <= WITHIN).all()


def test_T5_so_they_do_in_the_time_of_the_actions_while_the_override_changes(moving: HandOver) -> None:
    random = Random(6)
    moving.cell.server.set_speed(0.5)
    moving.step(5)
    moving.take()
    for _ in range(20):
        moving.cell.server.set_speed(random.choice((1.0, random.uniform(0.2, 0.95))))
        moving.switch(random, random.randint(10, 80))
    q, speeds = moving.take()
    assert len(np.unique(speeds)) > 100, "it changes nearly all the time"
    assert (excess(q, speeds * DT) <= WITHIN).all()


@pytest.mark.parametrize("speed", [0.4, 1.0])
def test_T5_a_safety_action_takes_over_as_well_at_any_override(moving: HandOver, speed: float) -> None:
    """It moves in real time."""
    moving.cell.server.set_speed(speed)
    moving.step(5)
    moving.take()
    sessions = [moving.cell.session(f"p{PARTS + i}") for i in range(SPARE)]
    for session in sessions:
        session.add(Action("up", "velocity_move", velocity=[0.5, -1.9]))
        session.start("up")
    moving.step(3)
    for session in sessions:
        moving.step(int(17 / speed))
        session.close()
    moving.step(300)
    q, _ = moving.take()
    assert (np.abs(q[-1, PARTS:]) > 5e-4).all() and (q[-1] == q[-2]).all()
    assert (excess(q, np.full(len(q), DT)) <= WITHIN).all()


def test_T5_every_motion_takes_over_from_every_other(moving: HandOver) -> None:
    for first in MOTIONS:
        for second in MOTIONS:
            moving.start(*(f"up{i}" for i in range(8)))
            moving.step(60)
            moving.start(*(f"{first}{i}" for i in range(8)))
            for i in range(8):
                moving.step(3)
                moving.start(f"{second}{i}")
            moving.step(3)
    q, speeds = moving.take()
    assert (excess(q, speeds * DT) <= WITHIN).all()
