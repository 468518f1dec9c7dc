"""The watch outside the loop: ends the process if an action's code does not come back, and says which action it was.

It judges by the processor time that the loop's own thread has used inside one action in one tick. So a busy machine,
a process that is stopped and a debugger never trigger it. It needs no GIL: in lockstep the loop may hold it.
The drivers bring their devices to rest by themselves once the executor is silent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from robot_rt_control.memory.atomics import address_of, load_acquire, record_at, store_release
from robot_rt_control.memory.clock import now_ns, sleep_until
from robot_rt_control.memory.layout import action_dtype, offset_of, record, session_dtype, tables_dtype, world_dtype
from robot_rt_control.memory.plain_access import copy_bytes
from robot_rt_control.memory.process_calls import clock_ns, end_process, write_to
from robot_rt_control.native.realtime_code import blocking_entry, realtime
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.scheduling import make_realtime
from robot_rt_control.vocabulary.capacities import MAX_ACTIONS, MAX_LABEL_BYTES

EXIT_CODE = 70
"""Exit code of a process that this watch has ended."""
LIMIT_S = 1.0
"""[s] of processor time inside one action in one tick."""
_LOOK_NS = 50_000_000
_STANDARD_ERROR = 2
_PIECE_BYTES = 256
_PIECES = (
    b"[FATAL] the real-time loop does not come back from action '",
    b"' (type '",
    b"') of session '",
    b"': its code has used more than %g s of processor time in one tick. This process ends now; the drivers bring "
    b"their devices to rest. Give the action's loops a bound.\n" % LIMIT_S,
)

guard_dtype = record(
    [
        ("stop", "i8"),  # set from outside to end the watch
        ("limit_ns", "i8"),
        ("pieces", "u1", (len(_PIECES), _PIECE_BYTES)),  # of the message, before and after the names; ended by 0
        ("text", "u1", (len(_PIECES) * _PIECE_BYTES + 3 * MAX_LABEL_BYTES,)),
    ]
)

_world_at: Callable[[int], Any] = record_at(world_dtype)
_guard_at: Callable[[int], Any] = record_at(guard_dtype)

_STOP = offset_of(guard_dtype, "stop")
_TEXT = offset_of(guard_dtype, "text")
_FIRST_PIECE = offset_of(guard_dtype, "pieces")
_TICK = offset_of(world_dtype, "tick")
_INSIDE = offset_of(world_dtype, "inside")
_CLOCK = offset_of(world_dtype, "loop_clock")
_TABLES = offset_of(world_dtype, "tables")
_ACTIONS = offset_of(tables_dtype, "actions")
_TYPES = offset_of(tables_dtype, "types")
_SESSIONS = offset_of(tables_dtype, "sessions")
_TABLES_SIZE = tables_dtype.itemsize
_ACTION_SIZE, _ACTION_NAME = action_dtype.itemsize, offset_of(action_dtype, "name")
_SESSION_SIZE, _SESSION_NAME = session_dtype.itemsize, offset_of(session_dtype, "name")
_TYPE_SIZE = tables_dtype["types"].base.itemsize
_TYPE_NAME = offset_of(tables_dtype["types"].base, "name")


@realtime
def _append(g, length, address, most):
    """Append the bytes at an address, up to a 0, to the text. Returns its new length."""
    copy_bytes(address_of(g) + _TEXT + length, address, most)
    for i in range(length, length + most):
        if g.text[i] == 0:
            return i
    return length + most


@realtime
def compose(w, g):
    """Write the message about the action that the loop is in into `g.text`. Returns its length."""
    active = int(w.active_tables)
    slot = w.inside - 1
    if slot >= MAX_ACTIONS:  # it is tried before its tables are taken
        active, slot = 1 - active, slot - MAX_ACTIONS
    a = w.tables[active].actions[slot]
    tables = address_of(w) + _TABLES + active * _TABLES_SIZE
    pieces = address_of(g) + _FIRST_PIECE
    n = _append(g, 0, pieces, _PIECE_BYTES)
    n = _append(g, n, tables + _ACTIONS + slot * _ACTION_SIZE + _ACTION_NAME, MAX_LABEL_BYTES)
    n = _append(g, n, pieces + _PIECE_BYTES, _PIECE_BYTES)
    n = _append(g, n, tables + _TYPES + int(a.type) * _TYPE_SIZE + _TYPE_NAME, MAX_LABEL_BYTES)
    n = _append(g, n, pieces + 2 * _PIECE_BYTES, _PIECE_BYTES)
    n = _append(g, n, tables + _SESSIONS + int(a.session) * _SESSION_SIZE + _SESSION_NAME, MAX_LABEL_BYTES)
    return _append(g, n, pieces + 3 * _PIECE_BYTES, _PIECE_BYTES)


@blocking_entry
def guard(world: int, memory: int) -> None:
    """Look at the loop until `stop`; end the process if it stays inside one action in one tick.

    Args:
        world: address of the loop's world.
        memory: address of a record of `guard_dtype`.
    """
    g, stop = _guard_at(memory), memory + _STOP
    tick, inside, clock, began = 0, 0, 0, 0
    while load_acquire(stop) == 0:
        now_tick, now_inside = load_acquire(world + _TICK), load_acquire(world + _INSIDE)
        now_clock = load_acquire(world + _CLOCK)
        used = -1
        if now_inside != 0 and now_clock != 0:
            used = clock_ns(now_clock)
        if used < 0 or now_inside != inside or now_tick != tick or now_clock != clock:
            tick, inside, clock, began = now_tick, now_inside, now_clock, used
            if used < 0:
                inside = 0
        elif used - began > g.limit_ns:
            write_to(_STANDARD_ERROR, address_of(g) + _TEXT, compose(_world_at(world), g))
            end_process(EXIT_CODE)
        sleep_until(now_ns() + _LOOK_NS)


class LoopGuard:
    """Watches a loop from `start` to `stop`.

    Args:
        priority: of the thread under SCHED_FIFO, above the loop's; 0: an ordinary thread.
    """

    def __init__(self, world: World, *, priority: int, limit_s: float = LIMIT_S) -> None:
        self._world, self._priority = world, priority
        self.memory: np.record = np.zeros(1, guard_dtype)[0]
        self.memory.limit_ns = int(limit_s * 1e9)
        for place, piece in zip(self.memory.pieces, _PIECES, strict=True):
            place[: len(piece)] = np.frombuffer(piece, np.uint8)
        self._thread = threading.Thread(target=self._run, name="loop guard", daemon=True)

    def compile(self) -> None:
        """Compile the watch, or load it from the cache, without watching anything."""
        idle = np.zeros(1, guard_dtype)[0]
        idle.stop = 1
        guard(address_of(self._world.memory), address_of(idle))

    def start(self) -> None:
        """Begin to watch; call `compile` first."""
        self._thread.start()

    def stop(self) -> None:
        """End the watch; may be repeated."""
        store_release(address_of(self.memory) + _STOP, 1)
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        make_realtime(priority=self._priority, cpu=-1, lock=False)  # what is not granted, the loop's thread reports
        guard(address_of(self._world.memory), address_of(self.memory))
