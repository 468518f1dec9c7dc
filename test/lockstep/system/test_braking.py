"""From full speed to rest in the time that the limits of each workcell of ours allow; half a second by default."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rules.rule_types import Writer

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell

CONFIG = Path(__file__).parents[3] / "config"
WORKCELLS = sorted(file.stem for file in CONFIG.glob("*.yaml"))


def at_full_speed(cell: LockstepCell, part: str) -> Session:
    """A session whose action moves every joint at its velocity limit, towards the farther end of its range."""
    session = cell.session(part)
    live = cell.part(part)
    position, top = live.position[: live.dof], live.velocity_limit[: live.dof]
    upward = live.position_upper[: live.dof] - position > position - live.position_lower[: live.dof]
    goal = np.where(upward, top, -top)
    session.add(
        Action("go", "velocity_move", velocity=goal.tolist()),
        Action("brake", "stop"),
        Action("fail", "writer", kind=1),
    )
    session.start("go")
    fastest = np.zeros(live.dof)
    while session.value("go.is_done") != 1.0:
        cell.step()
        # a short finger never gets that fast: braked before its end it is as fast as it will be
        if (np.abs(live.commanded_velocity[: live.dof]) < fastest - 1e-9).any():
            break
        fastest = np.abs(live.commanded_velocity[: live.dof])
    if live.dof > 2:
        np.testing.assert_allclose(live.commanded_velocity[: live.dof], goal, err_msg="it goes at full speed")
    assert live.at_rest == 0.0
    return session


def stop(cell: LockstepCell, session: Session) -> None:
    session.start("brake")


def fail(cell: LockstepCell, session: Session) -> None:
    session.start("fail")


def close(cell: LockstepCell, session: Session) -> None:
    session.close()


def disable(cell: LockstepCell, session: Session) -> None:
    cell.server.set_motion(list(session.parts), "disable")


def lose_server(cell: LockstepCell, session: Session) -> None:
    cell.server.detach("it is gone")


WAYS = (stop, fail, close, disable, lose_server)
BY_LOOP = (fail, disable)
"""An action fails here by a command that is not finite: its part is faulted. See "What brakes" in docs/safety.md."""
CASES = [
    (workcell, how)
    for i, workcell in enumerate(WORKCELLS)
    for k, how in enumerate(WAYS)
    if workcell in ("arm7", "panda") or k == i % len(WAYS)
]
"""All ways with two robots, and one with each of the others: what differs between these are the limits."""


@pytest.mark.long
@pytest.mark.parametrize(("workcell", "how"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_a_part_at_full_speed_comes_to_rest_in_time(
    workcell: str, how: Callable[[LockstepCell, Session], None]
) -> None:
    file = CONFIG / f"{workcell}.yaml"
    parts = [part.name for part in load_workcell(file, "mock").parts if part.dof]
    assert parts
    for part in parts:
        comes_to_rest(file, part, how)


def time_to_rest(part: PartDescription, how: Callable[[LockstepCell, Session], None]) -> float:
    """[s] from full speed, as in docs/safety.md: by the system limits if the loop brakes, else with limited jerk."""
    live, system = part.record, part.system_limits
    speed = live.velocity_limit[: part.dof]
    if how in BY_LOOP:
        assert not system.jerk[: part.dof].any()
        return float((speed / system.acceleration[: part.dof]).max())
    acceleration = live.acceleration_limit[: part.dof]
    return float((speed / acceleration + acceleration / live.jerk_limit[: part.dof]).max())


def comes_to_rest(file: Path, part: str, how: Callable[[LockstepCell, Session], None]) -> None:
    with LockstepCell(file, action_types=[Writer]) as cell:
        session = at_full_speed(cell, part)
        live, limits = cell.part(part), cell.workcell.part(part).system_limits
        allowed = time_to_rest(cell.workcell.part(part), how)
        how(cell, session)
        v = live.commanded_velocity[: live.dof].copy()
        for _ in range(math.ceil(allowed / cell.workcell.period)):
            cell.executor.step(1)
            change = np.abs(live.commanded_velocity[: live.dof] - v)
            assert (change <= limits.acceleration[: live.dof] * cell.workcell.period * (1 + 1e-6)).all()
            assert (live.commanded_position[: live.dof] <= limits.position_upper[: live.dof] + 1e-9).all()
            assert (live.commanded_position[: live.dof] >= limits.position_lower[: live.dof] - 1e-9).all()
            v = live.commanded_velocity[: live.dof].copy()
        cell.executor.step(1)
        assert live.at_rest == 1.0
        rest = live.position[: live.dof].copy()
        cell.executor.step(100)
        np.testing.assert_allclose(live.position[: live.dof], rest, atol=2e-3, err_msg="it stays")
