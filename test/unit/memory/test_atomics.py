"""Atomic access: the same answers compiled and interpreted, and real order between two threads."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

from robot_rt_control.memory import atomics
from robot_rt_control.memory.layout import record
from robot_rt_control.native.realtime_code import realtime

inner_dtype = record([("flag", "i4"), ("count", "i8"), ("values", "f8", (4,))])
outer_dtype = record([("first", "i8"), ("inner", inner_dtype, (3,)), ("bell", "i4", (2,))])
inner_at = atomics.record_at(inner_dtype)


@realtime
def inner_offset(outer, i):
    return atomics.address_of(outer.inner[i]) - atomics.address_of(outer)


@realtime
def field_offset(outer, i):
    return atomics.field_address(outer.inner[i], "count") - atomics.address_of(outer)


@realtime
def array_offset(outer, i):
    return atomics.address_of(outer.inner[i].values) - atomics.address_of(outer)


@realtime
def write_through_address(address, value):
    inner = inner_at(address)
    inner.count = value
    inner.values[3] = 2.5 * value
    return inner.count


@pytest.fixture
def outer():
    return np.zeros(1, outer_dtype)[0]


def test_addresses_point_into_the_memory_itself(outer):
    assert outer_dtype.fields is not None and inner_dtype.fields is not None
    base = outer_dtype.fields["inner"][1]
    for i in range(3):
        start = base + i * inner_dtype.itemsize
        assert inner_offset(outer, i) == start
        assert field_offset(outer, i) == start + inner_dtype.fields["count"][1]
        assert array_offset(outer, i) == start + inner_dtype.fields["values"][1]
        # plain Python, as non-real-time code calls it
        assert atomics.address_of(outer.inner[i]) - atomics.address_of(outer) == start
        assert atomics.field_address(outer.inner[i], "count") - atomics.address_of(outer) == field_offset(outer, i)


def test_a_record_at_an_address_is_the_memory_there(outer):
    assert write_through_address(atomics.address_of(outer.inner[1]), 6) == 6
    assert outer.inner[1].count == 6
    assert outer.inner[1].values[3] == 15.0
    again = inner_at(atomics.address_of(outer.inner[1]))
    again.flag = -3
    assert outer.inner[1].flag == -3


def test_an_unknown_field_is_refused(outer):
    with pytest.raises(KeyError, match="no field 'missing'"):
        atomics.field_address(outer, "missing")


@pytest.mark.parametrize("value", [0, 1, -1, 2**62, -(2**63)])
def test_loads_and_stores_of_64_bits(outer, value):
    address = atomics.field_address(outer, "first")
    atomics.store_release(address, value)
    assert outer.first == value
    assert atomics.load_acquire(address) == value
    atomics.store_relaxed(address, value // 2)
    assert atomics.load_relaxed(address) == value // 2 == outer.first


@pytest.mark.parametrize("value", [0, 7, -(2**31), 2**31 - 1])
def test_loads_and_stores_of_32_bits_leave_the_neighbour_alone(outer, value):
    outer.bell[1] = 99
    address = atomics.address_of(outer.bell)
    atomics.store_release_i4(address, value)
    assert (outer.bell[0], outer.bell[1]) == (value, 99)
    assert atomics.load_acquire_i4(address) == value


def test_copy_words_keeps_every_bit_and_the_bounds():
    source = np.array([1.5, -0.0, np.nan, np.inf, 5.0])
    destination = np.zeros(6)
    atomics.copy_words(atomics.address_of(destination), atomics.address_of(source), 4)
    assert destination[:4].tobytes() == source[:4].tobytes()
    assert destination[4] == destination[5] == 0.0


@realtime
def produce(data, counter, n):
    for i in range(1, n + 1):
        while atomics.load_acquire(counter + 8) != i - 1:
            pass
        data[0] = i
        data[1] = -i
        atomics.store_release(counter, i)


@realtime
def consume(data, counter, n):
    wrong = 0
    for i in range(1, n + 1):
        while atomics.load_acquire(counter) != i:
            pass
        if data[0] != i or data[1] != -i:
            wrong += 1
        atomics.store_release(counter + 8, i)
    return wrong


def test_compiled_data_published_by_a_release_is_seen_after_the_acquire():
    data, counters = np.zeros(2, np.int64), np.zeros(2, np.int64)
    address, n = atomics.address_of(counters), 2000
    produce(data, address, 0), consume(data, address, 0)  # compile before the threads start
    thread = threading.Thread(target=produce, args=(data, address, n))
    thread.start()
    wrong = consume(data, address, n)
    thread.join()
    assert wrong == 0
    assert counters[0] == counters[1] == n


def compiled_text(function, *arguments):
    """LLVM text of a fresh compilation: what comes from the cache has none."""
    fresh = numba.njit(function.py_func)
    fresh(*arguments)
    return "".join(fresh.inspect_llvm().values())


def test_compiled_code_tells_the_processor_the_order(outer):
    address = atomics.field_address(outer, "first")
    load, store = compiled_text(atomics.load_acquire, address), compiled_text(atomics.store_release, address, 1)
    assert "load atomic i64" in load and " acquire, align 8" in load
    assert "store atomic i64" in store and " release, align 8" in store
    assert "fence acquire" in compiled_text(atomics.fence_acquire)
    assert "fence release" in compiled_text(atomics.fence_release)
    assert "fence seq_cst" in compiled_text(atomics.fence_full)


@pytest.mark.long
def test_uncompiled_twin_passes_the_same_tests():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    arguments = ["-q", "-p", "no:cacheprovider", "-k", "not compiled", str(Path(__file__))]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "13 passed" in result.stdout
