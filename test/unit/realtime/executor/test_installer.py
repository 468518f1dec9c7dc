"""Installations: copied, checked where they replace nothing, handed over as a whole, answered in words."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

import numpy as np
import pytest

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.installer import Installer
from robot_rt_control.realtime.executor.native_loader import NativeType
from robot_rt_control.vocabulary.capacities import PARAMETER_ARENA_BYTES
from robot_rt_control.vocabulary.errors import ChannelError, DefinitionError

KEY = b"0123456789abcdef" * 4
LAST = PARAMETER_ARENA_BYTES - 8


def native(key: str) -> NativeType:
    if key != KEY.decode():
        raise DefinitionError("key of native code", expected="64 hexadecimal digits", got=repr(key))
    return NativeType(key, "test", 1, 0, 16, 0, 8, on_enter=1001, sense=1002, set_parameters=1003, control=1004)


class Bench:
    """An installer, and staged tables with one action that fits."""

    def __init__(self, world: World, *, ticking: bool = False) -> None:
        self.world, self.channel = world.memory, Channel.private()
        self.installer = Installer(world.memory, world.address, self.channel, native, ticking=ticking)
        self.staging: Any = self.channel.memory.staging
        t = self.staging.tables
        t.default_action[:] = t.safety_action[:] = -1
        t.version, t.n_types, t.n_sessions, t.n_actions = 1, 1, 1, 1
        t.types[0].key = KEY
        t.types[0].control = 666  # an address from another process: nobody may call it
        t.sessions[0].identity = 5
        action = t.actions[0]
        action.identity, action.n_parts, action.parameter_size, action.state_size = 9, 1, 8, 16
        action.parameter_offset = LAST

    @property
    def inactive(self) -> Any:
        return self.world.tables[1 - int(self.world.active_tables)]

    def take(self) -> None:
        """What the tick does."""
        self.world.active_tables = 1 - int(self.world.active_tables)
        self.world.pending_tables = 0

    def reason(self) -> str:
        """Serve a request. Returns why it was refused; empty: it was accepted."""
        request = self.channel.request_install()
        assert self.installer.serve() and self.channel.install_answered(request)
        reason = bytes(self.staging.reason).decode()
        assert bool(self.staging.accepted) == (not reason)
        return reason


@pytest.fixture
def bench(world: World) -> Bench:
    return Bench(world)


def test_tables_are_copied_with_the_addresses_of_this_process(bench: Bench) -> None:
    assert not bench.installer.serve(), "nobody asked"
    assert bench.reason() == "" and bench.world.pending_tables == 1
    t = bench.inactive
    assert (t.version, t.n_actions, t.actions[0].identity) == (1, 1, 9)
    code = t.types[0]
    assert (code.on_enter, code.sense, code.set_parameters, code.control) == (1001, 1002, 1003, 1004)
    bench.staging.tables.actions[0].identity = 10
    assert t.actions[0].identity == 9, "the server cannot change them any more"


def test_new_parameters_are_copied_and_others_stay(bench: Bench) -> None:
    arena, last = bench.world.parameter_arena, LAST // 8
    arena[last - 2 :] = 7.0
    bench.staging.parameters[last - 2 :] = 1.0, 2.0, 3.0
    bench.staging.n_blobs = 1
    bench.staging.blobs[0]["offset"], bench.staging.blobs[0]["size"] = LAST - 8, 16
    assert bench.reason() == ""
    np.testing.assert_array_equal(arena[last - 2 :], [7.0, 2.0, 3.0])


def test_parameters_in_use_are_not_overwritten(bench: Bench) -> None:
    assert bench.reason() == ""
    bench.take()
    bench.staging.n_blobs = 1
    bench.staging.blobs[0]["offset"], bench.staging.blobs[0]["size"] = LAST, 8
    assert "new parameters, beside those in use" in bench.reason()
    bench.staging.n_blobs = -3
    assert "number of new parameter records" in bench.reason()


def test_refused_tables_leave_those_that_nobody_has_taken_yet(bench: Bench) -> None:
    assert bench.reason() == ""
    pending = bench.inactive.tobytes()
    bench.staging.tables.n_free_reactions = 4
    assert bench.reason().startswith("program tables refused: n_free_reactions")
    bench.staging.tables.types[0].key = b"\xff\xfe"
    assert bench.reason().startswith("key of native code; expected 64 hexadecimal digits")
    bench.staging.tables.n_types = 9999
    assert bench.reason().startswith("program tables refused: n_types")
    assert bench.world.pending_tables == 1 and bench.inactive.tobytes() == pending


def test_records_of_another_size_are_refused(bench: Bench) -> None:
    bench.staging.tables.actions[0].state_size = 24
    assert bench.reason() == (
        "program tables refused: records of action type 0; expected 8 bytes of parameters and 16 of state; "
        "got another size. Restart the control server"
    )
    assert bench.world.pending_tables == 0


def test_in_lockstep_later_tables_replace_those_that_nobody_has_taken(bench: Bench) -> None:
    assert bench.reason() == ""
    bench.staging.tables.version = 2
    assert bench.reason() == ""
    assert (bench.world.pending_tables, bench.inactive.version) == (1, 2)


def test_while_the_loop_ticks_they_wait_until_it_has_taken_those_before(world: World) -> None:
    bench = Bench(world, ticking=True)
    assert bench.reason() == ""
    bench.staging.tables.version = 2
    timer = threading.Timer(0.1, bench.take)
    timer.start()
    begin = time.monotonic()
    assert bench.reason() == ""
    assert time.monotonic() - begin >= 0.09
    timer.join()
    versions = [
        int(bench.world.tables[i].version) for i in (int(bench.world.active_tables), 1 - int(bench.world.active_tables))
    ]
    assert versions == [1, 2]


def test_a_loop_that_takes_nothing_is_an_error(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(world, ticking=True)
    bench.world.pending_tables = 1
    clock = iter(range(1000))
    monkeypatch.setattr("robot_rt_control.realtime.executor.installer.time.monotonic", lambda: float(next(clock)))
    with pytest.raises(ChannelError, match="the loop took no tables for 2 s. Is the real-time thread running"):
        bench.installer.install(bench.staging)


def test_the_copy_is_exact(bench: Bench) -> None:
    """Also the padding of rows, and what tables have used that were larger."""
    t = bench.staging.tables
    t.n_sessions = 3
    t.sessions["identity"][:3] = 5, 6, 7
    ctypes.memset(address_of(t.actions) + t.actions.dtype.itemsize - 8, 0x5A, 8)
    assert bench.reason() == ""
    bench.take()
    assert bench.reason() == ""
    bench.take()
    t.n_sessions = 1
    t.sessions["identity"][1:3] = 0
    assert bench.reason() == ""
    assert bench.inactive.actions[:1].tobytes() == t.actions[:1].tobytes()
    assert bench.inactive.sessions.tobytes() == t.sessions.tobytes()


def test_rows_that_no_tables_have_used_are_not_copied(bench: Bench) -> None:
    """Most of the 8 MB are such rows, and copying them takes longer than the rest of an installation."""
    t = bench.staging.tables
    ctypes.memset(address_of(t.instructions), 0x5A, 64)
    assert bench.reason() == ""
    assert not any(bench.inactive.instructions[:2].tobytes())


def test_types_get_their_code_again_when_they_change(bench: Bench) -> None:
    """The rows of the last types are kept, but for their budgets."""
    t = bench.staging.tables
    t.types[0].budget_ns = 1000
    assert bench.reason() == "" and bench.inactive.types[0].budget_ns == 1000
    t.types[0].budget_ns, t.types[0].control = 2000, 666
    assert bench.reason() == ""
    assert (bench.inactive.types[0].budget_ns, bench.inactive.types[0].control) == (2000, 1004)
    t.n_types, t.types[1].key = 2, KEY
    assert bench.reason() == "" and bench.inactive.types[1].control == 1004
    t.types[1].key = b""
    assert bench.reason() == "" and bench.inactive.types[1].control == 0
    t.types[0].key, t.types[1].key = b"", KEY
    assert "action type 0; expected a type with code; got none" in bench.reason()
