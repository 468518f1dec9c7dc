"""What a writer makes of samples: their range, and the ticks of those that were made from one."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.memory.layout import stream_ring_dtype
from robot_rt_control.server.streams.stream_writer import StreamWriter
from robot_rt_control.vocabulary.errors import DefinitionError


class Written:
    """A writer and its ring."""

    def __init__(self, declared: StreamInput, *, resampled: bool = False) -> None:
        self.now = 0.0
        self.ring = np.zeros(1, stream_ring_dtype)[0]
        self.writer = StreamWriter("stream 'a'", declared, ["rad", "m"], self.ring, 1, 0.001, resampled=resampled)

    def write(self, values: list[float], made: list[tuple[float, list[float]]] | None = None, **fields: float) -> str:
        now = fields.pop("now", fields.get("source_time", 7.0) - 6.0)  # every sample is equally fast
        sample = self.writer.arrived(values, now=now, **fields)  # type: ignore[arg-type]  # numbers of several types
        source, why = self.writer.order(sample)
        return why or self.writer.write(sample, source, now=now, gap="hold", delay=0.1, timeout=0.0, made=made)

    @property
    def entries(self) -> np.ndarray:
        return self.ring.entries[: int(self.ring.head)]


@pytest.mark.parametrize(
    ("limits", "values", "text"),
    [
        ({"minimum": (0.0, -1.0)}, [0.5, -2.0], "value 1 of a sample is beyond its range; expected at least -1 m/s"),
        ({"maximum": 3.0}, [4.0, 5.0], "value 0 of a sample is beyond its range; expected at most 3 rad/s; got 4"),
        ({"minimum": 0.0, "maximum": 3.0}, [1.0, np.inf], "value 1 of a sample is not finite"),
    ],
)  # fmt: skip
def test_what_is_beyond_its_range_is_refused_and_changes_nothing(limits, values, text):
    written = Written(StreamInput(name="a", length="dof", units="joint/s", **limits))
    assert written.write([1.0, 1.0], sequence=1) == ""
    with pytest.raises(DefinitionError) as refused:
        written.write(values, sequence=1)
    assert str(refused.value).startswith(f"stream 'a': {text}")
    assert written.write([1.0, 1.0], sequence=2) == "" and len(written.entries) == 2


def test_clamped_values_are_marked_and_unknown_ones_stay_unknown():
    written = Written(StreamInput(name="a", length=2, minimum=(0.0, -1.0), maximum=1.0, beyond="clamp", rates=True))
    written.write([-0.5, 0.5, 9.0, 9.0])
    written.write([0.5, 0.5])
    assert written.writer.arrived([5.0, np.nan], valid=[True, False], now=1.0).clamped
    assert written.entries["clamped"].tolist() == [1, 0]
    assert written.entries["values"][:, :2].tolist() == [[0.0, 0.5], [0.5, 0.5]]
    assert written.entries["rates"][0, :2].tolist() == [9.0, 9.0], "rates have no range"
    np.testing.assert_array_equal(
        written.writer.arrived([5.0, np.nan], valid=[True, False], now=1.0).values[0], [1.0, np.nan]
    )


def test_what_was_made_from_a_sample_lies_around_its_tick_and_keeps_the_numbers_that_are_missing():
    written = Written(StreamInput(name="a", length=1, maximum=5.0), resampled=True)
    assert written.write([9.0], [(6.99, [1.0]), (7.0, [2.0]), (7.03, [3.0])], source_time=7.0, sequence=1) == ""
    assert written.write([9.0], [], source_time=7.05, sequence=2) == ""
    assert written.write([9.0], [(7.08, [np.nan])], source_time=7.1, sequence=5) == ""
    assert written.entries["tick"].tolist() == [1090, 1100, 1130, 1180]
    assert written.entries["sequence"].tolist() == [1, 2, 3, 6]
    assert "out of order: it is for tick" in written.write([9.0], [(7.05, [1.0])], source_time=7.2, sequence=6)
    with pytest.raises(DefinitionError, match=r"stream 'a': value 0 of a sample is beyond .*got 6"):
        written.write([0.0], [(7.4, [6.0])], source_time=7.4, sequence=7)
    with pytest.raises(DefinitionError, match=r"wrong length \(made by resample_a\); expected 1 values; got 2"):
        written.write([0.0], [(7.4, [1.0, 2.0])], source_time=7.4, sequence=7)


def numbered(written: Written, *numbers: int) -> list[bool]:
    """Whether samples with these numbers are taken; each is made later than the one before."""
    taken = []
    for number in numbers:
        written.now += 0.1
        why = written.write([0.0], sequence=number, source_time=written.now + 6.0)
        assert not why or f"out of order: number {number} came after number" in why
        taken.append(not why)
    return taken


@pytest.mark.parametrize("wrong", [2**53, 1010])
def test_W26_a_wrong_number_silences_a_source_for_three_samples(wrong: int):
    written = Written(StreamInput(name="a", length=1))
    assert numbered(written, 1, 2, wrong, 3, 4, 5, 6) == [True, True, True, False, False, True, True]
    assert written.entries["sequence"][-2:].tolist() == [1, 2], "nothing was missed"


def test_W26_what_was_overtaken_or_is_repeated_shows_no_wrong_number():
    written = Written(StreamInput(name="a", length=1))
    assert numbered(written, 2000, 1001, 1002, 1003, 1004, 2001) == [True, False, False, False, False, True]
    assert numbered(written, 7, 8, 8, 7, 6, 2002, 7, 8, 2003, 9) == [False] * 5 + [True, False, False, True, False]
