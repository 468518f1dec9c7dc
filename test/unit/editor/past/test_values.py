"""Recorded variables for plots: each value, or columns of a long range."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_recording import position, write_recording

from robot_rt_control.editor.past.recorded import Recorded
from robot_rt_control.editor.past.values import column_bytes, sample_bytes, variables

FIRST, LAST = 11, 2010
LOST = range(600, 700)


@pytest.fixture(scope="module")
def it(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    path = tmp_path_factory.mktemp("values") / "a.mcap"
    made = Recorded(write_recording(path, LAST - FIRST + 1, first=FIRST, without=LOST))
    yield made
    made.close()


def test_each_number_has_name_unit_and_meaning(it: Recorded) -> None:
    found = {each["name"]: (each["unit"], each["description"]) for each in variables(it)}
    assert found["arm.position[1]"] == ("rad", "slide: measured position")
    assert found["arm.commanded_velocity[0]"] == ("rad/s", "turn: velocity of the last command")
    assert found["eye.distance"][0] == "m" and found["arm.state"] == ("", "")
    assert not {"tick", "time_ns"} & set(found)


def samples(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    n, names = struct.unpack_from("<II", data)
    numbers = np.frombuffer(data, "<f8", n * (names + 1), 8).reshape(names + 1, n)
    assert len(data) == 8 + numbers.nbytes
    return numbers[0], numbers[1:]


def test_samples_are_those_of_the_ticks_that_are_there(it: Recorded) -> None:
    ticks, (q, distance, state) = samples(sample_bytes(it, ["arm.position[1]", "eye.distance", "arm.state"], 0, 720))
    wanted = [tick for tick in range(FIRST, 721) if tick not in LOST]
    assert ticks.tolist() == wanted
    assert q.tolist() == [position(tick, 1) for tick in wanted]
    assert np.isnan(distance).tolist() == [tick % 100 == 50 for tick in wanted]
    assert set(state) == {1.0}
    assert samples(sample_bytes(it, ["speed"], 5000, 6000))[0].tolist() == []


@settings(max_examples=20, deadline=None)
@given(first=st.integers(0, LAST + 50), n=st.integers(1, LAST + 50), count=st.integers(1, 60))
def test_columns_hold_what_the_samples_say(it: Recorded, first: int, n: int, count: int) -> None:
    last = first + n - 1
    names = ["eye.distance", "arm.position[0]"]
    data = column_bytes(it, names, first, last, count)
    assert len(data) == len(names) * count * (4 * 8 + 1)
    numbers = np.frombuffer(data, "<f8", 8 * count).reshape(2, 4, count)
    broken = np.frombuffer(data, np.uint8, 2 * count, numbers.nbytes).reshape(2, count)
    ticks, values = samples(sample_bytes(it, names, first, last))
    for i in range(2):
        for column in range(count):
            of = [tick for tick in range(first, last + 1) if (tick - first) * count // n == column]
            known = [v for t, v in zip(ticks, values[i], strict=True) if of and of[0] <= t <= of[-1] and v == v]
            wanted = [min(known), max(known), known[0], known[-1]] if known else [np.nan] * 4
            assert np.array_equal(numbers[i, :, column], wanted, equal_nan=True)
            assert broken[i, column] == (len(known) < len(of))


@pytest.mark.parametrize(
    ("names", "first", "last", "said"),
    [
        (["arm.nothing"], 0, 9, "the recording has no variable 'arm.nothing'"),
        (["tick"], 0, 9, "no variable 'tick'"),
        (["speed"], 9, 8, "not before first"),
    ],
)
def test_what_there_is_not_is_refused(it: Recorded, names: list[str], first: int, last: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sample_bytes(it, names, first, last)
    with pytest.raises(ValueError, match=said):
        column_bytes(it, names, first, last, 10)
