"""Packets in both directions, against `struct` and the checksum of Python's library."""

from __future__ import annotations

import binascii
import struct
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.hardware.drives.packets import analyze_rx_packet, generate_tx_packet, wrapped
from robot_rt_control.memory.drive_layout import drives_dtype

INT32 = st.integers(-(2**31), 2**31 - 1)
COMMAND = st.tuples(
    st.integers(0, 2**16 - 1), st.integers(0, 4), st.integers(-(2**40), 2**40), *[st.integers(-(2**40), 2**40)] * 2
)
ACTUAL = st.tuples(st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1), INT32, INT32, INT32)
ACTUAL_FIELDS = ("statusword", "error", "count", "velocity", "current")
DT = 1e-3


def drives(n: int, sequence: int = 0) -> np.record:
    """One drive with n motors on node 5."""
    record: np.record = np.zeros(1, drives_dtype)[0]
    drive = record.drives[0]
    drive.node, drive.n_motors, drive.first_motor, drive.sequence = 5, n, 2, sequence
    record.motors["counts"] = 1000.0
    return record


def sealed(content: bytes) -> bytes:
    return content + struct.pack("<H", binascii.crc_hqx(content, 0xFFFF))


def arrive(record: np.record, data: bytes) -> None:
    packet = record.drives[0].rx[int(record.drives[0].n_rx)]
    packet.bytes[: len(data)] = np.frombuffer(data, np.uint8)
    packet.size = len(data)
    record.drives[0].n_rx += 1


def answer(sequence: int, motors: list[tuple[int, ...]]) -> bytes:
    head = struct.pack("<BBH", 5, len(motors), sequence & 0xFFFF)
    return sealed(head + b"".join(struct.pack("<HHiii", *m) for m in motors))


def cut(value: int) -> int:
    return min(max(value, -(2**31) + 1), 2**31 - 1)


def actual(record: np.record, n: int) -> list[tuple[Any, ...]]:
    return [tuple(int(m[f]) for f in ACTUAL_FIELDS) for m in record.motors[2 : 2 + n]]


@settings(max_examples=tries(15, whole=50))
@given(st.lists(COMMAND, min_size=1, max_size=8), st.integers(0, 2**16 - 1))
def test_a_packet_carries_the_command_values_of_all_motors(motors: list[tuple[int, ...]], sequence: int) -> None:
    record = drives(len(motors), sequence)
    for own, values in zip(record.motors[2:], motors, strict=False):
        own.control, own.mode, own.target, own.target_velocity, own.target_current = values
    generate_tx_packet(record, 0)
    packet = record.drives[0].tx
    content = struct.pack("<BBH", 5, len(motors), (sequence + 1) & 0xFFFF)
    for control, mode, target, velocity, current in motors:
        content += struct.pack("<HBBIii", control, mode, 0, target & 0xFFFFFFFF, cut(velocity), cut(current))
    assert bytes(packet.bytes[: int(packet.size)]) == sealed(content)


@settings(max_examples=tries(15, whole=50))
@given(st.lists(ACTUAL, min_size=1, max_size=8), st.integers(0, 2**16 - 1))
def test_an_answer_gives_the_actual_values_of_all_motors(motors: list[tuple[int, ...]], sequence: int) -> None:
    record = drives(len(motors), sequence)
    generate_tx_packet(record, 0)
    arrive(record, answer(sequence + 1, motors))
    analyze_rx_packet(record, 0, DT)
    assert actual(record, len(motors)) == motors
    drive = record.drives[0]
    assert [int(drive[k]) for k in ("since", "n_rx", "lost", "late", "repeated", "corrupt")] == [0] * 6


@settings(max_examples=tries(25, whole=100))
@given(st.lists(ACTUAL, min_size=1, max_size=8), st.data())
def test_a_damaged_answer_is_counted_and_changes_nothing(motors: list[tuple[int, ...]], data: st.DataObject) -> None:
    record = drives(len(motors))
    generate_tx_packet(record, 0)
    good = bytearray(answer(1, motors))
    kind = data.draw(st.sampled_from(("a bit", "cut", "longer", "other node")))
    if kind == "a bit":
        bit = data.draw(st.integers(0, 8 * len(good) - 1))
        good[bit // 8] ^= 1 << bit % 8
    elif kind == "cut":
        good = good[: data.draw(st.integers(0, len(good) - 1))]
    elif kind == "longer":
        good += b"\0"
    else:
        good = bytearray(sealed(b"\6" + bytes(good[1:-2])))
    arrive(record, bytes(good))
    before = record.motors.tobytes()
    analyze_rx_packet(record, 0, DT)
    drive = record.drives[0]
    assert record.motors.tobytes() == before and (int(drive.corrupt), int(drive.since)) == (1, 1)


@settings(max_examples=tries(15, whole=50))
@given(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), min_size=2, max_size=10))
def test_positions_are_counted_on_when_they_wrap_around(steps: list[int]) -> None:
    record, count = drives(1), 0
    for i, step in enumerate(steps):
        count += step if i else 0
        generate_tx_packet(record, 0)
        arrive(record, answer(i + 1, [(0, 0, int(wrapped(count)), 0, 0)]))
        analyze_rx_packet(record, 0, DT)
        assert int(record.motors[2].count) == count


@settings(max_examples=tries(25, whole=100))
@given(st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=60), st.sampled_from((0, 65500)))
def test_packets_are_counted_as_what_they_are(arrivals: list[list[int]], first: int) -> None:
    """Each exchange gets answers to requests so many exchanges ago; a model with sets counts them, too."""
    record, seen, newest, late, repeated = drives(1, first), set[int](), 0, 0, 0
    for i, behind in enumerate(arrivals, start=1):
        generate_tx_packet(record, 0)
        for b in behind:
            number = i - b
            if number < 1:
                continue
            arrive(record, answer(first + number, [(0, 0, number, 0, 0)]))
            if number <= newest:
                repeated += 1
                continue
            seen.add(number)
            newest = number
            late += b > 0
        analyze_rx_packet(record, 0, DT)
        drive = record.drives[0]
        assert int(drive.since) == i - newest and int(record.motors[2].count) == newest
        assert [int(drive[k]) for k in ("late", "repeated", "lost")] == [late, repeated, newest - len(seen)]


def test_a_corrupt_answer_is_not_counted_as_lost_too() -> None:
    record = drives(1)
    for number, damage in ((1, 0), (2, 1), (3, 0), (4, 0)):
        generate_tx_packet(record, 0)
        data = bytearray(answer(number, [(0, 0, number, number * 10, 0)]))
        data[6] ^= damage
        if number != 3:
            arrive(record, bytes(data))
        analyze_rx_packet(record, 0, DT)
    drive = record.drives[0]
    assert (int(drive.corrupt), int(drive.lost)) == (1, 1)
    assert record.motors[2].acceleration == (40 - 10) / (1000 * 3 * DT), "over the exchanges that have passed"
