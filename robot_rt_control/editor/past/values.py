"""Values of recorded variables: of each tick, or of a long range in columns, for plots."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_rt_control.editor.past.recorded import Json, Recorded
from robot_rt_control.recording.columns import TICK, TIME, Column
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.part_kinds import JOINT_QUANTITIES, PART_KINDS, quantity_units

MOST_NAMES, MOST_COLUMNS, MOST_SAMPLES = 16, 4096, 20_000
_AT_ONCE = 16_384
"""Ticks that are looked at together."""
_FIELDS = ("min", "max", "first", "last")


@dataclass(frozen=True)
class _Word:
    """Where a variable is in a row."""

    place: int
    column: Column
    element: int


def variables(it: Recorded) -> list[Json]:
    """Each recorded number that can be plotted: `name`, `unit`, `description`. An element of an array is
    `arm.position[2]`."""
    parts = {part["name"]: part for part in it.parts}
    found = []
    for name, word in words_of(it).items():
        part, _, quantity = word.column.name.rpartition(".")
        unit, description = _meaning(parts.get(part, {}), quantity, word.element)
        found.append({"name": name, "unit": unit, "description": description})
    return found


def words_of(it: Recorded) -> dict[str, _Word]:
    """Variable → its place; of all but tick, time and the modes of joints, which share a word."""
    found: dict[str, _Word] = {}
    place = 0
    for column in it.file.columns:
        if column.name not in (TICK, TIME) and not column.modes_of:
            for i in range(column.width):
                name = column.name if column.scalar else f"{column.name}[{i}]"
                found[name] = _Word(place + i, column, i)
        place += column.width
    return found


def column_bytes(it: Recorded, names: Sequence[str], first: int, last: int, count: int) -> bytes:
    """`last - first + 1` ticks in `count` columns of equal width, little-endian. Of each name: the least, the greatest,
    the earliest and the latest known value of each column as float64, NaN: none. Then of each name a byte for each
    column: 1, if one of its ticks is missing or unknown.

    Raises:
        ValueError: there is no such variable, or the range is empty.
    """
    words = _found(it, names, first, last)
    n = last - first + 1
    numbers = {field: np.full((len(names), count), np.nan) for field in _FIELDS}
    known = np.zeros((len(names), count), np.int64)
    for ticks, values in _values(it, words, first, last):
        at = (ticks - first) * count // n
        for i in range(len(names)):
            is_known = ~np.isnan(values[i])
            where, these = at[is_known], values[i][is_known]
            if not len(where):
                continue
            begins = np.flatnonzero(np.concatenate([[True], np.diff(where) != 0]))
            ends = np.concatenate([begins[1:], [len(where)]])
            columns = where[begins]
            known[i, columns] += ends - begins
            of = {field: numbers[field][i] for field in _FIELDS}
            of["min"][columns] = np.fmin(of["min"][columns], np.minimum.reduceat(these, begins))
            of["max"][columns] = np.fmax(of["max"][columns], np.maximum.reduceat(these, begins))
            is_first = np.isnan(of["first"][columns])
            of["first"][columns[is_first]] = these[begins[is_first]]
            of["last"][columns] = these[ends - 1]
    edges = -((-np.arange(count + 1) * n) // count)  # first tick of each column, from `first`
    broken = (known < np.diff(edges)).astype(np.uint8)
    parts = [numbers[field][i].astype("<f8").tobytes() for i in range(len(names)) for field in _FIELDS]
    return b"".join([*parts, broken.tobytes()])


def sample_bytes(it: Recorded, names: Sequence[str], first: int, last: int) -> bytes:
    """Every value of a range, little-endian: how many ticks n and names as uint32; the ticks that are there as
    float64; of each name its value in each as float64, NaN: unknown.

    Raises:
        ValueError: there is no such variable, or the range is empty.
    """
    words = _found(it, names, first, last)
    blocks = list(_values(it, words, first, last))
    ticks = np.concatenate([block for block, _ in blocks]) if blocks else np.zeros(0, np.int64)
    values = np.concatenate([block for _, block in blocks], axis=1) if blocks else np.zeros((len(names), 0))
    head = struct.pack("<II", len(ticks), len(names))
    return head + ticks.astype("<f8").tobytes() + values.astype("<f8").tobytes()


def _found(it: Recorded, names: Sequence[str], first: int, last: int) -> list[_Word]:
    words = words_of(it)
    unknown = [name for name in names if name not in words]
    if unknown:
        raise ValueError(f"the recording has no variable {unknown[0][:100]!r}")
    if last < first:
        raise ValueError("last: a tick that is not before first is expected")
    return [words[name] for name in names]


def _values(it: Recorded, words: Sequence[_Word], first: int, last: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Ticks, and of each word the values in them; some ticks at a time."""
    places = [0, *(word.place for word in words)]
    waiting: list[np.ndarray] = []
    for block in it.index.blocks(max(first, it.index.first), min(last, it.index.last)):
        waiting.append(block[:, places])
        if sum(map(len, waiting)) >= _AT_ONCE:
            yield _numbers(np.concatenate(waiting), words)
            waiting = []
    if waiting:
        yield _numbers(np.concatenate(waiting), words)


def _numbers(rows: np.ndarray, words: Sequence[_Word]) -> tuple[np.ndarray, np.ndarray]:
    values = np.empty((len(words), len(rows)))
    for i, word in enumerate(words):
        column = np.ascontiguousarray(rows[:, i + 1])
        values[i] = column if word.column.integer else column.view(np.float64)
    return rows[:, 0], values


def _meaning(part: dict[str, Any], quantity: str, element: int) -> tuple[str, str]:
    """Unit and description."""
    units = part.get("units", ())
    for each in JOINT_QUANTITIES:
        if each.field == quantity and element < len(units):
            return quantity_units(units[element])[each.quantity], f"{part['joints'][element]}: {each.description}"
    try:
        kind = PART_KINDS[PartKind[str(part.get("kind", "")).upper()]]
    except KeyError:
        return "", ""
    for measured in (*kind.measured, *kind.derived):
        if measured.field == quantity and (measured.index or 0) == element:
            return measured.unit, measured.description
    return ("ticks", "age of its values") if quantity == "age" else ("", "")
