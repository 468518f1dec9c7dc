"""The ring of the last ticks: copied while a loop writes it, a row is whole or it is not there."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import world_dtype
from robot_rt_control.realtime.tick.recorder import copy_rows, record_row, request_log
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.capacities import LOG_REQUESTS

COLUMNS = 40


class Ring:
    """A world whose recorder records one number, COLUMNS times."""

    def __init__(self, rows: int) -> None:
        self.world: Any = np.zeros(1, world_dtype)[0]
        self.source = np.zeros(1, np.int64)
        self.addresses = np.full(COLUMNS, address_of(self.source), np.int64)
        self.rows = np.full((rows, 1 + COLUMNS), -1, np.int64)
        self.copy = self.rows.copy()
        r = self.world.recorder
        r.rows, r.columns = address_of(self.rows), address_of(self.addresses)
        r.n_columns, r.n_rows, r.after = COLUMNS, rows, 10

    def take(self) -> np.ndarray:
        copy_rows(address_of(self.rows), len(self.rows), 1 + COLUMNS, address_of(self.copy))
        return self.copy[self.copy[:, 0] >= 0]


@numba.njit(nogil=True)
def write_for(w: Any, source: np.ndarray, ticks: int) -> None:
    for _ in range(ticks):
        w.tick += 1
        source[0] = w.tick
        record_row(w)


def test_the_ring_holds_the_last_ticks() -> None:
    ring = Ring(16)
    write_for(ring.world, ring.source, 40)
    rows = ring.take()
    assert sorted(rows[:, 0].tolist()) == list(range(25, 41)) and ring.world.recorder.last == 40
    assert (rows[:, 1:] == rows[:, :1]).all()


def test_a_row_that_is_copied_while_the_loop_writes_it_is_whole_or_not_there() -> None:
    ring = Ring(8)  # so few that most copies meet the writer
    write_for(ring.world, ring.source, 10)
    writer = threading.Thread(target=write_for, args=(ring.world, ring.source, 3_000_000))
    writer.start()
    copies = missing = 0
    deadline = time.monotonic() + 60.0
    while writer.is_alive() and time.monotonic() < deadline:
        rows = ring.take()
        copies += 1
        missing += len(ring.rows) - len(rows)
        assert (rows[:, 1:] == rows[:, :1]).all(), "a torn row"
    writer.join()
    assert copies > 100 and missing > 0, "the copies did meet the writer"


def test_nothing_is_recorded_without_a_ring() -> None:
    world: Any = np.zeros(1, world_dtype)[0]
    record_row(world)
    assert request_log(world, 9, 1, 0, 0, 0, -1) == 0 and world.recorder.last == 0


def test_what_follows_soon_shares_a_log_and_a_request_that_cannot_wait_gets_none() -> None:
    ring = Ring(16)
    w = ring.world
    w.tick = 100
    assert request_log(w, 9, 1, 2, 3, 0, 5) == 1
    w.tick = 110
    assert request_log(w, 8, 0, 4, -1, 7, 6) == 1
    request = w.recorder.requests[0]
    assert (request.tick, request.kind, request.reason, request.part, request.joint) == (100, 9, 1, 2, 3)
    for n in range(2, LOG_REQUESTS + 4):
        w.tick += 11
        assert request_log(w, 9, 1, 0, 0, 0, -1) == (n if n <= LOG_REQUESTS else 0)
    w.recorder.written = 1
    assert request_log(w, 9, 1, 0, 0, 0, -1) == LOG_REQUESTS + 1


def test_compiled_equals_interpreted() -> None:
    twin: SimpleNamespace = interpreted("robot_rt_control.realtime.tick.recorder")  # type: ignore[assignment]  # a module
    a, b = Ring(8), Ring(8)
    for tick in range(1, 20):
        for ring, code in ((a, record_row), (b, twin.record_row)):
            ring.world.tick, ring.source[0] = tick, 3 * tick
            code(ring.world)
    assert (a.rows == b.rows).all()
    twin.copy_rows(address_of(b.rows), 8, 1 + COLUMNS, address_of(b.copy))
    assert (a.take() == b.copy[b.copy[:, 0] >= 0]).all()


@pytest.mark.parametrize("tick", [7, 8, 9])
def test_a_row_under_way_is_left_out(tick: int) -> None:
    ring = Ring(8)
    write_for(ring.world, ring.source, 10)
    ring.rows[tick % 8, 0] = -1
    assert tick not in ring.take()[:, 0].tolist() and len(ring.take()) == 7
