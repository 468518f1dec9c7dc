"""Ticks as bytes: what is packed is read again to the bit, and what is damaged is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robot_rt_control.ros.tick_batches import MAX_ROWS, MAX_WORDS, TickBatch, TickNames, batch_of, names_of

NAMES = TickNames(
    version=7, period=0.001, columns=4, variables={"arm.position[0]": 1, "interval": 3}, actions={"arm": 2},
    integers=frozenset({0, 2}),
)  # fmt: skip


def rows(n: int, columns: int = 4) -> np.ndarray:
    found = np.random.default_rng(1).integers(-(2**62), 2**62, (n, columns))
    found[:, 0] = np.arange(10, 10 + n)
    return found


@given(arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(1, 20))), st.integers(0, 2**32 - 1))
def test_what_is_packed_is_read_again_to_the_bit(words: np.ndarray, version: int) -> None:
    words[:, 0] = np.arange(len(words))
    words[:, words.shape[1] // 2 + 1 :] = words[0, words.shape[1] // 2 + 1 :]
    found = batch_of(bytes(TickBatch(version=version, rows=words, action_names={3: "näher"}).packed()))
    assert (found.version, found.action_names) == (version, {3: "näher"})
    assert np.array_equal(found.rows, words)


def test_unknown_is_packed_as_unknown() -> None:
    words = rows(3)
    words.view(np.float64)[1, 1] = np.nan
    found = batch_of(bytes(TickBatch(version=1, rows=words, action_names={}).packed()))
    assert np.isnan(found.rows.view(np.float64)[1, 1])


def test_what_does_not_change_is_sent_once() -> None:
    still, moving = rows(100, 50), rows(100, 50)
    still[:, 1:] = still[0, 1:]
    sizes = [len(TickBatch(version=1, rows=each, action_names={}).packed()) for each in (still, moving)]
    assert sizes[0] < 8 * 160 < 8 * 5000 < sizes[1]


def test_names_are_read_again() -> None:
    assert names_of(NAMES.text()) == NAMES


@pytest.mark.parametrize("text", [
    "", "{", "[]", "{}", "[" * 100_000, NAMES.text().replace('"columns": 4', '"columns": 3'),
    NAMES.text().replace("0.001", "0"), NAMES.text().replace("0.001", "Infinity"), NAMES.text().replace("0.001", "NaN"),
    NAMES.text().replace("0.001", "1e-310"), NAMES.text().replace("0.001", "9e-7"),
    NAMES.text().replace('"arm.position[0]": 1', '"arm.position[0]": -1'),
    NAMES.text().replace('"arm.position[0]": 1', '"arm.position[0]": Infinity'),
])  # fmt: skip
def test_names_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        names_of(text)


def test_a_batch_that_is_none_is_refused() -> None:
    good = bytes(TickBatch(version=1, rows=rows(3), action_names={1: "a"}).packed())
    assert len(batch_of(good).rows) == 3
    back, twice, many = rows(3)[::-1], np.repeat(rows(1), 2, axis=0), rows(MAX_ROWS + 1)
    wrong = [bytes(TickBatch(version=1, rows=each, action_names={}).packed()) for each in (back, twice, many)]
    for n in range(len(good)):
        wrong.append(good[:n])
    wide = np.zeros((MAX_ROWS, MAX_WORDS // MAX_ROWS + 1), np.int64)
    wide[:, 0] = np.arange(MAX_ROWS)
    wrong.append(bytes(TickBatch(version=1, rows=wide, action_names={}).packed()))
    assert len(wrong[-1]) < 100_000, "a short message of much memory"
    for data in (*wrong, good + b" ", good[:-1] + b"]", bytes(16), b"\xff" * 1000):
        with pytest.raises(ValueError):
            batch_of(data)
