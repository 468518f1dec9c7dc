"""Rules L7, L8 and L33 of docs/semantics/limits.md: a limit of jerk, efforts near a limit, commands out of reach."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rules.changed_workcell import changed_workcell

from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode

DT = 1e-3
POSITION, VELOCITY, EFFORT = (int(mode) for mode in (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT))
JERK = np.array([60.0, 200.0])


@pytest.fixture
def smooth(tmp_path: Path) -> Iterator[LockstepCell]:
    with LockstepCell(changed_workcell(tmp_path, {"parts/left/system_limits": {"jerk": JERK.tolist()}})) as made:
        yield made


def step_and_check(cell: LockstepCell, ticks: int) -> None:
    """Run ticks in which velocity, acceleration, jerk and range hold."""
    live, limits = cell.part("left"), cell.workcell.part("left").system_limits
    for _ in range(ticks):
        v, a = live.commanded_velocity[:2].copy(), live.commanded_acceleration[:2].copy()
        cell.step()
        new = live.commanded_velocity[:2]
        acceleration = (new - v) / DT
        assert (np.abs(new) <= limits.velocity[:2] * (1 + 1e-12)).all()
        assert (np.abs(acceleration) <= limits.acceleration[:2] * (1 + 1e-9)).all()
        assert (np.abs(acceleration - a) <= JERK * DT * (1 + 1e-6)).all()
        assert (live.commanded_position[:2] <= limits.position_upper[:2] + 1e-9).all()
        assert (live.commanded_position[:2] >= limits.position_lower[:2] - 1e-9).all()


@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_L7_wild_commands_leave_within_the_limit_of_jerk_and_stop_at_the_end(smooth: LockstepCell, mode: int) -> None:
    session = smooth.session("left")
    session.add(Action("up", "writer", mode=mode, value=1e9), Action("down", "writer", mode=mode, value=-1e9))
    session.start("up")
    step_and_check(smooth, 700)
    session.start("down")
    step_and_check(smooth, 900)
    session.start("up")
    step_and_check(smooth, 3500)
    np.testing.assert_allclose(smooth.part("left").position[:2], [1.0, 2.0], atol=1e-6)
    assert not smooth.kinds("part_faulted")


@pytest.mark.parametrize("how", ["fault", "disable", "protective stop"])
def test_L7_the_loop_itself_brakes_within_it_and_comes_to_rest(smooth: LockstepCell, how: str) -> None:
    session = smooth.session("left")
    session.add(Action("go", "velocity_move", velocity=[0.6, -0.8]), Action("bad", "writer", kind=1))
    session.start("go")
    step_and_check(smooth, 500)
    if how == "fault":
        session.start("bad")
    elif how == "disable":
        smooth.server.set_motion(["left"], "disable")
    else:
        smooth.server.protective_stop(True)
    step_and_check(smooth, 350)
    live = smooth.part("left")
    assert not live.commanded_velocity[:2].any() and not live.commanded_acceleration[:2].any()
    rest = live.position[:2].copy()
    smooth.step(100)
    assert (live.position[:2] == rest).all()


@pytest.mark.parametrize("which", ["cell", "smooth"])
def test_L33_a_command_out_of_reach_is_come_to_and_not_swung_about(which: str, request: pytest.FixtureRequest) -> None:
    one: LockstepCell = request.getfixturevalue(which)
    session = one.session("left")
    session.add(Action("far", "writer", mode=POSITION, value=0.4), Action("back", "writer", mode=POSITION, value=-0.3))
    live = one.part("left")
    for action, ticks in (("far", 350), ("back", 2500), ("far", 2500)):
        session.start(action)
        one.step(ticks)
    np.testing.assert_allclose(live.commanded_position[:2], 0.4, atol=1e-9)
    assert not live.commanded_velocity[:2].any() and not one.kinds("part_faulted")


def test_L7_a_motion_that_keeps_it_is_not_touched(smooth: LockstepCell, cell: LockstepCell) -> None:
    positions = []
    for one in (smooth, cell):
        session = one.session("left")
        session.add(Action("go", "move_joint", position=[0.9, -1.9]))
        session.start("go")
        run = []
        for _ in range(2500):
            one.step()
            run.append(one.written("left")["left/x/position"])
        positions.append(run)
    assert positions[0] == positions[1]


# --- L8 ------------------------------------------------------------------------------------------


def effort_cell(folder: Path, inertia: float) -> LockstepCell:
    return LockstepCell(
        changed_workcell(
            folder,
            {
                "devices/second/mock": {"inertia": inertia},
                "parts/right/command_modes": ["effort"],
                "parts/right/default_action": "idle",
                "parts/right/safety_action": "idle",
            },
        )
    )


# The limits say that 100 N accelerate it with 4.8 m/s^2, so at most 20.8 kg; the lighter it is the harder to hold.
@pytest.mark.long
@pytest.mark.parametrize(("inertia", "push"), [(20.0, 100.0), (2.0, -100.0), (0.4, 30.0)])
def test_L8_an_effort_towards_the_end_brakes_there_without_a_fault(tmp_path: Path, inertia: float, push: float) -> None:
    with effort_cell(tmp_path, inertia) as cell:
        session = cell.session("right")
        session.add(Action("push", "writer", mode=EFFORT, value=push))
        session.start("push")
        live, limits = cell.part("right"), cell.workcell.part("right").system_limits
        farthest = fastest = last = 0.0
        for _ in range(4000):
            cell.step()
            effort = cell.written("right")["right/y/effort"]
            assert abs(effort) <= limits.effort[0]
            assert abs(effort - last) <= limits.effort_rate[0] * DT * (1 + 1e-12)
            last = effort
            farthest = max(farthest, abs(float(live.position[0])))
            fastest = max(fastest, abs(float(live.velocity[0])))
        assert not cell.kinds("part_faulted"), cell.kinds("part_faulted")
        assert farthest <= 1.0 + 1e-3 and farthest > 0.99
        assert abs(float(live.velocity[0])) < 0.02
        assert live.position[0] == pytest.approx(math.copysign(1.0, push), abs=5e-3)


def test_L8_a_part_with_efforts_alone_is_braked_by_a_damper(tmp_path: Path) -> None:
    with effort_cell(tmp_path, 20.0) as cell:
        session = cell.session("right")
        session.add(Action("push", "writer", mode=EFFORT, value=60.0))
        session.start("push")
        cell.step(150)
        live = cell.part("right")
        assert live.velocity[0] > 0.3
        cell.server.protective_stop(True)
        cell.step(600)
        assert abs(float(live.velocity[0])) < 0.01 and not cell.kinds("part_faulted")


def test_L8_efforts_far_from_any_limit_are_not_touched(tmp_path: Path) -> None:
    with effort_cell(tmp_path, 1e6) as cell:
        session = cell.session("right")
        session.add(Action("push", "writer", mode=EFFORT, value=100.0))
        session.start("push")
        cell.step(100)
        assert cell.written("right")["right/y/effort"] == 100.0
