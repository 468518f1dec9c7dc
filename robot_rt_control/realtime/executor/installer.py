"""The executor's non-real-time side of an installation: copy, load native code, check, hand over at a tick boundary."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import motion_dtype, offset_of, tables_dtype, world_dtype
from robot_rt_control.realtime.executor.native_loader import NativeType
from robot_rt_control.realtime.executor.table_check import check_motion_queues, check_new_parameters, check_tables
from robot_rt_control.vocabulary.errors import ChannelError, RobotControlError

_PENDING = offset_of(world_dtype, "pending_tables")


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
            ChannelError: native code is missing or of another layout, or the loop takes no tables.
        """
        self._wait_until_taken()
        w, tables = self._world, self._tables
        _copy(tables, staging.tables)
        blobs = staging.blobs[: max(int(staging.n_blobs), 0)].copy()
        self._fill_in_code(tables)
        check_tables(tables, n_parts=int(w.n_parts))
        check_motion_queues(tables, w.parts["dof"])
        check_new_parameters(int(staging.n_blobs), blobs, w.tables[int(w.active_tables)])
        store_release(self._address + _PENDING, 0)  # in lockstep, tables that nobody has taken yet are replaced
        _copy(w.tables[1 - int(w.active_tables)], tables)
        for blob in blobs:
            first, last = int(blob["offset"]) // 8, int(blob["offset"] + blob["size"]) // 8
            w.parameter_arena[first:last] = staging.parameters[first:last]
        self._taken(staging)
        store_release(self._address + _PENDING, 1)

    def _fill_in_code(self, tables: np.record) -> None:
        if not 0 <= tables.n_types <= len(tables.types):
            raise ChannelError("program tables refused: n_types", expected=f"at most {len(tables.types)}")
        for i in range(int(tables.n_types)):
            entry = tables.types[i]
            if not entry.key:
                self._check_unused(tables, i)
                continue
            code = self._load(bytes(entry.key).decode(errors="replace"))
            entry.on_enter, entry.sense = code.on_enter, code.sense
            entry.set_parameters, entry.control = code.set_parameters, code.control
            entry.gap[:] = 0
            entry.gap[: len(code.gap)] = code.gap
            entry.name = code.type_name.encode()[: entry.dtype["name"].itemsize]
            self._check_sizes(tables, i, code.parameter_size, code.state_size)

    @staticmethod
    def _check_unused(tables: np.record, i: int) -> None:
        entry, actions = tables.types[i], tables.actions[: tables.n_actions]
        entry.on_enter = entry.sense = entry.set_parameters = entry.control = 0
        entry.gap[:] = 0
        laws = tables.strategies[: tables.n_strategies]
        if ((actions["identity"] != 0) & (actions["type"] == i)).any() or (laws["type"] == i).any():
            raise ChannelError(f"program tables refused: action type {i}", expected="a type with code", got="none")

    def _check_sizes(self, tables: np.record, i: int, params_size: int, state_size: int) -> None:
        actions = tables.actions[: tables.n_actions]
        laws = tables.strategies[: tables.n_strategies]
        own = actions[(actions["identity"] != 0) & (actions["type"] == i)]
        grouped = own["group"] != 0
        n = np.where(grouped, own["n_parts"], 1)
        state = np.where(grouped, motion_dtype.itemsize, 0) + n * state_size
        mine = laws[laws["type"] == i]
        for sizes, expected in (
            (own["parameter_size"], n * params_size),
            (own["state_size"], state),
            (mine["parameter_size"], params_size),
            (mine["state_size"], state_size),
        ):
            if (sizes != expected).any():
                raise ChannelError(
                    f"program tables refused: records of action type {i}",
                    expected=f"{params_size} bytes of parameters and {state_size} of state",
                    got="another size",
                    hint="Restart the control server",
                )

    def _wait_until_taken(self) -> None:
        """Until the loop has taken the tables before these. In lockstep nobody does meanwhile."""
        deadline = time.monotonic() + 2.0
        while self._ticking and load_acquire(self._address + _PENDING):
            if time.monotonic() > deadline:
                raise ChannelError("the loop took no tables for 2 s", hint="Is the real-time thread running?")
            time.sleep(0.0002)


def _copy(target: np.record, source: np.record) -> None:
    """Copy one record over another of the same type."""
    ctypes.memmove(address_of(target), address_of(source), target.dtype.itemsize)
