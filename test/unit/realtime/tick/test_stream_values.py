"""Windows and gap policies of stream inputs on random samples: laws, a plain reference, and the interpreted twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.definitions.streams import LOOK_AHEAD
from robot_rt_control.memory.layout import stream_ring_dtype, stream_runtime_dtype
from robot_rt_control.realtime.tick import stream_values, stream_window
from robot_rt_control.testing.interpreted_tick import interpreted
from robot_rt_control.vocabulary.capacities import STREAM_RING_ENTRIES, STREAM_WINDOW
from robot_rt_control.vocabulary.enums import GapPolicy

DT = 0.001
HORIZON = 0.01
Sample = tuple[int, int, float]
"""(tick in which it is written, tick from which it holds, value)"""

samples = st.lists(
    st.tuples(st.integers(0, 12), st.integers(-3, 25), st.floats(-5.0, 5.0)), min_size=1, max_size=25
).map(lambda steps: _placed(steps))


def _placed(steps: list[tuple[int, int, float]]) -> list[Sample]:
    """In the order in which they are written; each holds from a later tick than the one before."""
    placed: list[Sample] = []
    written, last = 1, 0
    for gap, ahead, value in steps:
        written += gap
        last = max(written + ahead, last + 1, 1)
        placed.append((written, last, value))
    return placed


class Stream:
    """One stream's memory, and the loop's functions over it."""

    def __init__(self, window: Any = stream_window, values: Any = stream_values) -> None:
        self.s = np.zeros(1, stream_runtime_dtype)[0]
        self.ring = np.zeros(1, stream_ring_dtype)[0]
        self.window, self.values = window, values
        window.reset_stream(self.s, 5)
        self.written = 0

    def write(self, tick: int, value: float, *, time: float | None = None, identity: int = 5) -> None:
        e = self.ring.entries[int(self.ring.head) % STREAM_RING_ENTRIES]
        self.written += 1
        e.identity, e.sequence, e.tick, e.time = identity, self.written, tick, tick * DT if time is None else time
        e.made, e.values[0], e.rates[0] = e.time, value, np.nan
        self.ring.head += 1

    def step(self, tick: int, gap: GapPolicy) -> float:
        self.window.take_samples(self.s, self.ring, 1, -1, tick, DT)
        if self.s.activation != 1:
            self.values.join_stream(self.s, 1, 1, 1.0, tick * DT)
        self.values.find_values(self.s, 1, -1, int(gap), HORIZON, tick * DT)
        return float(self.s.value[0])


def run(stream: Stream, given: list[Sample], gap: GapPolicy, ticks: int = 400) -> list[float]:
    found, sent = [], 0
    for tick in range(1, ticks):
        while sent < len(given) and given[sent][0] <= tick:
            stream.write(given[sent][1], given[sent][2])
            sent += 1
        found.append(stream.step(tick, gap))
    return found


@settings(max_examples=tries(25, whole=100), deadline=None)
@given(samples)
def test_hold_is_the_newest_sample_that_is_due(given):
    found = run(Stream(), given, GapPolicy.HOLD)
    for tick, value in enumerate(found, start=1):
        due = [v for written, holds, v in given if written <= tick and holds <= tick]
        assert (np.isnan(value) and not due) or value == due[-1]


@settings(max_examples=tries(25, whole=100), deadline=None)
@given(samples, st.sampled_from([GapPolicy.LINEAR, GapPolicy.CUBIC, GapPolicy.EXTRAPOLATE]))
def test_values_pass_each_sample_that_came_in_time_and_end_at_the_last(given, gap):
    found = run(Stream(), given, gap)
    for k, (written, holds, value) in enumerate(given):
        others_in_time = all(w < holds for w, _, _ in given[:k])
        if written <= holds <= len(found) and others_in_time:
            assert found[holds - 1] == pytest.approx(value, abs=1e-9)
    if gap != GapPolicy.EXTRAPOLATE:
        assert found[-1] == given[-1][2]


@settings(max_examples=tries(25, whole=100), deadline=None)
@given(samples)
def test_linear_stays_between_the_samples_and_never_jumps_where_a_next_sample_is_known(given):
    found = np.array(run(Stream(), given, GapPolicy.LINEAR))
    known = found[np.isfinite(found)]
    values = [v for _, _, v in given]
    assert known.min() >= min(values) - 1e-9 and known.max() <= max(values) + 1e-9


@settings(max_examples=tries(15, whole=60), deadline=None)
@given(samples, st.sampled_from(list(GapPolicy)))
def test_compiled_equals_interpreted(given, gap):
    window = interpreted("robot_rt_control.realtime.tick.stream_window")
    values = interpreted("robot_rt_control.realtime.tick.stream_values")
    compiled, plain = Stream(), Stream(window, values)
    np.testing.assert_allclose(
        run(compiled, given, gap, 150), run(plain, given, gap, 150), rtol=0, atol=1e-9, equal_nan=True
    )
    for name in ("missed", "late", "count", "present", "first", "last_sequence"):
        assert compiled.s[name] == plain.s[name], name


def test_the_window_keeps_samples_to_come_and_the_rest_waits_in_the_ring():
    stream = Stream()
    for k in range(20):
        stream.write(10 + k, float(k))
    stream.step(1, GapPolicy.HOLD)
    assert (stream.s.count, stream.s.present) == (4, -1)
    for tick in range(2, 40):
        stream.step(tick, GapPolicy.HOLD)
        assert stream.s.count <= STREAM_WINDOW
        assert stream.s.count - 1 - stream.s.present <= STREAM_WINDOW // 2
    assert stream.s.value[0] == 19.0 and stream.ring.tail == stream.ring.head


def test_a_burst_is_taken_in_one_tick():
    stream = Stream()
    for k in range(STREAM_RING_ENTRIES):
        stream.write(5 + k % 2 * 0, float(k), time=1e-6 * (k + 1))
    assert stream.step(5, GapPolicy.HOLD) == STREAM_RING_ENTRIES - 1
    assert stream.s.late == 0


def test_samples_of_another_action_and_broken_counters_are_passed_over():
    stream = Stream()
    stream.write(1, 3.0, identity=4)
    assert np.isnan(stream.step(1, GapPolicy.HOLD))
    stream.write(2, 7.0)
    stream.ring.head += 10 * STREAM_RING_ENTRIES  # what no right writer leaves behind
    assert np.isnan(stream.step(2, GapPolicy.HOLD))
    stream.write(3, 8.0)
    assert stream.step(3, GapPolicy.HOLD) == 8.0


def test_rotations_keep_their_length_and_take_the_short_way():
    stream = Stream()
    turn = np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)])
    for tick, values in ((1, [0.0, 0.0, 0.0, 2.0]), (11, -turn)):
        e = stream.ring.entries[int(stream.ring.head)]
        e.identity, e.sequence, e.tick, e.time = 5, tick, tick, tick * DT
        e.values[:4], e.rates[:] = values, np.nan
        stream.ring.head += 1
    found = []
    for tick in range(1, 13):
        stream_window.take_samples(stream.s, stream.ring, 4, 0, tick, DT)
        if tick == 1:
            stream_values.join_stream(stream.s, 4, 1, 1.0, tick * DT)
        stream_values.find_values(stream.s, 4, 0, int(GapPolicy.LINEAR), HORIZON, tick * DT)
        found.append(stream.s.value[:4].copy())
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(found[-1], turn, atol=1e-12)
    assert np.diff(np.array(found)[:11, 2]).min() > 0.0


@pytest.mark.parametrize("gap", [GapPolicy.HOLD, GapPolicy.LINEAR, GapPolicy.CUBIC, GapPolicy.EXTRAPOLATE])
def test_a_gap_policy_looks_ahead_as_many_samples_as_its_table_says(gap):
    def values(changed: int) -> list[float]:
        given = [(1, 10 * (k + 1), 0.1 * k * k + (1.0 if k == changed else 0.0)) for k in range(5)]
        return run(Stream(), given, gap, ticks=20)[9:]  # from the first sample to the second

    plain = values(-1)
    used = [ahead for ahead in range(1, 5) if values(ahead) != plain]
    # What extrapolate can use it uses, as cubic does; but it needs none.
    needed = 2 if gap == GapPolicy.EXTRAPOLATE else LOOK_AHEAD[gap]
    assert used == list(range(1, needed + 1))
    alone = run(Stream(), [(1, 10, 0.3)], gap, ticks=20)[9:]
    assert alone == [0.3] * len(alone), "without a next sample, every policy has a value"


def test_what_an_activation_has_seen_is_gone_for_the_next_one():
    stream = Stream()
    for tick, value in ((1, 1.0), (2, 2.0), (9, 3.0)):
        stream.write(tick, value)
    for tick in (1, 2, 3):
        assert stream.step(tick, GapPolicy.HOLD) == min(tick, 2.0)
    stream_values.join_stream(stream.s, 1, 2, 1.0, 4 * DT)
    stream_values.find_values(stream.s, 1, -1, int(GapPolicy.HOLD), HORIZON, 4 * DT)
    assert np.isnan(stream.s.value[0]) and stream.s.count == 1 and stream.s.present == -1
    stream.s.activation = 1
    assert stream.step(9, GapPolicy.HOLD) == 3.0
