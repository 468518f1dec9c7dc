"""Delays and ages of samples whose source has any clock: it jumps, drifts, and the samples come with jitter."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.definitions.action_type import ActionType, Slot
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

from .test_stream_writer import Written

DT = 0.001
INTERVAL = 10  # [ticks]
TIMEOUT = 0.3


class Listens(ActionType):
    """Hold still, and look at the stream."""

    name = "listens"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    streams = (StreamInput(name="goal", length=1, gap="hold", timeout=TIMEOUT),)

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = 1


@dataclass(frozen=True)
class Seen:
    """What the action sees in one tick."""

    tick: int
    sample: int  # -1: none
    age: float
    latency: float
    timed_out: bool


def run(made: np.ndarray, arrival: np.ndarray, stamps: np.ndarray, **values: Any) -> list[Seen]:
    """What the action sees of samples 0, 1, ...

    Args:
        made, arrival: [ticks]
        stamps: [s] on the source's clock.
    """
    harness = ActionHarness(Listens, parameters=values, compiled=False)
    stream, sent, found = harness.stream("goal"), 0, []
    harness.start()
    for tick in range(1, max(arrival) + 2):
        while sent < len(made) and arrival[sent] < tick:
            stream.write([float(sent)], time=float(stamps[sent]))
            sent += 1
        harness.step()
        state, value = harness.state, float(harness.state.goal.value[0])
        sample = -1 if np.isnan(value) else round(value)
        found.append(Seen(tick, sample, state.goal_age, state.goal_latency, state.goal_timed_out == 1.0))
    return found


@st.composite
def sources(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """(made, arrival, stamps, jitter [ticks]) of a source whose clock jumps, and runs at another rate after that."""
    jitter = draw(st.integers(0, 20))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    made: list[int] = []
    stamps: list[float] = []
    now, clock = 0, draw(st.floats(-1e4, 1e4))
    for _ in range(draw(st.integers(2, 4))):
        rate = draw(st.sampled_from([0.97, 0.99, 1.0, 1.01, 1.2]))
        for _ in range(draw(st.integers(15, 60))):
            now += INTERVAL
            clock += rate * INTERVAL * DT
            made.append(now)
            stamps.append(clock)
        clock += draw(st.sampled_from([-1.0, 1.0])) * 10.0 ** draw(st.floats(-2.0, 3.5))
    arrival = np.maximum.accumulate(np.array(made) + random.integers(0, jitter + 1, len(made)))
    return np.array(made), arrival, np.array(stamps), jitter


@settings(max_examples=15, deadline=None)
@given(source=sources(), delay=st.sampled_from([-1.0, 0.0, 0.03]))
def test_W22_whatever_the_sources_clock_does_samples_take_effect_soon_and_are_as_old_as_they_are(source, delay):
    made, arrival, stamps, jitter = source
    longest = max(delay, 0.0) + jitter * DT + defaults.STREAM_JUMP_S + 0.003
    for seen in run(made, arrival, stamps, goal_delay=delay):
        arrived = [k for k, at in enumerate(arrival) if at <= seen.tick - round(longest / DT)]
        if arrived:
            assert seen.sample >= arrived[-1], "it was delayed for longer"
        if seen.sample >= 0:
            true = (seen.tick - made[seen.sample]) * DT
            assert true - jitter * DT - 0.003 <= seen.age <= true + 0.05 + INTERVAL * DT
            assert seen.latency <= longest + INTERVAL * DT + 0.05
            assert seen.timed_out == (seen.age > TIMEOUT)


def evenly(n: int, interval: int = INTERVAL) -> np.ndarray:
    return np.arange(1, n + 1) * interval


@pytest.mark.parametrize("jump", [4.0, -4.0, 1e6, -1e6, 0.5])
def test_W22_a_jump_delays_nothing_and_no_sample_is_lost(jump: float):
    made = evenly(200)
    stamps = 50.0 + made * DT + np.where(np.arange(200) >= 100, jump, 0.0)
    found = run(made, made, stamps)
    assert max(s.latency for s in found[20:]) <= 0.005
    assert found[-1].sample == 199 and not any(s.timed_out for s in found)


def test_W22_without_numbers_a_clock_that_has_jumped_back_shows_in_the_third_sample():
    written = Written(StreamInput(name="a", length=1))
    clock = count(1)

    def taken(*times: float) -> list[bool]:
        return [written.write([0.0], source_time=t, now=0.1 * next(clock)) == "" for t in times]

    assert taken(7.0, 7.1, 7.2, 7.05, 7.3) == [True, True, True, False, True], "it was overtaken"
    assert taken(3.0, 3.1, 3.2, 3.3) == [False, False, True, True]
    assert taken(3.3, 3.3, 3.3, 3.3) == [False] * 4, "a time that is repeated proves nothing"
    assert written.writer.time_lines == 2


@pytest.mark.parametrize("numbered_again", [7.1, 2.0])
def test_W9_a_repeated_time_is_refused_and_a_number_proves_a_jump(numbered_again: float):
    written = Written(StreamInput(name="a", length=1))
    assert written.write([0.0], source_time=7.0, sequence=1, now=1.0) == ""
    assert written.write([0.0], source_time=7.0, sequence=2, now=1.1) != ""
    assert written.write([0.0], source_time=numbered_again, sequence=3, now=1.2) == ""


def test_W23_a_queue_that_grows_on_the_way_times_out_although_samples_come():
    made = evenly(300)
    arrival = made + np.clip(made - 1000, 0, None) // 2  # it takes in two of three
    found = run(made, arrival, made * DT)
    late = [s for s in found if s.tick > 2500]
    assert all(s.timed_out and s.age > TIMEOUT for s in late) and late[-1].sample > 200
    for s in found:
        if s.sample >= 0:
            assert s.age >= 0.8 * (s.tick - made[s.sample]) * DT - 0.005


def test_W23_samples_that_were_held_up_and_come_at_once_are_as_old_as_they_are():
    made = evenly(300)
    arrival = np.where((made > 1000) & (made <= 2000), 2000, made)
    arrival = np.where(made > 2500, made + 400, arrival)  # the way has become longer
    found = {s.tick: s for s in run(made, arrival, made * DT)}
    assert found[1900].timed_out and found[2001].sample > 150
    for tick in range(2001, 2500):
        assert abs(found[tick].age - (tick - made[found[tick].sample]) * DT) < 0.06
    assert all(found[tick].timed_out for tick in range(2920, 3300))


def test_W25_a_delay_that_is_chosen_leaves_room_for_the_next_sample():
    for interval in (20, 50, 100, 200):
        made = evenly(4000 // interval, interval)
        found = run(made, made, made * DT, goal_gap="cubic")
        assert not any(s.timed_out for s in found), interval


def test_W25_a_delay_as_long_as_the_time_out_is_refused():
    with pytest.raises(DefinitionError, match=r"goal_delay; expected less than goal_timeout, 0\.3 s.*got 0\.5 s"):
        ActionHarness(Listens, parameters={"goal_delay": 0.5})
    ActionHarness(Listens, parameters={"goal_delay": 0.5, "goal_timeout": 0.0})
