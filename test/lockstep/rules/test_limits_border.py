"""Rules L5, L17 and L18 of docs/semantics: a part that still brakes is enabled at rest; the border at the hardware.

Every test in lockstep watches the border, see watched_border.py. These drive parts to where it might be violated.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty_device import PLUGIN, spoil
from random_moments import HOME, commands_at_random
from rules.changed_workcell import changed_workcell
from samples import tries

from robot_rt_control.client.actions import Action
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.testing.border_watch import BorderWatch
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, RobotControlError

SPEED = 0.9
HOSTED = "robot_rt_control.hardware.mock_plugin:MockPlugin"


def state(cell: LockstepCell, part: str = "left") -> str:
    return OperationalState(int(cell.part(part).operational_state)).name.lower()


def going(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", parts="left", speed=SPEED), Action("bad", "writer", parts="left", kind=1))
    session.start("a")
    cell.step(400)
    assert cell.part("left").commanded_velocity[0] == pytest.approx(SPEED)


def disable(cell: LockstepCell) -> None:
    cell.server.set_motion(["left"], "disable")
    cell.step()


def fault(cell: LockstepCell) -> None:
    cell.set_sensor("left/x/position", float(cell.part("left").position[0]) - 0.1)  # a jump: as fast as nothing may be
    cell.step()
    assert state(cell) == "faulted"


def stop(cell: LockstepCell) -> None:
    cell.server.protective_stop(True)
    cell.step()
    disable(cell)
    cell.server.protective_stop(False)


@pytest.mark.parametrize("how", [disable, fault, stop])
def test_L17_a_part_that_still_brakes_is_enabled_once_it_is_at_rest(
    cell: LockstepCell, how: Callable[[LockstepCell], None]
) -> None:
    going(cell)
    how(cell)
    cell.step(5)
    live, limits = cell.part("left"), cell.workcell.part("left").system_limits
    if how is fault:
        cell.server.set_motion(["left"], "clear_faults")
    cell.server.set_motion(["left"], "enable")
    speed = live.commanded_velocity[0]
    assert speed > 0.8
    ticks = 0
    while state(cell) != "enabled":
        cell.step()
        ticks += 1
        change = live.commanded_velocity[0] - speed
        assert -limits.acceleration[0] * 1e-3 * (1 + 1e-9) <= change <= 0.0, "it brakes, as fast as before"
        speed = live.commanded_velocity[0]
        assert ticks < 400
    assert speed == 0.0 and ticks > 150 and np.all(live.position[:2] == live.commanded_position[:2])
    assert len(cell.kinds("part_enabled")) == 1


def test_L17_enabling_answers_when_the_part_is_at_rest_and_enabled(workcell: Workcell) -> None:
    with LockstepCell(workcell, gated=False) as cell:
        going(cell)
        cell.server.set_motion(["left"], "disable")
        tick, live = cell.tick, cell.part("left")
        assert live.commanded_velocity[0] > 0.8
        cell.server.set_motion(["left"], "enable")
        assert state(cell) == "enabled" and live.commanded_velocity[0] == 0.0 and cell.tick > tick + 150
        going_on = cell.session("right")
        going_on.add(Action("b", "probe", parts="right", speed=0.5))
        going_on.start("b")
        cell.step(200)
        cell.server.set_motion([], "disable")
        cell.step(2)
        assert cell.server.set_motion([], "enable") == ""
        assert state(cell, "right") == state(cell) == "enabled"


def test_L17_disabling_ends_the_waiting(cell: LockstepCell) -> None:
    going(cell)
    disable(cell)
    cell.server.set_motion(["left"], "enable")
    cell.step(20)
    cell.server.set_motion(["left"], "disable")
    cell.step(1000)
    assert state(cell) == "disabled" and not cell.kinds("part_enabled")


def test_L17_no_action_starts_before_it_is_enabled(cell: LockstepCell) -> None:
    going(cell)
    session = cell.server.sessions()[0]
    disable(cell)
    cell.server.set_motion(["left"], "enable")
    cell.step(10)
    cell.server.close_session(session.id)
    other = cell.session("left")
    other.add(Action("c", "probe", speed=-0.5))
    other.start("c")
    cell.step()
    assert [e.reason for e in cell.kinds("command_refused")] == ["the motion of a part is not enabled"]
    cell.step(400)
    other.start("c")
    cell.step()
    assert cell.active("left") == "c"


def test_L17_a_part_that_does_not_come_to_rest_is_not_enabled(tmp_path: Path) -> None:
    """Efforts alone: something drives the joint, however much its damper brakes."""
    changes: dict[str, Any] = {f"devices/{device}/{PLUGIN}": {} for device in ("first", "second")}
    changes["parts/left/command_modes"] = ["effort"]
    changes["parts/left/default_action"] = changes["parts/left/safety_action"] = "idle"
    with LockstepCell(changed_workcell(tmp_path, changes, PLUGIN), gated=False) as cell:
        cell.server.set_motion(["left"], "disable")
        spoil(cell, "first", lambda states: states.__setitem__(1, 0.5))
        cell.step(5)
        with pytest.raises(CommandRefused) as refused:
            cell.server.set_motion(["left"], "enable")
        assert re.fullmatch(
            r"enable of part 'left' was refused; expected a part that comes to rest; got one that still moves after "
            r"1\.\d+ s\. Wait until it is at rest, or hold what moves it, then enable",
            str(refused.value),
        )
        assert state(cell) == "disabled"


@pytest.fixture
def damped(tmp_path: Path) -> Iterator[LockstepCell]:
    """The part `left` has effort mode alone, and is disabled and at rest."""
    changes: dict[str, Any] = {f"devices/{device}/{PLUGIN}": {} for device in ("first", "second")}
    changes["parts/left/command_modes"] = ["effort"]
    changes["parts/left/default_action"] = changes["parts/left/safety_action"] = "idle"
    with LockstepCell(changed_workcell(tmp_path, changes, PLUGIN)) as cell:
        cell.server.set_motion(["left"], "disable")
        cell.step(60)
        assert not cell.written("left")
        yield cell


def test_L5_a_disabled_part_with_efforts_alone_that_is_moved_by_hand_gets_no_command(damped: LockstepCell) -> None:
    spoil(damped, "first", lambda states: states.__setitem__(1, 0.1))
    for _ in range(100):
        damped.step()
        assert not damped.written("left"), "its motors would be switched on"


def test_L5_a_part_with_efforts_alone_is_braked_until_it_has_been_at_rest_for_a_while(damped: LockstepCell) -> None:
    damped.server.set_motion(["left"], "enable")
    damped.step(60)
    velocities = itertools.chain([0.5] * 20, [0.0], [-0.5] * 20, itertools.repeat(1e-3))  # it swings, then it is noisy
    spoil(damped, "first", lambda states: states.__setitem__(1, next(velocities)))
    damped.step(2)
    damped.server.set_motion(["left"], "disable")
    ticks = damped.step_until(lambda: not damped.written("left"), at_most=200)
    assert 80 < ticks < 100 and state(damped) == "disabled" and damped.executor._at_rest(), "an executor may end"


def test_L17_a_swing_through_rest_is_no_rest(damped: LockstepCell) -> None:
    velocities = itertools.chain([0.5] * 20, [0.0] * 20, [-0.5] * 20, itertools.repeat(0.0))
    spoil(damped, "first", lambda states: states.__setitem__(1, next(velocities)))
    damped.step(2)
    damped.server.set_motion(["left"], "enable")
    ticks = damped.step_until(lambda: state(damped) == "enabled", at_most=200)
    assert 100 < ticks < 120


def test_L17_an_unknown_velocity_is_no_rest(damped: LockstepCell) -> None:
    velocities = itertools.chain([math.nan] * 100, itertools.repeat(0.0))
    spoil(damped, "first", lambda states: states.__setitem__(1, next(velocities)))
    damped.step(102)
    damped.server.set_motion(["left"], "enable")
    ticks = damped.step_until(lambda: state(damped) == "enabled", at_most=200)
    assert 40 < ticks < 60


def test_L17_recovering_waits_for_rest_or_is_refused(tmp_path: Path) -> None:
    workcell = changed_workcell(tmp_path, {"parts/left/recovery": {"program": HOME}})
    for gated in (True, False):
        with LockstepCell(workcell, gated=gated) as cell:
            going(cell)
            fault(cell)
            cell.server.close_session(cell.server.sessions()[0].id)
            if gated:
                with pytest.raises(CommandRefused, match="expected a part at rest; got one that still brakes"):
                    cell.recoveries.recover(["left"])
                cell.step(400)
            cell.recoveries.recover(["left"])
            cell.step(3000)
            cell.step()
            assert [e.reason for e in cell.kinds("recovery_ended")] == ["done"] and state(cell) == "enabled"


def test_L17_what_was_asked_for_during_a_protective_stop_starts_nothing(cell: LockstepCell) -> None:
    going(cell)
    stop(cell)
    cell.server.protective_stop(True)
    cell.step()
    cell.server.set_motion(["left"], "enable")
    cell.step(2)
    cell.server.protective_stop(False)
    cell.step(400)
    assert state(cell) == "enabled" and cell.active("left") == "none"


def test_L18_the_watch_sees_what_leaves(cell: LockstepCell, border_is_kept: list[BorderWatch]) -> None:
    (watch,) = border_is_kept
    seen = watch.commands
    cell.step(10)
    assert watch.commands - seen == 40, "four joints"
    watch.check()


@pytest.mark.beyond_border("the loop's memory is written")
def test_L18_a_command_that_would_step_is_not_sent_and_faults_the_part(
    cell: LockstepCell, border_is_kept: list[BorderWatch]
) -> None:
    going(cell)
    before = cell.part("left").commanded_position[0]
    cell.part("left").commanded_position[0] += 0.01  # as a mistake in the loop might do
    cell.step()
    assert [(e.part, e.reason) for e in cell.kinds("part_faulted")] == [
        ("left", "a command beyond the system limits was not sent (x)")
    ]
    assert 0.0 < cell.written("left")["left/x/position"] - before < SPEED * 1e-3
    cell.step(500)
    border_is_kept[0].check()
    assert cell.part("left").at_rest == 1.0


@pytest.mark.sampled
@pytest.mark.parametrize("hardware", [None, HOSTED])
@pytest.mark.parametrize("seed", range(tries(3, whole=6)))
def test_L18_nothing_is_beyond_the_border_at_random_moments_of_random_motions(
    tmp_path: Path, border_is_kept: list[BorderWatch], seed: int, hardware: str | None
) -> None:
    changes: dict[str, Any] = {"parts/left/recovery": {"program": HOME}}
    if seed % 3 == 1:
        changes["parts/left/system_limits"] = {"jerk": [80.0, 160.0]}
    if seed % 3 == 2:
        changes["parts/right/command_modes"] = ["velocity"]
        changes["parts/right/default_action"] = changes["parts/right/safety_action"] = "idle"
    random = np.random.default_rng(seed)
    with LockstepCell(changed_workcell(tmp_path, changes, hardware)) as cell:
        commands_at_random(cell, random, tries(200, whole=400), ("left", "right"))
        assert cell.kinds("part_enabled") and cell.kinds("part_faulted")
    assert border_is_kept[0].commands > 10_000
    border_is_kept[0].check()


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(tries(1, whole=3)))
def test_L18_nothing_is_beyond_the_border_with_drives(border_is_kept: list[BorderWatch], seed: int) -> None:
    file = Path(__file__).parent / "drives_workcell.yaml"
    random = np.random.default_rng(seed)
    with LockstepCell(load_workcell(file)) as cell:
        session = cell.session("left", "right")
        session.add(
            Action("a", "move_joint", parts="left", position=[0.4, 1.5, 0.6]),
            Action("b", "move_joint", parts="left", position=[-0.4, -1.5, 0.1]),
        )
        for _ in range(200):
            command = str(random.choice(["a", "b", "disable", "enable", "clear_faults"]))
            with contextlib.suppress(RobotControlError):
                if command in "ab":
                    session.start(command)
                else:
                    cell.server.set_motion(["left"], command)
            cell.step(int(random.choice([1, 2, 5, 20, 100])))
        assert cell.kinds("part_enabled")
    assert border_is_kept[0].commands > 10_000
    border_is_kept[0].check()
