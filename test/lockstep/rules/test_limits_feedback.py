"""Rules L19 to L23 of docs/semantics: measured motion that cannot be believed, or is not the commanded one."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty_device import PLUGIN, spoil
from rules.changed_workcell import changed_workcell

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError

VELOCITY, EFFORT = int(CommandMode.VELOCITY), int(CommandMode.EFFORT)
SPEED = 0.4
POSITIONS, VELOCITIES = slice(0, 6, 3), slice(1, 6, 3)
"""Of the two joints of the part `left` among the states of its device, which begin with position, velocity, effort."""
UNKNOWN = "a measured position or velocity is not a number"
FOLLOWING = "a joint does not follow its command"
FROZEN = "the measured state of a joint does not change although it is commanded to move"
JUMPED = "a measured position jumped"
MODES = ("position", "velocity")
Spoil = Callable[[np.ndarray], None]


def make(folder: Path, **changes: Any) -> LockstepCell:
    plugin = {f"devices/{device}/{PLUGIN}": {"damping": 20.0} for device in ("first", "second")}
    return LockstepCell(changed_workcell(folder, plugin | changes, PLUGIN))


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[LockstepCell]:
    with make(tmp_path) as made:
        yield made


def going(cell: LockstepCell, mode: str = "position", value: float = SPEED, ticks: int = 400) -> Session:
    session = cell.session("left", "right")
    session.add(
        Action("position", "probe", parts="left", speed=value),
        Action("velocity", "writer", parts="left", mode=VELOCITY, value=value),
        Action("effort", "writer", parts="left", mode=EFFORT, value=value),
        Action("other", "probe", parts="right", speed=0.05),
    )
    session.start(mode, "other")
    cell.step(ticks)
    assert not faults(cell)
    return session


def faults(cell: LockstepCell) -> list[tuple[str, str]]:
    return [(e.part, e.reason) for e in cell.kinds("part_faulted")]


def state(cell: LockstepCell, part: str = "left") -> str:
    return OperationalState(int(cell.part(part).operational_state)).name.lower()


def ticks_to_fault(cell: LockstepCell, at_most: int) -> int:
    return cell.step_until(lambda: bool(cell.kinds("part_faulted")), at_most=at_most)


def unknown(*places: int | slice) -> Spoil:
    def change(states: np.ndarray) -> None:
        for place in places:
            states[place] = math.nan

    return change


def frozen() -> Spoil:
    kept: list[np.ndarray] = []

    def change(states: np.ndarray) -> None:
        kept.append(states[:6].copy())
        states[:6] = kept[0]

    return change


def blocked() -> Spoil:
    """As real encoders show it: not quite still."""
    kept: list[np.ndarray] = []

    def change(states: np.ndarray) -> None:
        kept.append(states[:6].copy())
        noise = 1e-5 * (-1.0) ** len(kept)
        states[POSITIONS], states[VELOCITIES] = kept[0][POSITIONS] + noise, noise

    return change


# --- L19: what is not known ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("places", [(0,), (POSITIONS,), (4,), (VELOCITIES,), (POSITIONS, VELOCITIES)])
def test_L19_an_unknown_position_or_velocity_is_a_fault_in_that_tick(
    faulty: LockstepCell, mode: str, places: tuple[int | slice, ...]
) -> None:
    session = going(faulty, mode)
    spoil(faulty, "first", unknown(*places))
    faulty.step()
    joint = "turn" if places == (4,) else "x"
    assert faults(faulty) == [("left", f"{UNKNOWN} ({joint})")]
    assert state(faulty, "right") == "enabled" and session.value("other.controls") > 400.0
    with pytest.raises(CommandRefused, match="enable of part 'left' was refused; got a measured position or velocity"):
        faulty.server.set_motion(["left"], "enable")
    faulty.server.set_motion(["left"], "clear_faults")
    faulty.step()
    assert state(faulty) == "faulted", "its cause persists"
    spoil(faulty, "first", None)
    faulty.step(400)
    faulty.server.set_motion(["left"], "clear_faults")
    faulty.server.set_motion(["left"], "enable")
    faulty.step()
    assert state(faulty) == "enabled"


def test_L19_an_infinite_value_is_unknown_as_well(faulty: LockstepCell) -> None:
    going(faulty)
    spoil(faulty, "first", lambda states: states.__setitem__(0, math.inf))
    faulty.step()
    assert faults(faulty) == [("left", f"{UNKNOWN} (x)")]


def test_L19_a_velocity_that_a_device_never_knew_is_not_needed(tmp_path: Path) -> None:
    with make(tmp_path) as cell:
        cell.server.set_motion(["left"], "disable")
        cell.step(5)
        spoil(cell, "first", unknown(VELOCITIES))
        cell.step()
        cell.server.set_motion(["left"], "enable")
        cell.step()
        session = going(cell)
        assert state(cell) == "enabled" and not faults(cell)
        session.stop("position")
        cell.step(400)
        session.start("effort")
        cell.step()
        assert faults(cell) == [("left", f"{UNKNOWN} (x)")], "its limits could not be kept"
        assert EFFORT not in (mode_of(int(cell.executor.world.memory.left[0].modes), j) for j in range(2)), "not sent"


def test_L19_a_part_that_is_not_enabled_needs_nothing(faulty: LockstepCell) -> None:
    faulty.server.set_motion(["left"], "disable")
    faulty.step(5)
    spoil(faulty, "first", unknown(POSITIONS))
    faulty.step(100)
    assert state(faulty) == "disabled" and not faults(faulty)
    faulty.server.set_motion(["left"], "enable")
    faulty.step()
    assert state(faulty) == "disabled", "where it is must be known"


# --- L20: it does not follow -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("speed", [0.05, SPEED, 0.9])
def test_L20_a_blocked_joint_is_a_fault(faulty: LockstepCell, mode: str, speed: float) -> None:
    going(faulty, mode, speed)
    spoil(faulty, "first", blocked())
    distance = 0.005 + 0.11 * speed
    assert ticks_to_fault(faulty, 1000) == pytest.approx(1e3 * distance / speed + 100, rel=0.12, abs=5)
    assert [(part, reason) for part, reason in faults(faulty)] == [("left", f"{FOLLOWING} (x)")]


@pytest.mark.parametrize("mode", MODES)
def test_L20_a_joint_that_moves_against_its_command_is_a_fault(faulty: LockstepCell, mode: str) -> None:
    going(faulty, mode, 0.2)
    turned: list[float] = []

    def change(states: np.ndarray) -> None:
        turned.append(float(states[0]))
        states[0], states[1] = 2.0 * turned[0] - states[0], -states[1]

    spoil(faulty, "first", change)
    assert ticks_to_fault(faulty, 300) < 250
    assert faults(faulty) == [("left", f"{FOLLOWING} (x)")]


def test_L20_an_effort_near_its_limit_that_moves_nothing_is_a_fault(faulty: LockstepCell) -> None:
    going(faulty, "effort", 30.0, ticks=50)
    faulty.step(100)
    spoil(faulty, "first", blocked())
    faulty.step(2000)
    assert not faults(faulty), "an effort below its limit says nothing about motion"


def test_L20_a_joint_blocked_under_its_full_effort_is_a_fault(faulty: LockstepCell) -> None:
    session = faulty.session("left")
    session.add(Action("push", "writer", parts="left", mode=EFFORT, value=100.0, joint=0))
    spoil(faulty, "first", blocked())
    faulty.step()
    session.start("push")
    assert 1000 <= ticks_to_fault(faulty, 1200) <= 1100
    assert faults(faulty) == [("left", f"{FOLLOWING} (x)")]


def test_L20_a_joint_that_runs_against_its_full_effort_is_a_fault(faulty: LockstepCell) -> None:
    session = faulty.session("left")
    session.add(Action("push", "writer", parts="left", mode=EFFORT, value=100.0, joint=0))

    def change(states: np.ndarray) -> None:
        states[0], states[1] = -0.1 - 1e-3 * 0.3 * (faulty.tick - begin), -0.3

    session.start("push")
    begin = faulty.tick
    spoil(faulty, "first", change)
    assert ticks_to_fault(faulty, 400) < 250
    assert faults(faulty)[0] == ("left", f"{FOLLOWING} (x)") or faults(faulty)[0][1].startswith(JUMPED)


def test_L20_a_drive_that_lags_behind_is_fine(tmp_path: Path) -> None:
    with make(tmp_path, **{f"devices/first/{PLUGIN}": {"time_constant": 0.08}}) as cell:
        session = cell.session("left")
        session.add(*(Action(f"m{i}", "move_joint", position=[x, 2.0 * x]) for i, x in enumerate((0.9, -0.9))))
        for i in (0, 1, 0):
            session.start(f"m{i}")
            cell.step(2500)
        assert not faults(cell) and session.ended is None


def test_L20_its_limits_are_those_of_the_workcell(tmp_path: Path) -> None:
    monitors = {"following_error": {"position": [0.05, 1.0], "lag": 0.0, "time": 0.02}}
    with make(tmp_path, **{"parts/left/monitors": monitors}) as cell:
        going(cell, value=0.5)
        spoil(cell, "first", blocked())
        assert ticks_to_fault(cell, 200) == pytest.approx(120, abs=4)


def test_L20_a_gripper_that_holds_something_is_blocked_and_goes_on(faulty: LockstepCell) -> None:
    session = faulty.session("tool")
    session.add(Action("close", "move_joint", position=[0.1]))
    session.start("close")
    finger = 6
    spoil(faulty, "first", lambda states: states.__setitem__(slice(finger, finger + 2), (0.03, 0.0)))
    faulty.step(3000)
    assert not faults(faulty) and session.value("close.is_done") in (0.0, 1.0)


# --- L21, L22 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_L21_states_that_stay_the_same_to_the_last_bit_are_a_fault(faulty: LockstepCell, mode: str) -> None:
    going(faulty, mode)
    spoil(faulty, "first", frozen())
    ticks = ticks_to_fault(faulty, 300)
    assert ticks <= 110
    assert faults(faulty) == [("left", f"{FROZEN} (x)")]


def test_L21_a_joint_that_is_not_commanded_to_move_may_stay_the_same(faulty: LockstepCell) -> None:
    going(faulty, value=0.0)
    spoil(faulty, "first", frozen())
    faulty.step(3000)
    assert not faults(faulty)


def test_L21_the_steps_of_a_coarse_encoder_are_not_frozen(faulty: LockstepCell) -> None:
    going(faulty, value=0.01, ticks=100)

    def change(states: np.ndarray) -> None:
        states[0], states[1] = math.floor(states[0] / 1e-3) * 1e-3, 0.0

    spoil(faulty, "first", change)
    faulty.step(2000)
    assert not faults(faulty)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("jump", [0.5, -0.5, 0.05])
def test_L22_a_position_that_jumps_is_a_fault_in_that_tick(faulty: LockstepCell, mode: str, jump: float) -> None:
    going(faulty, mode, 0.1)

    def change(states: np.ndarray) -> None:
        states[0] += jump

    spoil(faulty, "first", change)
    faulty.step()
    assert faults(faulty) == [("left", f"{JUMPED} (x)")]


def test_L20_a_joint_without_end_may_be_measured_within_a_turn(tmp_path: Path) -> None:
    joints = [{"name": name, "type": "continuous", "velocity": 2.0, "effort": 100.0} for name in ("x", "y")]
    with make(tmp_path, **{"parts/left/joints": joints}) as cell:
        going(cell, value=1.0, ticks=100)

        def change(states: np.ndarray) -> None:
            states[POSITIONS] = (states[POSITIONS] + math.pi) % (2.0 * math.pi) - math.pi

        spoil(cell, "first", change)
        cell.step(5000)
        assert not faults(cell) and cell.part("left").position[0] < math.pi < cell.part("left").commanded_position[0]


# --- L23: monitors that are off are told -----------------------------------------------------------

OFF = {
    "parts/left/monitors": {"following_error": False, "frozen_feedback": False, "position_jump": False},
    "parts/left/system_limits": {"position_tolerance": 100, "velocity_tolerance": 1000},
}
WORDS = (
    "following_error: monitors.following_error is false",
    "frozen_feedback: monitors.frozen_feedback is false",
    "position_jump: monitors.position_jump is false",
    "position_limit: system_limits.position_tolerance is 100 m/rad",
    "velocity_limit: system_limits.velocity_tolerance is 1000",
)


def test_L23_monitors_that_are_off_see_nothing_and_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), make(tmp_path, **OFF) as cell:
        told = [r.getMessage() for r in caplog.records if "switches monitors off" in r.getMessage()]
        assert told == [f"part 'left': the workcell switches monitors off: {'; '.join(WORDS)}"]
        by_name = {part.name: part.unmonitored for part in cell.executor.part_status()}
        assert by_name["left"] == WORDS and by_name["right"] == by_name["io"] == ()
        blocked_by_design = "a gripper that holds something is blocked"
        assert by_name["tool"] == (f"following_error: {blocked_by_design}", f"frozen_feedback: {blocked_by_design}")
        going(cell)
        spoil(cell, "first", frozen())
        cell.step(2000)
        assert not faults(cell)


@pytest.mark.parametrize(
    ("monitors", "words"),
    [
        ({"following_error": True}, "following_error"),
        ({"following_error": {"position": 0}}, "numbers above 0, or false for the whole monitor"),
        ({"following_error": {"position": [0.1]}}, "2 numbers, one for each joint"),
        ({"following_error": {"time": 0}}, "time"),
        ({"frozen_feedback": {"motion": -1}}, "numbers above 0"),
        ({"position_jump": ".inf"}, "position_jump"),
        ({"follow": False}, "unknown key"),
    ],
)
def test_L23_monitors_that_are_not_valid_are_refused(tmp_path: Path, monitors: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        changed_workcell(tmp_path, {"parts/left/monitors": monitors})
