"""L1 and L2 on random commands: whatever an action writes, what leaves is finite, within the limits, and can brake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.memory.layout import command_dtype, record
from robot_rt_control.realtime.executor.loop_records import lockstep_dtype
from robot_rt_control.realtime.executor.loops import LOCKSTEP, loops
from robot_rt_control.testing.border_watch import BorderWatch, watch_tick
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import Command, CommandMode, OperationalState

COMMANDS = 200_000
_RING = 1024
POSITION, VELOCITY, EFFORT = int(CommandMode.POSITION), int(CommandMode.VELOCITY), int(CommandMode.EFFORT)
FAULTED = int(OperationalState.FAULTED)
CHECKS = (
    "finite",
    "position",
    "velocity",
    "acceleration",
    "room to brake",
    "effort",
    "effort rate",
    "stands after fault",
)

report_dtype = record(
    [
        ("ticks", "i8"),
        ("commands", "i8"),  # of the random action
        ("faults", "i8"),
        ("violations", "i8"),
        ("check", "i8"),  # of the first violation
        ("tick", "i8"),
        ("joint", "i8"),
        ("value", "f8"),
        ("bound", "f8"),
        ("fastest", "f8"),  # largest speed over its limit
        ("strongest", "f8"),  # largest effort over its limit
    ]
)


def make_runner() -> Callable[..., None]:
    """`run(w, ch, lockstep, watch, rows, action, keep_room, report)`, compiled: runs ticks and checks each of them.

    lockstep: address of the loop's record. watch: record of the executor's `BorderWatch`, which by itself sees only
    the ticks that the executor runs; these here are shown to it. rows: the commands that bring a faulted part back.
    action: slot of the random action. keep_room: also check what efforts may violate: acceleration, range, and room to
    brake.
    """
    run_ticks = loops()

    @numba.njit(nogil=True)
    def note(report: Any, w: Any, check: int, joint: int, value: float, bound: float) -> None:
        report.violations += 1
        if report.violations == 1:
            report.check, report.tick, report.joint, report.value, report.bound = check, w.tick, joint, value, bound

    @numba.njit(nogil=True)
    def run(w, ch, lockstep, watch, rows, action, keep_room, report):
        part, limits, runtime, dev = w.parts[0], w.limits[0], w.parts_runtime[0], w.devices[0]
        dt = w.period
        v_last, e_last = part.commanded_velocity.copy(), part.commanded_effort.copy()
        while report.commands < COMMANDS and report.ticks < 4 * COMMANDS:
            was_faulted = runtime.state == FAULTED
            run_ticks(LOCKSTEP, lockstep, 1, 0)
            watch_tick(w, watch)
            report.ticks += 1
            ch.events.tail = ch.events.head
            mode = mode_of(runtime.last_modes, 0)
            faulted = runtime.state == FAULTED
            if runtime.active_action == action and not faulted:
                report.commands += 1
            if faulted and not was_faulted:
                report.faults += 1
            at_rest = True
            for j in range(part.dof):
                q, v, e = part.commanded_position[j], part.commanded_velocity[j], part.commanded_effort[j]
                top, a = limits.velocity[j], limits.acceleration[j]
                # in the tick in which it comes to rest it still brakes (L17): a start would be refused
                at_rest = at_rest and v == 0.0 and part.commanded_acceleration[j] == 0.0
                if not (np.isfinite(q) and np.isfinite(v) and np.isfinite(e)):
                    note(report, w, 0, j, v, 0.0)
                if mode != EFFORT:
                    outside = q > limits.position_upper[j] + 1e-9 or q < limits.position_lower[j] - 1e-9
                    if keep_room and outside:
                        note(report, w, 1, j, q, limits.position_upper[j])
                    if abs(v) > top * (1.0 + 1e-12):
                        note(report, w, 2, j, v, top)
                    report.fastest = max(report.fastest, abs(v) / top)
                    if keep_room and abs(v - v_last[j]) > a * dt * (1.0 + 1e-6):
                        note(report, w, 3, j, v - v_last[j], a * dt)
                    room = limits.position_upper[j] - q if v > 0.0 else q - limits.position_lower[j]
                    if keep_room and v * v / (2.0 * a) > room + 1e-9:
                        note(report, w, 4, j, v * v / (2.0 * a), room)
                if abs(e) > limits.effort[j]:
                    note(report, w, 5, j, e, limits.effort[j])
                report.strongest = max(report.strongest, abs(e) / limits.effort[j])
                if mode == EFFORT and abs(e - e_last[j]) > limits.effort_rate[j] * dt * (1.0 + 1e-12):
                    note(report, w, 6, j, e - e_last[j], limits.effort_rate[j] * dt)
                v_last[j], e_last[j] = v, e
            for i in range(dev.n_command):
                if not np.isfinite(dev.command[i]):
                    note(report, w, 0, i, dev.command[i], 0.0)
            if faulted and at_rest and ch.commands.tail == ch.commands.head:
                # clear, enable, start
                for k in range(len(rows)):
                    ch.commands.entries[ch.commands.head % _RING] = rows[k]
                    ch.commands.head += 1

    return run


@pytest.fixture(scope="module")
def run() -> Callable[..., None]:
    return make_runner()


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(Path(__file__).parent / "workcell.yaml") as made:
        yield made


@pytest.fixture
def watch(cell: LockstepCell, border_is_kept: list[BorderWatch]) -> BorderWatch:
    return border_is_kept[0]


def random_commands(
    cell: LockstepCell,
    watch: BorderWatch,
    run: Callable[..., None],
    *,
    modes: int,
    not_finite: int,
    hold: int,
    keep_room: bool,
) -> np.record:
    session = cell.session("arm")
    session.add(Action("wild", "random_commands", modes=modes, not_finite=not_finite, hold=hold))
    session.start("wild")
    entry = cell.server.contents(cell.server.session(session.id)).actions["wild"].entry
    rows = np.zeros(3, command_dtype)
    rows["command"] = Command.CLEAR_FAULTS, Command.ENABLE, Command.START
    rows["transaction"] = 1 << 60
    rows["session"] = cell.server.session(session.id).identity
    rows["n_actions"][2], rows["actions"][2, 0], rows["identities"][2, 0] = 1, entry.slot, entry.identity
    report = np.zeros(1, report_dtype)[0]
    executor = cell.executor
    lockstep: Any = np.zeros(1, lockstep_dtype)[0]
    lockstep.world, lockstep.channel, lockstep.period_ns = executor.world.address, executor.channel.address, 1_000_000
    run(
        executor.world.memory,
        executor.channel.memory,
        address_of(lockstep),
        watch.found,
        rows,
        entry.slot,
        keep_room,
        report,
    )
    first = (
        f"{CHECKS[int(report.check)]} of joint {report.joint} in tick {report.tick}: {report.value} > {report.bound}"
    )
    assert report.violations == 0, f"{report.violations} violations; the first: {first}"
    watch.check()
    assert watch.commands >= 7 * COMMANDS, "it has seen them, of seven joints"
    assert report.commands == COMMANDS, f"{report.commands} commands in {report.ticks} ticks"
    return report


@pytest.mark.parametrize("not_finite", [0, 1000])
@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_L2_random_positions_and_velocities(
    cell: LockstepCell, watch: BorderWatch, run: Callable[..., None], mode: int, not_finite: int
) -> None:
    modes = 1 << (mode - 1)
    report = random_commands(cell, watch, run, modes=modes, not_finite=not_finite, hold=1, keep_room=True)
    assert report.fastest > 0.9, "the limits are reached"
    assert (report.faults > 20) == (not_finite > 0)


@pytest.mark.parametrize("not_finite", [0, 1000])
def test_L2_random_efforts(
    cell: LockstepCell, watch: BorderWatch, run: Callable[..., None], not_finite: int
) -> None:
    report = random_commands(cell, watch, run, modes=1 << (EFFORT - 1), not_finite=not_finite, hold=1, keep_room=False)
    assert report.strongest == 1.0
    assert (report.faults > 20) == (not_finite > 0)


@pytest.mark.parametrize("hold", [1, 20])
def test_L2_random_positions_and_velocities_by_turns(
    cell: LockstepCell, watch: BorderWatch, run: Callable[..., None], hold: int
) -> None:
    report = random_commands(cell, watch, run, modes=3, not_finite=0, hold=hold, keep_room=True)
    assert report.fastest > 0.9 and report.faults == 0


@pytest.mark.parametrize("hold", [1, 20])
def test_L1_all_interfaces_by_turns_with_commands_that_are_not_finite(
    cell: LockstepCell, watch: BorderWatch, run: Callable[..., None], hold: int
) -> None:
    report = random_commands(cell, watch, run, modes=7, not_finite=1000, hold=hold, keep_room=False)
    assert report.faults > 20
