"""L1, L2, L7: a million random commands for each command interface, straight into the compiled limit step.

Whatever an action writes (wild, huge, tiny, not finite, in another mode each tick), what leaves is finite and within
the limits of position, velocity, acceleration, jerk if it is limited, effort and effort rate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.memory.layout import record
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.limit_step import limit
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState

COMMANDS = 1_000_000
JOINTS = 7
POSITION, VELOCITY, EFFORT = int(CommandMode.POSITION), int(CommandMode.VELOCITY), int(CommandMode.EFFORT)
ENABLED = int(OperationalState.ENABLED)
CHECKS = ("finite", "position", "velocity", "acceleration", "jerk", "effort", "effort rate", "stands after a fault")

report_dtype = record(
    [
        ("commands", "i8"),  # of one joint each
        ("faults", "i8"),
        ("violations", "i8"),
        ("check", "i8"),  # of the first violation
        ("joint", "i8"),
        ("at", "i8"),
        ("value", "f8"),
        ("bound", "f8"),
        ("fastest", "f8"),  # largest velocity, acceleration, jerk, effort over its limit
        ("steepest", "f8"),
        ("roughest", "f8"),
        ("strongest", "f8"),
    ]
)


@cache
def runner() -> Callable[..., None]:
    """`run(w, ch, modes, bad_every, hold, seed, report)`, compiled: commands, one limit step after the other."""

    @numba.njit
    def note(report: Any, check: int, joint: int, value: float, bound: float) -> None:
        report.violations += 1
        if report.violations == 1:
            report.check, report.joint, report.at = check, joint, report.commands
            report.value, report.bound = value, bound

    @numba.njit
    def wild(present: float, low: float, high: float, style: int) -> float:
        kind = style if style < 9 else np.random.randint(9)
        u = np.random.random()
        if kind == 0:
            return present + (u - 0.5) * 4e-3 * (high - low)
        if kind == 1:
            return low + u * (high - low)
        if kind == 2:
            return low
        if kind == 3:
            return high
        if kind == 4:
            return (u - 0.5) * 10.0 ** np.random.randint(-300, 300)
        if kind == 5:
            return 1.7976931348623157e308 * (1.0 if u < 0.5 else -1.0)
        if kind == 6:
            return 5e-324 if u < 0.5 else -0.0
        if kind == 7:
            return 1e9
        return -1e9

    @numba.njit
    def run(w, ch, modes, bad_every, hold, seed, report):
        np.random.seed(seed)
        part, limits, runtime = w.parts[0], w.limits[0], w.parts_runtime[0]
        dt, n = w.period, part.dof
        v, a, e, last = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        mode, style, previous = 0, 9, 0
        while report.commands < COMMANDS:
            if mode == 0 or np.random.randint(hold) == 0:
                mode = np.random.randint(1, 4)
                while modes & (1 << (mode - 1)) == 0:
                    mode = mode % 3 + 1
            if np.random.randint(300) == 0:
                style = np.random.randint(11)
            part.command_mode = mode
            for j in range(n):
                top = part.velocity_limit[j]
                part.position_command[j] = wild(
                    part.commanded_position[j], part.position_lower[j], part.position_upper[j], style
                )
                part.velocity_command[j] = wild(part.commanded_velocity[j], -top, top, style)
                part.effort_command[j] = wild(part.commanded_effort[j], -limits.effort[j], limits.effort[j], style)
            bad = bad_every > 0 and np.random.randint(bad_every) == 0
            if bad:
                j, kind = np.random.randint(n), np.random.randint(3)
                value = np.nan if kind == 0 else np.inf if kind == 1 else -np.inf
                part.position_command[j] = part.velocity_command[j] = part.effort_command[j] = value
            for j in range(n):
                v[j], a[j], e[j] = (
                    part.commanded_velocity[j],
                    part.commanded_acceleration[j],
                    part.commanded_effort[j],
                )
                last[j] = part.commanded_position[j]
            limit(w, ch)
            ch.events.tail = ch.events.head
            report.commands += n
            faulted = runtime.state != ENABLED
            report.faults += faulted
            if bad and not faulted:
                note(report, 7, 0, 0.0, 0.0)
            done = mode_of(runtime.last_modes, 0)
            for j in range(n):
                new_v, new_a, new_e = (
                    part.commanded_velocity[j],
                    part.commanded_acceleration[j],
                    part.commanded_effort[j],
                )
                q = part.commanded_position[j]
                if not (np.isfinite(q) and np.isfinite(new_v) and np.isfinite(new_a) and np.isfinite(new_e)):
                    note(report, 0, j, new_v, 0.0)
                if abs(new_e) > limits.effort[j]:
                    note(report, 5, j, new_e, limits.effort[j])
                report.strongest = max(report.strongest, abs(new_e) / limits.effort[j])
                if done == EFFORT:
                    if abs(new_e - e[j]) > limits.effort_rate[j] * dt * (1.0 + 1e-12):
                        note(report, 6, j, new_e - e[j], limits.effort_rate[j] * dt)
                    # half of the inertia that the limits of effort and acceleration allow
                    part.velocity[j] += 2.0 * limits.acceleration[j] * new_e / limits.effort[j] * dt
                    part.position[j] += part.velocity[j] * dt
                    continue
                # efforts may leave a joint a little outside: from there it may only come back
                # (from the last command's view, a period ago)
                upper = max(limits.position_upper[j], max(part.position[j], last[j])) + 1e-9
                lower = min(limits.position_lower[j], min(part.position[j], last[j])) - 1e-9
                if q > upper or q < lower:
                    note(report, 1, j, q, upper)
                part.position[j], part.velocity[j] = q, new_v
                if abs(new_v) > limits.velocity[j] * (1.0 + 1e-12):
                    note(report, 2, j, new_v, limits.velocity[j])
                report.fastest = max(report.fastest, abs(new_v) / limits.velocity[j])
                smooth = previous != EFFORT  # the motion caused by efforts must first be brought into the limits
                if smooth and abs(new_v - v[j]) > limits.acceleration[j] * dt * (1.0 + 1e-6):
                    note(report, 3, j, new_v - v[j], limits.acceleration[j] * dt)
                report.steepest = max(report.steepest, abs(new_a) / limits.acceleration[j] if smooth else 0.0)
                jerk = limits.jerk[j]
                if smooth and jerk > 0.0:
                    if abs(new_a - a[j]) > jerk * dt * (1.0 + 1e-6) + 1e-7:
                        note(report, 4, j, new_a - a[j], jerk * dt)
                    report.roughest = max(report.roughest, abs(new_a - a[j]) / (jerk * dt))
            previous = done
            if faulted:
                # brought back, as a user would by clearing the fault and enabling the part
                runtime.state, runtime.fault, runtime.active_action = ENABLED, 0, 0

    return run


def million(*, modes: int, bad_every: int, hold: int, jerk: float = 0.0, seed: int = 1) -> np.record:
    """Run; nothing may have been violated."""
    workcell = load_workcell(Path(__file__).parent / "workcell.yaml")
    world = World(workcell).memory
    part, limits, runtime = world.parts[0], world.limits[0], world.parts_runtime[0]
    for tables in world.tables:
        tables.n_actions, tables.actions[0].n_parts = 1, 1
    part.position[:JOINTS] = workcell.parts[0].start_position
    part.velocity[:] = 0.0
    runtime.state, runtime.active_action = ENABLED, 0
    limits.jerk[:JOINTS] = jerk * limits.acceleration[:JOINTS]
    report: np.record = np.zeros(1, report_dtype)[0]
    runner()(world, Channel.private().memory, modes, bad_every, hold, seed, report)
    first = f"{CHECKS[int(report.check)]} of joint {report.joint} at {report.at}: {report.value}, {report.bound}"
    assert report.violations == 0, f"{report.violations} violations; the first: {first}"
    assert report.commands >= COMMANDS
    assert report.faults > 100 if bad_every else report.faults == 0
    return report


@pytest.mark.parametrize("bad_every", [0, 500])
@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_L2_a_million_positions_and_a_million_velocities(mode: int, bad_every: int) -> None:
    report = million(modes=1 << (mode - 1), bad_every=bad_every, hold=1)
    assert report.fastest > 0.9 and report.steepest > 0.99, "the limits are reached"


@pytest.mark.parametrize("jerk", [8.0, 20.0, 400.0])
@pytest.mark.parametrize("mode", [POSITION, VELOCITY])
def test_L7_a_million_positions_and_a_million_velocities_with_a_limit_of_jerk(mode: int, jerk: float) -> None:
    report = million(modes=1 << (mode - 1), bad_every=500, hold=1, jerk=jerk)
    assert report.fastest > 0.5 and report.steepest > 0.9 and report.roughest > 0.99


@pytest.mark.parametrize("bad_every", [0, 500])
def test_L2_a_million_efforts(bad_every: int) -> None:
    assert million(modes=1 << (EFFORT - 1), bad_every=bad_every, hold=1).strongest > 0.9


@pytest.mark.parametrize("jerk", [0.0, 20.0])
@pytest.mark.parametrize("hold", [1, 20])
def test_L2_a_million_positions_and_velocities_by_turns(hold: int, jerk: float) -> None:
    million(modes=3, bad_every=0, hold=hold, jerk=jerk)


@pytest.mark.parametrize("hold", [1, 20])
def test_L1_a_million_commands_in_all_modes_by_turns(hold: int) -> None:
    million(modes=7, bad_every=500, hold=hold)
