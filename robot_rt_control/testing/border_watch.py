"""A watch at the hardware's border: every command that leaves is finite and keeps the system limits, in every tick.

    with LockstepCell("workcell.yaml") as cell:
        watch = BorderWatch(cell.executor)
        ...
        watch.check()

It reads what the hardware gets, the devices' command images, and knows nothing of what the loop meant by it: whatever
the state of a part is (enabled, braking, faulted, being enabled), a position moves no faster than the velocity limit
allows, a velocity changes with at most the acceleration, an effort with its rate, an acceleration with the jerk if that
is limited. What begins to leave begins where the joint is measured, at rest. Two exceptions, as docs/semantics has
them: a joint that is too fast (after efforts) comes down with its acceleration, and one that could else not stop before
its position limit is slower than its acceleration would have it, but no more than it takes.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import int64, void

from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.memory.layout import offset_of, record, world_dtype
from robot_rt_control.native.code_cache import compile_by_address
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.executor import Executor
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState
from robot_rt_control.vocabulary.errors import RobotControlError

CHECKS = (
    "a command that is not finite",
    "a first position away from where the joint is measured",
    "a position beyond the range",
    "a velocity above the limit",
    "an acceleration above the limit",
    "a jerk above the limit",
    "an effort above the limit",
    "a rate of effort above the limit",
)
_FINITE, _BEGIN, _RANGE, _VELOCITY, _ACCELERATION, _JERK, _EFFORT, _RATE = range(len(CHECKS))
_NONE, _IN_POSITION = int(CommandMode.NONE), int(CommandMode.POSITION)
_IN_VELOCITY, _IN_EFFORT = int(CommandMode.VELOCITY), int(CommandMode.EFFORT)
_SLACK = 1e-6
"""Limits are kept up to this fraction: sums are rounded."""
_EPS = 1e-14
"""Rounding of a position, as a fraction of it."""

_joints = ("f8", (capacities.MAX_JOINTS,))

_part_dtype = record(
    [
        ("command", "i8"),  # place of its first command in its device's image; -1: it has no joints
        ("mode", "i8"),  # in which its last command left; 0: none did
        *((name, *_joints) for name in ("position", "velocity", "acceleration", "effort")),  # of the last command
        ("known", "i8", (capacities.MAX_JOINTS,)),  # ticks since it was in effort mode; 1 000 000: nothing left before
    ]
)

watch_dtype = record(
    [
        ("commands", "i8"),  # that were seen, of one joint each
        ("violations", "i8"),
        # the first one
        *((name, "i8") for name in ("tick", "part", "joint", "check", "mode", "former_mode", "state", "being_enabled")),
        *((name, "f8") for name in ("value", "former", "bound")),
        ("parts", _part_dtype, (capacities.MAX_PARTS,)),
    ]
)

_world_at: Callable[[int], Any] = record_at(world_dtype)
_watch_at: Callable[[int], Any] = record_at(watch_dtype)


@realtime
def _note(w, b, p, j, mode, check, value, former, bound):
    b.violations += 1
    if b.violations == 1:
        b.tick, b.part, b.joint, b.check, b.mode = w.tick, p, j, check, mode
        b.former_mode = mode_of(b.parts[p].mode, j)
        b.state = w.parts_runtime[p].state
        b.being_enabled = w.parts_runtime[p].enabling + w.parts_runtime[p].rest_wait
        b.value, b.former, b.bound = value, former, bound


@realtime
def _stopping_speed(room, acceleration, dt):
    """From which a joint can still stop within this room after a further period; the same number as in the loop."""
    if room <= 0.0:
        return 0.0
    step = acceleration * dt
    return math.sqrt(step * step + 2.0 * acceleration * room) - step


@realtime
def _stops_before_limit(limits, j, q, v, slack, dt):
    """Whether a joint at q is commanded the velocity that it may just have before its position limit."""
    up = _stopping_speed(limits.position_upper[j] - q, limits.acceleration[j], dt)
    down = _stopping_speed(q - limits.position_lower[j], limits.acceleration[j], dt)
    return abs(v - up) <= slack or abs(v + down) <= slack


@realtime
def _look_at_motion(w, b, p, j, mode, q, v):
    """Velocity, acceleration and jerk of a position or velocity command, against the one before."""
    limits, kept, dt = w.limits[p], b.parts[p], w.period
    former_mode = mode_of(kept.mode, j)
    measured = w.parts[p].position[j]
    v_last, q_last = kept.velocity[j], kept.position[j]
    if former_mode == _NONE:
        v_last, q_last = 0.0, measured
        kept.acceleration[j], kept.known[j] = 0.0, 1_000_000
        if mode == _IN_POSITION and math.isfinite(measured):
            bound = limits.acceleration[j] * dt * dt * (1.0 + _SLACK) + _EPS * max(1.0, abs(q))
            if not abs(q - measured) <= bound:
                _note(w, b, p, j, mode, _BEGIN, q, measured, bound)
    slack = 0.0
    from_where = measured if math.isfinite(measured) else q_last
    if mode == _IN_POSITION:
        slack = _EPS * max(1.0, abs(q)) / dt
        from_where = q_last
        v = (q - q_last) / dt if math.isfinite(q_last) else v
        range_slack = _EPS * max(1.0, abs(q))
        if q > max(limits.position_upper[j], q_last) + range_slack:
            _note(w, b, p, j, mode, _RANGE, q, q_last, limits.position_upper[j])
        if q < min(limits.position_lower[j], q_last) - range_slack:
            _note(w, b, p, j, mode, _RANGE, q, q_last, limits.position_lower[j])
    change = limits.acceleration[j] * dt
    too_fast = abs(v_last) - change
    if limits.jerk[j] > 0.0:
        # What efforts have caused ends with limited jerk: at first the joint may even become faster.
        early = kept.known[j] * dt * limits.jerk[j] <= 2.0 * limits.acceleration[j]
        too_fast = abs(v_last) + change if early else abs(v_last)
    top = max(limits.velocity[j], too_fast)
    if not abs(v) <= top * (1.0 + _SLACK) + slack:
        _note(w, b, p, j, mode, _VELOCITY, v, v_last, top)
    stopped = abs(v) <= abs(v_last) and _stops_before_limit(limits, j, from_where, v, _SLACK * limits.velocity[j], dt)
    if not abs(v - v_last) <= change * (1.0 + _SLACK) + slack and not stopped:
        _note(w, b, p, j, mode, _ACCELERATION, v, v_last, change)
    a, jerk = (v - v_last) / dt, limits.jerk[j]
    smooth = abs(a - kept.acceleration[j]) <= jerk * dt * (1.0 + _SLACK) + 4.0 * slack / dt
    if jerk > 0.0 and kept.known[j] > 1 and not stopped and not smooth:
        _note(w, b, p, j, mode, _JERK, a, kept.acceleration[j], jerk * dt)
    kept.acceleration[j] = a
    kept.velocity[j] = v
    kept.position[j] = q
    kept.known[j] += 1


@realtime
def _look_at_effort(w, b, p, j, e, v):
    limits, kept = w.limits[p], b.parts[p]
    last, exerted = kept.effort[j], w.parts[p].effort[j]
    change = limits.effort_rate[j] * w.period * (1.0 + _SLACK)
    if mode_of(kept.mode, j) != _IN_EFFORT:
        last = 0.0  # without a measured one, nothing is known of what the drive exerts
        if math.isfinite(exerted) and abs(e - exerted) <= abs(e):
            last = exerted
    if not abs(e) <= limits.effort[j] * (1.0 + _SLACK):
        _note(w, b, p, j, _IN_EFFORT, _EFFORT, e, last, limits.effort[j])
    if not abs(e - last) <= change and not (abs(exerted) > limits.effort[j] and abs(e) == limits.effort[j]):
        _note(w, b, p, j, _IN_EFFORT, _RATE, e, last, change)
    kept.effort[j] = e
    kept.velocity[j] = v
    kept.known[j] = 0


@realtime
def watch_tick(w, b):
    """Look at all commands that have just left."""
    for p in range(w.n_parts):
        kept = b.parts[p]
        part = w.parts[p]
        if part.dof == 0 or kept.command < 0:
            continue
        dev = w.devices[w.parts_runtime[p].device]
        modes = dev.mode[p] if dev.enabled != 0 else 0
        for j in range(part.dof):
            mode = mode_of(modes, j)
            k = kept.command + 3 * j
            q, v, e = dev.command[k], dev.command[k + 1], dev.command[k + 2]
            if mode == _NONE:
                kept.known[j] = 0
                continue
            b.commands += 1
            x = q if mode == _IN_POSITION else v if mode == _IN_VELOCITY else e
            if not math.isfinite(x):
                _note(w, b, p, j, mode, _FINITE, x, 0.0, 0.0)
            elif mode == _IN_EFFORT:
                _look_at_effort(w, b, p, j, e, v)
                kept.position[j] = q
            else:
                _look_at_motion(w, b, p, j, mode, q, v)
        kept.mode = modes if w.parts_runtime[p].enabling == 0 else 0  # motors that are not enabled follow nothing yet


def _watch(world: int, watch: int) -> None:
    watch_tick(_world_at(world), _watch_at(watch))


@cache
def _compiled() -> Any:
    return compile_by_address(_watch, void(int64, int64))


class BorderWatch:
    """Watches all commands of an executor in lockstep, from now on.

    Raises:
        RobotControlError: the executor is not configured, or runs on another clock.
    """

    def __init__(self, executor: Executor) -> None:
        if executor.lockstep is None:
            raise RobotControlError("a watch at the border", expected="an executor in lockstep, configured")
        self._workcell = executor.workcell
        self.found: np.record = np.zeros(1, watch_dtype)[0]
        """`watch_dtype`: what was seen so far."""
        places: dict[int, int] = {}
        world = executor.world.memory
        for link in world.writes[: int(world.n_writes)]:
            part = int(link["part"])
            first = offset_of(world_dtype, "parts", part, "commanded_position", 0)
            if int(link["offset"]) == first:
                places[part] = int(link["interface"])
        for p in range(len(self._workcell.parts)):
            self.found.parts[p].command = places.get(p, -1)
        look = ctypes.PYFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(_compiled().address)
        addresses = executor.world.address, address_of(self.found)
        executor.lockstep.watch(lambda: look(*addresses))

    @property
    def commands(self) -> int:
        """Commands that left since the beginning; one of one joint in one tick each."""
        return int(self.found.commands)

    @property
    def violation(self) -> str:
        """The first violation, in words; empty: there was none."""
        found = self.found
        if not found.violations:
            return ""
        part = self._workcell.parts[int(found.part)]
        state = OperationalState(int(found.state)).name.lower() + (" (being enabled)" if found.being_enabled else "")
        modes = CommandMode(int(found.mode)).name.lower(), CommandMode(int(found.former_mode)).name.lower()
        return (
            f"{CHECKS[int(found.check)]} left in tick {found.tick}, of {self.commands} commands; {found.violations} in "
            f"all. Part {part.name!r}, {state}, joint {part.joint_names[int(found.joint)]!r}, mode {modes[0]} after "
            f"{modes[1]}: {found.value:.9g} after {found.former:.9g}, limit {found.bound:.9g}"
        )

    def check(self) -> None:
        """Raises: AssertionError, if a command was beyond a limit; it names the first one."""
        assert not self.found.violations, self.violation
