"""The executor's non-real-time side of an installation: copy, load native code, check, hand over at a tick boundary."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence

import numpy as np

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import motion_dtype, offset_of, tables_dtype, world_dtype
from robot_rt_control.realtime.executor.native_loader import NativeType
from robot_rt_control.realtime.executor.table_check import check_motion_queues, check_new_parameters, check_tables
from robot_rt_control.vocabulary.errors import ChannelError, RobotControlError

_PENDING = offset_of(world_dtype, "pending_tables")
_COUNTED = {
    rows: f"n_{rows}"
    for rows in ("types", "sessions", "actions", "reactions", "instructions", "streams", "axes", "strategies")
}
"""Field of the tables with many rows → the field with their number."""
_ROWS_BEGIN = min(offset_of(tables_dtype, name) for name in _COUNTED)
"""[bytes] Before it lies what has no such number."""


class Installer:
    """Takes what the server has staged into the world's inactive tables.

    Args:
        world: record of `layout.world_dtype`, and its address.
        load: gives the native code of a key, see `native_loader.load`.
        taken: called with what was staged once it is pending, before a tick takes it.
        ticking: whether another thread runs ticks meanwhile; in lockstep nobody does.
    """

    def __init__(
        self,
        world: np.record,
        address: int,
        channel: Channel,
        load: Callable[[str], NativeType],
        *,
        ticking: bool,
        taken: Callable[[np.record], object] = lambda _: None,
    ) -> None:
        self._world, self._address, self._channel, self._load = world, address, channel, load
        self._taken = taken
        self._ticking = ticking
        # Checked where the server cannot change it any more, and where it replaces nothing yet.
        self._tables: np.record = np.zeros(1, tables_dtype)[0]
        self._used = dict.fromkeys(_COUNTED, 0)
        """Field of the tables → the most rows of it that any tables have used."""
        self._keys: list[bytes] | None = None
        """Of the last tables' types; and their code, and their rows."""
        self._codes: list[NativeType | None] = []
        self._filled = np.zeros(0, tables_dtype["types"].base)

    def serve(self) -> bool:
        """Answer the request that is waiting, if there is one. Returns whether there was one."""
        if not self._channel.install_requested():
            return False
        try:
            self.install(self._channel.memory.staging)
        except RobotControlError as error:
            self._channel.answer_install(False, str(error))
        else:
            self._channel.answer_install(True, "")
        return True

    def install(self, staging: np.record) -> None:
        """Copy staged tables, fill in the addresses of native code, check everything, and make them pending.

        Raises:
            DefinitionError: the tables are not valid; nothing has changed.
            ChannelError: native code is missing or of another layout, the loop takes no tables, or there is no shared
                memory for the queue of a motion group.
        """
        self._wait_until_taken()
        w, tables = self._world, self._tables
        self._copy(tables, staging.tables)
        blobs = staging.blobs[: max(int(staging.n_blobs), 0)].copy()
        self._fill_in_code(tables)
        check_tables(tables, n_parts=int(w.n_parts))
        queues = check_motion_queues(tables, w.parts["dof"])
        check_new_parameters(int(staging.n_blobs), blobs, w.tables[int(w.active_tables)])
        for offset, size in queues:
            self._channel.commit_set_points(offset, size)
        store_release(self._address + _PENDING, 0)  # in lockstep, tables that nobody has taken yet are replaced
        self._copy(w.tables[1 - int(w.active_tables)], tables)
        for blob in blobs:
            first, last = int(blob["offset"]) // 8, int(blob["offset"] + blob["size"]) // 8
            w.parameter_arena[first:last] = staging.parameters[first:last]
        self._taken(staging)
        store_release(self._address + _PENDING, 1)

    def _fill_in_code(self, tables: np.record) -> None:
        if not 0 <= tables.n_types <= len(tables.types):
            raise ChannelError("program tables refused: n_types", expected=f"at most {len(tables.types)}")
        types = tables.types[: int(tables.n_types)]
        keys = types["key"].tolist()
        if keys != self._keys:
            self._codes = [self._load(key.decode(errors="replace")) if key else None for key in keys]
            self._filled = _filled(types, self._codes)
            self._keys = keys
        budgets = types["budget_ns"].copy()
        types[:] = self._filled
        types["budget_ns"] = budgets
        self._check_sizes(tables, self._codes)

    @staticmethod
    def _check_sizes(tables: np.record, codes: Sequence[NativeType | None]) -> None:
        """The records of actions and strategies have the sizes of their types, which have code."""
        parameters, state = (
            np.array([-1 if code is None else getattr(code, name) for code in codes] + [0], np.int64)
            for name in ("parameter_size", "state_size")
        )
        actions, laws = tables.actions[: tables.n_actions], tables.strategies[: tables.n_strategies]
        own = _of_these_types(actions[actions["identity"] != 0], len(codes))
        grouped = own["group"] != 0
        n, of = np.where(grouped, own["n_parts"], 1), own["type"]
        wrong = own["parameter_size"] != n * parameters[of]
        wrong |= own["state_size"] != np.where(grouped, motion_dtype.itemsize, 0) + n * state[of]
        mine = _of_these_types(laws, len(codes))
        wrong_laws = mine["parameter_size"] != parameters[mine["type"]]
        wrong_laws |= mine["state_size"] != state[mine["type"]]
        bad = np.concatenate([of[wrong | (state[of] < 0)], mine["type"][wrong_laws]])
        if not len(bad):
            return
        i = int(bad.min())
        code = codes[i]
        if code is None:
            raise ChannelError(f"program tables refused: action type {i}", expected="a type with code", got="none")
        raise ChannelError(
            f"program tables refused: records of action type {i}",
            expected=f"{code.parameter_size} bytes of parameters and {code.state_size} of state",
            got="another size",
            hint="Restart the control server",
        )

    def _copy(self, target: np.record, source: np.record) -> None:
        """Copy tables, without the rows that no tables have used yet: these are zero on both sides, and most of the
        8 MB are such rows."""
        ctypes.memmove(address_of(target), address_of(source), _ROWS_BEGIN)
        for rows, counter in _COUNTED.items():
            capacity = tables_dtype[rows].shape[0]
            # From the copy: the server may change its own at any time.
            self._used[rows] = max(self._used[rows], min(max(int(target[counter]), 0), capacity))
            offset, size = offset_of(tables_dtype, rows), tables_dtype[rows].base.itemsize
            ctypes.memmove(address_of(target) + offset, address_of(source) + offset, self._used[rows] * size)

    def _wait_until_taken(self) -> None:
        """Until the loop has taken the tables before these. In lockstep nobody does meanwhile."""
        deadline = time.monotonic() + 2.0
        while self._ticking and load_acquire(self._address + _PENDING):
            if time.monotonic() > deadline:
                raise ChannelError("the loop took no tables for 2 s", hint="Is the real-time thread running?")
            time.sleep(0.0002)


def _filled(types: np.ndarray, codes: Sequence[NativeType | None]) -> np.ndarray:
    """The tables' rows of action types with the addresses of their code."""
    filled = types.copy()
    for entry, code in zip(filled, codes, strict=True):
        entry.gap[:] = 0
        if code is None:
            entry.on_enter = entry.sense = entry.set_parameters = entry.control = 0
            continue
        entry.on_enter, entry.sense = code.on_enter, code.sense
        entry.set_parameters, entry.control = code.set_parameters, code.control
        entry.gap[: len(code.gap)] = code.gap
        entry.name = code.type_name.encode()[: entry.dtype["name"].itemsize]
    return filled


def _of_these_types(rows: np.ndarray, n: int) -> np.ndarray:
    """The rows whose type is one of n; `check_tables` refuses the others."""
    return rows[(rows["type"] >= 0) & (rows["type"] < n)]
