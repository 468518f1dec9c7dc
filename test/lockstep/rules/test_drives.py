"""Rules D1 to D13 of docs/semantics/drives.md: drives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.hardware.drives import exchange as compiled
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import MotorStatus, OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, HardwareError, ProgramError

FILE = Path(__file__).parent / "drives_workcell.yaml"
SHIPPED = Path(__file__).parents[3] / "config" / "drives.yaml"
MAX_AGE = 2
Open = Callable[..., LockstepCell]


def changed(folder: Path, *, every: int = 1, period: float = 1e-3, drives: Any = None, **network: Any) -> Path:
    """The workcell file with another network."""
    content = yaml.safe_load(FILE.read_text())
    content["period"] = period
    device = content["devices"]["cabinet"]["drives"]
    device["every"] = every
    device["network"] |= network
    device["drives"] = drives or device["drives"]
    file = folder / "workcell.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file


@pytest.fixture
def open_cell(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda gated=True, **changes: stack.enter_context(
            LockstepCell(load_workcell(changed(tmp_path, **changes)), gated=gated)
        )


def record(cell: LockstepCell) -> np.record:
    return cell.executor.world.drives["cabinet"]


def sim(cell: LockstepCell, motor: int) -> np.record:
    """The simulated motor: 0 left.x, 1 left.turn, 2 left.lift, 3 right.y, 4 right.z."""
    return record(cell).bus.motors[motor]


def states(cell: LockstepCell) -> tuple[str, str]:
    left, right = (OperationalState(int(cell.part(p).operational_state)).name.lower() for p in ("left", "right"))
    return left, right


def faults(cell: LockstepCell) -> list[tuple[str, str]]:
    return [(e.part, e.reason) for e in cell.kinds("part_faulted")]


def moving(cell: LockstepCell) -> Session:
    session = cell.session("left", "right")
    session.add(
        Action("a", "move_joint", parts="left", position=[0.4, 1.5, 0.6]),
        Action("b", "move_joint", parts="right", position=[0.8, -0.6]),
    )
    session.start("a", "b")
    cell.step(200)
    return session


# --- the exchange -----------------------------------------------------------------------------------


def test_D1_an_exchange_is_done_in_this_order(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = interpreted(compiled.__name__)
    steps = ["_set_command_values", "generate_tx_packet", "do_tx_rx", "analyze_rx_packet", "write_states"]
    trace: list[str] = []
    with LockstepCell(load_workcell(FILE)) as cell:
        for step in steps:
            call = getattr(twin, step)

            def traced(*arguments: Any, call: Callable[..., Any] = call, step: str = step) -> Any:
                trace.append(step)
                return call(*arguments)

            monkeypatch.setattr(twin, step, traced)
        twin.exchange(record(cell), cell.executor.world.memory.devices[0], 1e-3)
    motors, drives = 5, 3
    counts = [motors, drives, 1, drives, 1]
    assert trace == [step for step, n in zip(steps, counts, strict=True) for _ in range(n)]


def test_D1_a_command_leaves_at_the_beginning_of_the_next_tick(open_cell: Open) -> None:
    cell = open_cell(time_constant=0.0)
    session = cell.session("right")
    session.add(Action("go", "velocity_move", parts="right", velocity=[0.5, 0.5]))
    session.start("go")
    cell.step(50)
    motor = record(cell).motors[3]
    for _ in range(20):
        before, target = cell.part("right").commanded_position[0], int(motor.target)
        cell.step()
        assert int(motor.target) == math.floor(before * motor.counts + 0.5) > target
        assert cell.part("right").position[0] * motor.counts == pytest.approx(target, abs=1), "where it has led since"


@pytest.mark.parametrize("period", [0.00025, 0.0005, 0.001])
def test_D2_motion_through_integers_keeps_its_limits_and_arrives(open_cell: Open, period: float) -> None:
    cell = open_cell(period=period)
    session = moving(cell)
    limits = {p: cell.workcell.part(p).system_limits for p in ("left", "right")}
    for _ in range(round(2.5 / period / 10)):
        cell.step(10)
        for part in ("left", "right"):
            n = int(cell.part(part).dof)
            assert (np.abs(cell.part(part).commanded_velocity[:n]) <= limits[part].velocity[:n] + 1e-9).all()
            assert (np.abs(cell.part(part).velocity[:n]) <= limits[part].velocity[:n] * 1.01).all()
    assert session.value("a.is_done") == 1.0 and not faults(cell)
    for part, goal in (("left", [0.4, 1.5, 0.6]), ("right", [0.8, -0.6])):
        counts = np.array([abs(float(m.counts)) for m in record(cell).motors[:5]])
        mine = counts[:3] if part == "left" else counts[3:]
        assert (np.abs(cell.part(part).position[: len(goal)] - goal) <= 1.01 / mine).all()


# --- topology ---------------------------------------------------------------------------------------


def test_D3_a_wrong_missing_or_unknown_drive_is_refused_by_name(tmp_path: Path) -> None:
    answers = [{"node": 1, "kind": "servo_8"}, {"node": 7, "kind": "servo_8"}, {"node": 9, "kind": "servo_1"}]
    workcell = load_workcell(changed(tmp_path, answers=answers))
    with pytest.raises(HardwareError) as error, LockstepCell(workcell):
        pass
    assert str(error.value).splitlines() == [
        "device 'cabinet', drive 'first' (node 1); expected the kind 'servo_3'; got the kind 'servo_8'."
        " Connect the right drive, or correct the workcell file",
        "device 'cabinet', drive 'second' (node 2); expected a drive of kind 'servo_1'; got no answer."
        " Check its power, its cable and its node",
        "device 'cabinet', a drive on node 9; expected 3 drives, on other nodes; got one more, of kind 'servo_1'."
        " Add it to the workcell file, or disconnect it",
    ]


# --- enabling, faults, clearing ---------------------------------------------------------------------


def test_D4_a_part_is_enabled_once_all_of_its_motors_are(open_cell: Open) -> None:
    cell = open_cell()
    cell.server.set_motion(["left"], "disable")
    cell.step(3)
    assert states(cell) == ("disabled", "enabled")
    ready, enabled = MotorStatus.READY_TO_SWITCH_ON, MotorStatus.ENABLED
    assert [int(sim(cell, m).state) for m in range(5)] == [ready] * 3 + [enabled] * 2
    cell.server.set_motion(["left"], "enable")
    seen = []
    while states(cell)[0] != "enabled":
        cell.step()
        seen.append(int(cell.part("left").drive_states[1]))
    assert list(dict.fromkeys(seen)) == [ready, MotorStatus.SWITCHED_ON, enabled] and seen.count(enabled) == 1
    assert len(cell.kinds("part_enabled")) == 1


def test_D4_a_motor_that_does_not_follow_faults_the_part_after_the_time_out(open_cell: Open) -> None:
    cell = open_cell()
    cell.server.set_motion(["left"], "disable")
    cell.step(3)
    cell.server.set_motion(["left"], "enable")
    cell.before_tick["hold back"] = lambda: sim(cell, 2).__setattr__("state", MotorStatus.SWITCH_ON_DISABLED)
    cell.step(999)
    assert not faults(cell)
    cell.step(3)
    words = "a motor is not enabled (lift, motor 1 of drive 'second', node 2): it is in the state ready to switch on"
    assert faults(cell) == [("left", words)] and states(cell) == ("faulted", "enabled")


def test_D4_a_motor_that_disables_itself_faults_its_part_and_stays_disabled(open_cell: Open) -> None:
    cell = open_cell()
    moving(cell)
    sim(cell, 3).state = MotorStatus.SWITCH_ON_DISABLED
    cell.step()
    words = "a motor is not enabled (y, motor 1 of drive 'third', node 7): it is in the state switch on disabled"
    assert faults(cell) == [("right", words)]
    for _ in range(300):
        cell.step()
        assert sim(cell, 3).state != MotorStatus.ENABLED
    assert cell.active("left") == "a" and states(cell) == ("enabled", "faulted")


def test_D5_motors_are_disabled_once_their_part_is_at_rest(open_cell: Open) -> None:
    cell = open_cell()
    moving(cell)
    cell.server.set_motion(["right"], "disable")
    ticks = cell.step_until(lambda: sim(cell, 3).state != MotorStatus.ENABLED)
    assert ticks > 50 and not cell.part("right").commanded_velocity[:2].any(), "it was braked under control"
    cell.step(5)
    assert [int(sim(cell, m).state) for m in (0, 3, 4)] == [MotorStatus.ENABLED, *[MotorStatus.READY_TO_SWITCH_ON] * 2]


def test_D5_disabling_ends_the_enabling(open_cell: Open) -> None:
    cell = open_cell()
    cell.server.set_motion(["left"], "disable")
    cell.step(3)
    cell.server.set_motion(["left"], "enable")
    cell.step(2)
    assert sim(cell, 0).state == MotorStatus.SWITCHED_ON
    cell.server.set_motion(["left"], "disable")
    cell.step(1100)
    assert states(cell) == ("disabled", "enabled") and not faults(cell)
    assert [int(sim(cell, m).state) for m in range(3)] == [MotorStatus.READY_TO_SWITCH_ON] * 3


def test_D6_a_motor_error_faults_its_part_and_only_that(open_cell: Open) -> None:
    cell = open_cell()
    session = moving(cell)
    captured = ["left.turn.status", "left.x.error"]
    session.add(reactions=[Reaction("left.turn.error == 34321", event="seen", capture=captured)])
    cell.step()
    sim(cell, 1).error = 0x8611
    tick = cell.step()
    words = (
        "a motor reports an error (turn, motor 2 of drive 'first', node 1): error 0x8611 (following error);"
        " look for a collision; lower the speed or the load"
    )
    assert [(e.part, e.tick, e.reason) for e in cell.kinds("part_faulted")] == [("left", tick, words)]
    assert [(e.tick, e.values) for e in cell.fired("seen")] == [(tick, (7.0, 0.0))], "in that tick"
    assert [s.fault for s in cell.executor.part_status()] == [words, ""]
    cell.step(100)
    assert states(cell) == ("faulted", "enabled") and cell.active("right") == "b"


def test_D6_an_error_of_a_motor_that_is_not_enabled_faults_nothing_until_it_is_to_be(open_cell: Open) -> None:
    cell = open_cell()
    cell.server.set_motion(["right"], "disable")
    cell.step(3)
    sim(cell, 4).error = 0x3220
    cell.step(20)
    assert states(cell) == ("enabled", "disabled") and cell.part("right").drive_states[3] == 0x3220
    cell.server.set_motion(["right"], "enable")
    cell.step(2)
    assert [part for part, reason in faults(cell) if "0x3220 (DC link under-voltage)" in reason] == ["right"]


def test_D7_clear_then_enable_brings_the_part_back(open_cell: Open) -> None:
    cell = open_cell()
    moving(cell)
    sim(cell, 1).error = 0x2310
    cell.step(300)
    with pytest.raises(CommandRefused, match="a motor reports an error"):
        cell.server.set_motion(["left"], "enable")
    cell.server.set_motion(["left"], "clear_faults")
    cell.server.set_motion(["left"], "enable")
    cell.step(20)
    assert states(cell) == ("enabled", "enabled") and sim(cell, 1).error == 0
    assert cell.part("left").drive_states[3] == 0.0


def test_D7_an_error_whose_cause_persists_faults_the_part_again(open_cell: Open) -> None:
    cell = open_cell()
    sim(cell, 1).error, sim(cell, 1).stuck = 0x4310, 1
    cell.step(2)
    cell.server.set_motion(["left"], "clear_faults")
    cell.server.set_motion(["left"], "enable")
    cell.step(1100)
    assert [reason for _, reason in faults(cell)] == [
        "a motor reports an error (turn, motor 2 of drive 'first', node 1): error 0x4310 (the motor is too hot);"
        " let it cool down; lower the load or the accelerations"
    ] * 2


def test_D7_recovery_waits_for_the_motors(open_cell: Open) -> None:
    cell = open_cell(gated=False)
    sim(cell, 4).error = 0x2310
    cell.step(5)
    assert states(cell) == ("enabled", "faulted")
    cell.recoveries.recover(["right"])
    cell.step(20)
    assert [e.kind for e in cell.kinds("recovery_started", "recovery_ended")][:1] == ["recovery_started"]
    assert states(cell) == ("enabled", "enabled")


def held_back(cell: LockstepCell) -> None:
    """The part `left` is being enabled: one of its motors takes its time, another one has an error that is reset."""
    sim(cell, 1).error, sim(cell, 1).stuck = 0x4310, 1
    cell.step_until(lambda: states(cell)[0] == "faulted")
    cell.server.set_motion(["left"], "clear_faults")
    cell.step_until(lambda: states(cell)[0] == "disabled")
    cell.server.set_motion(["left"], "enable")
    cell.before_tick["hold back"] = lambda: sim(cell, 0).__setattr__("state", MotorStatus.SWITCH_ON_DISABLED)
    cell.step(20)
    assert states(cell)[0] == "disabled" and record(cell).clear[0] > 0
    cell.events.clear()


def test_D23_a_lost_drive_ends_the_enabling_at_once_also_while_an_error_is_reset(open_cell: Open) -> None:
    cell = open_cell()
    held_back(cell)
    record(cell).bus.drives[1].silent = 1
    cell.step(MAX_AGE)
    assert not faults(cell)
    cell.step()
    assert faults(cell) == [("left", "a drive does not answer (lift, motor 1 of drive 'second', node 2)")]


def test_D23_a_motor_that_is_not_enabled_yet_is_waited_for(open_cell: Open) -> None:
    cell = open_cell()
    held_back(cell)
    sim(cell, 1).stuck = 0
    cell.step(800)
    assert not faults(cell)
    del cell.before_tick["hold back"]
    cell.step_until(lambda: states(cell)[0] == "enabled", at_most=200)


# --- packets ----------------------------------------------------------------------------------------


def counters(cell: LockstepCell, d: int) -> dict[str, int]:
    return {name: int(record(cell).drives[d][name]) for name in ("lost", "late", "repeated", "corrupt")}


def test_D8_packets_are_counted_and_bad_ones_change_nothing_else(open_cell: Open) -> None:
    cell = open_cell(loss=0.004, repetition=0.05, corruption=0.004, seed=3)
    moving(cell)
    cell.step(1500)
    assert not faults(cell)
    for d, name in enumerate(("first", "second", "third")):
        found = counters(cell, d)
        assert all(found[kind] > 0 for kind in ("lost", "repeated", "corrupt"))
        part, places = ("right", 6) if d == 2 else ("left", 9 + 5 * d)
        shown = cell.part(part).drive_states[places + 1 : places + 5]
        assert shown.tolist() == [float(v) for v in found.values()], name
    values = {s.name: s.drives for s in cell.executor.part_status()}
    assert "lost" in values["right"]["drive third"]
    assert np.abs(cell.part("right").position[:2] - [0.8, -0.6]).max() < 1e-4


def test_D8_late_packets_are_taken_with_their_age(open_cell: Open) -> None:
    cell = open_cell(delay=2)
    moving(cell)
    cell.step(1500)
    assert not faults(cell) and counters(cell, 0)["late"] > 1500 and counters(cell, 0)["lost"] == 0
    assert cell.part("left").age == 2 and np.abs(cell.part("right").position[:2] - [0.8, -0.6]).max() < 1e-4


def test_D9_one_drive_that_falls_silent_faults_the_parts_that_it_moves(open_cell: Open) -> None:
    cell = open_cell()
    moving(cell)
    record(cell).bus.drives[1].silent = 1
    position = float(cell.part("left").position[2])
    for age in range(1, MAX_AGE + 1):
        cell.step()
        assert cell.part("left").age == age and cell.part("right").age == 0 and not faults(cell)
        assert cell.part("left").position[2] == position, "that of the last packet"
    cell.step()
    assert faults(cell) == [("left", "a drive does not answer (lift, motor 1 of drive 'second', node 2)")]
    assert math.isnan(cell.part("left").position[2]) and math.isfinite(cell.part("left").position[0])
    cell.step(200)
    assert states(cell) == ("faulted", "enabled") and cell.active("right") == "b"
    with pytest.raises(CommandRefused):
        cell.server.set_motion(["left"], "enable")
    record(cell).bus.drives[1].silent = 0
    cell.step(2)
    assert counters(cell, 1)["lost"] == 203
    cell.server.set_motion(["left"], "clear_faults")
    cell.server.set_motion(["left"], "enable")
    cell.step(20)
    assert states(cell) == ("enabled", "enabled")


def test_D9_two_packets_in_a_row_may_be_missing(open_cell: Open) -> None:
    cell = open_cell()
    moving(cell)
    for _ in range(10):
        record(cell).bus.drives[2].silent = 1
        cell.step(2)
        record(cell).bus.drives[2].silent = 0
        cell.step(5)
    assert not faults(cell) and counters(cell, 2)["lost"] == 20


def test_D9_a_burst_of_five_faults_the_parts_of_that_drive(open_cell: Open) -> None:
    cell = open_cell(loss=0.001, burst=5, seed=5)
    moving(cell)
    cell.step_until(lambda: bool(faults(cell)), at_most=5000)
    [(part, reason)] = faults(cell)
    assert "a drive does not answer" in reason
    others = "right" if part == "left" else "left"
    assert states(cell)[("left", "right").index(others)] == "enabled"
    cell.step(3)
    silent = [d for d in range(3) if counters(cell, d)["lost"]]
    assert [counters(cell, d)["lost"] for d in silent] == [5]


def test_D10_states_of_motors_and_drives_are_state_variables(open_cell: Open) -> None:
    cell = open_cell()
    session = moving(cell)
    reaction = Reaction(
        "left.x.status == 4 and left.error[0] == 0 and right.third.age == 0 and right.y.acceleration > 0.1",
        event="known",
        capture=["right.y.acceleration", "right.third.lost"],
    )
    session.add(reactions=[reaction])
    cell.step()
    [event] = cell.fired("known")
    assert event.values[1] == 0.0
    assert event.values[0] == pytest.approx(cell.part("right").commanded_acceleration[0], rel=0.2)
    assert session.value("left.turn.status") == 4.0 and session.value("right.third.repeated") == 0.0


@pytest.mark.parametrize("every", [pytest.param(2, marks=pytest.mark.long), 4])
def test_D11_a_device_with_its_own_period_is_interpolated_by_the_drive(open_cell: Open, every: int) -> None:
    cell = open_cell(every=every, time_constant=0.0)
    session = cell.session("right")
    session.add(Action("go", "velocity_move", parts="right", velocity=[0.5, 0.5]))
    session.start("go")
    cell.step(600)
    assert not faults(cell)
    exchanges = int(record(cell).bus.exchanges)
    ages, positions = [], []
    for _ in range(4 * every):
        cell.step()
        ages.append(int(cell.part("right").age))
        positions.append(float(cell.part("right").position[0]))
    assert int(record(cell).bus.exchanges) == exchanges + 4
    assert sorted(set(ages)) == list(range(every)), "in between, data grows older"
    moved = np.diff(sorted(set(positions)))
    assert moved == pytest.approx([0.5e-3 * every] * len(moved), abs=1e-5), "an exchange shows the way of its ticks"
    assert cell.part("right").velocity[0] == pytest.approx(0.5, rel=0.01), "without steps"
    record(cell).bus.drives[2].silent = 1
    missing = cell.step_until(lambda: bool(faults(cell)))
    assert 2 * every < missing <= 3 * every, "three packets in a row"


def test_D12_the_same_seed_gives_bit_identical_states(tmp_path: Path) -> None:
    def run() -> bytes:
        changes: dict[str, Any] = {"loss": 0.05, "burst": 2, "repetition": 0.05, "corruption": 0.02, "seed": 11}
        with LockstepCell(load_workcell(changed(tmp_path, **changes))) as cell:
            moving(cell)
            seen = []
            for _ in range(20):
                cell.step(20)
                seen.append(cell.executor.world.memory.devices[0].state[:40].tobytes() + record(cell).tobytes()[64:])
            return b"".join(seen)

    first = run()
    assert first == run()


def mistakes(folder: Path, *changes: tuple[str, str]) -> list[str]:
    """What is wrong with the workcell file after some changes."""
    content = FILE.read_text()
    for old, new in changes:
        assert old in content
        content = content.replace(old, new)
    file = folder / "wrong.yaml"
    file.write_text(content)
    with pytest.raises(ProgramError) as error:
        load_workcell(file)
    return [str(mistake).removeprefix(f"{file}:") for mistake in error.value.mistakes]


def test_D13_all_mistakes_are_reported_with_their_lines(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path,
        ("{name: second, kind: servo_1, node: 2", "{name: first, kind: servo_1, node: 1"),
        ("joint: left.lift", "joint: left.lft"),
        ("joint: right.z, gear_ratio: 100, counts: 65536", "joint: right.y, gear_ratio: 100, counts: 655360000"),
    )
    assert found == [
        "26: drives: joint 'left.lift'; expected a motor for each joint of the device; got none",
        "26: drives: joint 'right.z'; expected a motor for each joint of the device; got none",
        "33: drives[1].name: drive 'first'; expected each name once; got this name again",
        "33: drives[1].node: drive 'first'; expected a node of its own, as 1 is that of drive 'first'; got 1",
        "33: drives[1].motors[0].joint: drive 'first', motor 1; expected one of the known names; did you mean"
        " 'left.lift' or 'left.x' or 'left.turn'; got 'left.lft'",
        "39: drives[2].motors[1].joint: drive 'third', motor 2; expected a joint without a motor, as 'right.y' has one"
        " on drive 'third', motor 1; got 'right.y'",
        "39: drives[2].motors[1].counts: drive 'third', motor 2; expected counts with which each position of joint"
        " 'right.y' is less than 2^31 counts; got 2.09e+10 at its limit",
        "39: drives[2].motors[1].counts: drive 'third', motor 2; expected counts with which each velocity of joint"
        " 'right.y' is less than 2^31 counts; got 1.1e+10 at its limit",
    ]


def test_D13_values_are_checked_by_the_schema(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path,
        ("kind: test_bus", "kind: tset_bus, loss: 2"),
        ("gear_ratio: 50", "gear_ratio: 0"),
        ("kind: servo_1, node: 2", "kind: servo_4, node: 200"),
        ("kind: servo_8", "kind: servo_1"),
    )
    assert found == [
        "25: network.kind; expected one of the known names; did you mean 'test_bus'; got 'tset_bus'",
        "25: network.loss; expected less than or equal to 1; got 2",
        "32: drives[0].motors[1].gear_ratio; expected greater than 0; got 0.0",
        "33: drives[1].kind; expected one of the known names; did you mean 'servo_8' or 'servo_3' or 'servo_1';"
        " got 'servo_4'",
        "33: drives[1].node; expected less than or equal to 127; got 200",
        "37: drives[2].motors; expected at most 1, as its kind is 'servo_1'; got 2",
    ]


def test_the_shipped_workcell_moves(tmp_path: Path) -> None:
    with LockstepCell(load_workcell(SHIPPED)) as cell:
        session = cell.session("arm")
        goal = [0.3, 0.4, -0.2, 1.2, 0.2, 0.8, 0.5]
        session.add(Action("go", "move_joint", parts="arm", position=goal))
        session.start("go")
        cell.step(2500)
        assert session.value("go.is_done") == 1.0 and not cell.kinds("part_faulted")
        assert np.abs(cell.part("arm").position[:7] - goal).max() < 1e-4
