"""Rules W1 to W17, and W22 to W26, of docs/semantics/streams.md: streams."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.session import Session
from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.definitions.streams import gap_choices
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError

_FILE = Path(__file__).parent / "streams.yaml"
DT = 0.001
GAPS = gap_choices(own_function=False)


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(_FILE) as made:
        yield made


def listen(cell: LockstepCell, start: bool = True, **settings: Any) -> tuple[Session, Stream]:
    """An active listener on `left` and what writes to it."""
    session = cell.session("left")
    session.add(Action("a", "listener", parts="left", **settings))
    if start:
        session.start("a")
    cell.step()
    return session, session.stream("a", "goal")


def first(session: Session) -> float:
    return session.value("a.first")


# --- W1, W2: when a sample takes effect ------------------------------------------------------------


def test_W1_a_sample_is_seen_by_all_methods_and_conditions_of_its_tick(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(
        Action("a", "listener", parts="left", reactions=[Reaction("first > 0.5", event="seen")]),
        reactions=[Reaction("a.goal_age < 0.0005 and a.first > 0.5", event="seen_outside")],
    )
    session.start("a")
    cell.step(3)
    assert math.isnan(first(session)) and session.value("a.goal_valid") == 0.0
    stream = session.stream("a", "goal")
    stream.write([0.7, -0.2])
    tick = cell.step()
    assert (first(session), session.value("a.second")) == (0.7, -0.2)
    assert session.value("a.controlled_with") == 0.7
    assert [e.tick for e in cell.fired("seen")] == [tick]
    assert session.value("a.goal_valid") == 1.0
    assert session.value("a.fresh") == 1.0
    cell.step()
    assert session.value("a.fresh") == 0.0
    assert session.value("a.goal_age") == pytest.approx(2 * DT)


def test_W1_an_action_that_is_started_by_a_reaction_enters_with_the_value_of_that_tick(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "listener", parts="left"), reactions=[Reaction("rangefinder.distance < 0.3", start="a")])
    cell.step()
    session.stream("a", "goal").write([0.25, 0.0])
    cell.set_sensor("rangefinder/distance", 0.1)
    cell.step()
    assert session.value("a.entered_with") == 0.25


def test_W2_without_delay_the_next_tick_takes_it(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    for k in range(5):
        stream.write([float(k), 0.0], time=100.0 + k)
        cell.step()
        assert first(session) == k


def test_W2_jitter_is_absorbed_samples_take_effect_in_the_spacing_in_which_they_were_made(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_delay=0.03)
    made = np.arange(40) * 10  # [ticks] on the source's clock
    arrival = made + np.random.default_rng(1).integers(1, 25, 40)
    arrival = np.maximum.accumulate(arrival)
    arrival[3] = made[3] + 1  # one comes at once: it shows the clocks' difference
    arrival[:3] = made[:3] + 1
    taken: dict[int, int] = {}
    sent = 0
    for tick in range(500):
        while sent < 40 and arrival[sent] <= tick:
            stream.write([float(sent), 0.0], time=7.0 + made[sent] * DT)
            sent += 1
        cell.step()
        if session.value("a.fresh") == 1.0:
            taken[int(first(session))] = tick
    assert set(taken) == set(range(40))
    assert set(np.diff([taken[k] for k in range(40)])) == {10}
    assert session.value("a.goal_late") == 0.0
    assert taken[0] == 30  # the delay after its arrival


def test_W2_the_server_chooses_a_delay_for_the_jitter_that_it_sees(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_delay=-1.0, goal_gap="linear", goal_timeout=0.0)
    rng = np.random.default_rng(2)
    made = np.arange(200) * 10
    arrival = np.maximum.accumulate(made + rng.integers(1, 8, 200))
    seen, sent = [], 0
    for tick in range(2000):
        while sent < 200 and arrival[sent] <= tick:
            stream.write([made[sent] * DT, 0.0], time=made[sent] * DT)
            sent += 1
        cell.step()
        seen.append(first(session))
    # The value is the source's time: it must run as evenly as time does, with about 20 ms of delay.
    late = np.arange(1000, 2000) * DT - np.array(seen[1000:])
    assert late.min() > 0.010 and late.max() < 0.030
    assert np.ptp(late) < 0.002
    assert np.abs(np.diff(seen[1000:]) - DT).max() < 0.15 * DT


# --- W3, W4: gap policies --------------------------------------------------------------------------


def values_after(cell: LockstepCell, session: Session, ticks: int) -> list[float]:
    found = []
    for _ in range(ticks):
        cell.step()
        found.append(first(session))
    return found


def test_W3_hold_keeps_the_newest(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="hold")
    stream.write([1.0, 0.0], tick=cell.tick + 1)
    stream.write([2.0, 0.0], tick=cell.tick + 5)
    assert values_after(cell, session, 6) == [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    assert session.value("a.first_velocity") == 0.0


def test_W3_linear_goes_straight_to_the_next_sample_and_holds_without_one(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="linear")
    stream.write([1.0, 0.0], tick=cell.tick + 1)
    stream.write([2.0, 0.0], tick=cell.tick + 5)
    assert values_after(cell, session, 6) == pytest.approx([1.0, 1.25, 1.5, 1.75, 2.0, 2.0])


def test_W3_linear_begins_a_way_that_becomes_known_late_at_the_present_value(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="linear")
    stream.write([1.0, 0.0], tick=cell.tick + 1)
    cell.step(10)
    stream.write([2.0, 0.0], tick=cell.tick + 4)
    assert values_after(cell, session, 5) == pytest.approx([1.25, 1.5, 1.75, 2.0, 2.0])


def test_W3_cubic_keeps_the_velocity_continuous_and_passes_the_samples(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="cubic", goal_timeout=0.0)
    start = cell.tick
    times = np.array([1, 21, 41, 61, 81])
    for t in times:
        stream.write([math.sin(0.05 * t), 0.0], tick=start + int(t))
    seen, velocity = [], []
    for _ in range(81):
        cell.step()
        seen.append(first(session))
        velocity.append(session.value("a.first_velocity"))
    assert [seen[t - 1] for t in times] == pytest.approx([math.sin(0.05 * t) for t in times])
    assert np.abs(np.diff(velocity[:80])).max() < 10.0  # a linear way would jump by 20 and more
    inner = range(21, 61)
    assert [seen[t - 1] for t in inner] == pytest.approx([math.sin(0.05 * t) for t in inner], abs=0.05)


def test_W3_cubic_takes_the_rates_that_are_given(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="cubic")
    start = cell.tick
    for t in (1, 31):
        stream.write([math.sin(0.05 * t), 0.0], [0.05 * math.cos(0.05 * t) / DT, 0.0], tick=start + t)
    seen = values_after(cell, session, 31)
    assert seen == pytest.approx([math.sin(0.05 * t) for t in range(1, 32)], abs=0.015)  # its spacing is 1.5 rad


def test_W3_extrapolate_goes_on_for_the_horizon_and_then_holds(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="extrapolate", goal_horizon=0.004)
    stream.write([1.0, 0.0], [500.0, 0.0], tick=cell.tick + 1)
    stream.write([2.0, 0.0], tick=cell.tick + 3)
    assert values_after(cell, session, 9) == pytest.approx([1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.0, 4.0])
    assert session.value("a.first_velocity") == 0.0
    # The way to the next one begins at the extrapolated value.
    stream.write([5.0, 0.0], [0.0, 0.0], tick=cell.tick + 2)
    assert values_after(cell, session, 2) == pytest.approx([4.5, 5.0])


def average(cell: LockstepCell, **parameters: Any) -> tuple[Session, Stream]:
    session = cell.session("left")
    session.add(Action("a", "averager", parts="left", **parameters))
    session.start("a")
    cell.step()
    return session, session.stream("a", "goal")


def test_W4_the_own_function_sees_samples_that_have_come_and_those_to_come(cell: LockstepCell) -> None:
    session, stream = average(cell)
    for ahead, value in ((1, 3.0), (2, 6.0), (4, 9.0)):
        stream.write(value, tick=cell.tick + ahead)
    cell.step()
    assert (session.value("a.average"), session.value("a.to_come"), session.value("a.newest")) == (6.0, 2.0, 3.0)
    cell.step(3)
    assert (session.value("a.average"), session.value("a.to_come"), session.value("a.newest")) == (6.0, 0.0, 9.0)


def test_W4_its_failure_is_the_actions(cell: LockstepCell) -> None:
    session, stream = average(cell, limit=5.0)
    stream.write(6.0)
    cell.step()
    assert session.ended is not None and "status 7" in session.ended
    assert cell.active("left") != "a"


def test_W4_another_policy_can_be_chosen_and_a_type_without_one_has_none(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "averager", parts="left", goal_gap="hold"))
    session.start("a")
    cell.step()
    session.stream("a", "goal").write(3.0)
    cell.step()
    assert (session.value("a.average"), session.value("a.newest")) == (3.0, 0.0)
    with pytest.raises(DefinitionError, match="goal_gap.*not a valid choice.*'custom'"):
        session.add(Action("b", "listener", parts="right", goal_gap="custom"))


# --- W5 to W10: what may be wrong with samples -------------------------------------------------------


def test_W5_a_sample_ahead_waits_for_its_tick(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    stream.write([1.0, 0.0], tick=cell.tick + 100)
    cell.step(99)
    assert math.isnan(first(session))
    cell.step()
    assert first(session) == 1.0


def test_W5_one_too_far_ahead_is_refused(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    stream.write([1.0, 0.0], tick=cell.tick + 6000)
    cell.step()
    (event,) = cell.kinds("stream_refused")
    assert event.current_action == "a" and event.session == session.id
    assert "stream 'goal' of action 'a': too early: it is for 6 s from now; at most 5 s are kept" in event.reason


def test_W5_more_than_fit_are_refused(cell: LockstepCell) -> None:
    _, stream = listen(cell)
    for k in range(300):
        stream.write([float(k), 0.0], tick=cell.tick + 1000 + k)
    cell.step()
    assert "no room: 256 samples wait for their tick (STREAM_RING_ENTRIES)" in cell.kinds("stream_refused")[0].reason


def test_W6_a_late_sample_takes_effect_at_once_and_counts(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    cell.step(20)
    stream.write([1.0, 0.0], tick=cell.tick - 5)
    cell.step()
    assert first(session) == 1.0 and session.value("a.goal_late") == 1.0
    assert session.value("a.goal_age") == pytest.approx(6 * DT)
    stream.write([2.0, 0.0], tick=cell.tick + 1)
    cell.step()
    assert first(session) == 2.0 and session.value("a.goal_late") == 1.0


def write_numbered(cell: LockstepCell, session: Session, number: int, value: float) -> bool:
    return cell.server.write_stream(
        session.id, "a", "goal", [value, 0.0], sequence=number, time=cell.tick * DT + 1e-6 * number
    )


def test_W7_missing_samples_are_counted(cell: LockstepCell) -> None:
    session, _ = listen(cell)
    for number in (1, 2, 5, 6, 9):
        assert write_numbered(cell, session, number, float(number))
        cell.step()
        assert first(session) == number
    assert session.value("a.goal_missed") == 4.0


def test_W8_values_that_are_not_valid_keep_what_they_were(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    stream.write([1.0, 0.0], valid=[True, False])
    cell.step()
    assert first(session) == 1.0 and math.isnan(session.value("a.second"))
    assert session.value("a.goal_valid") == 0.0
    stream.write([math.nan, 2.0], valid=[False, True])
    cell.step()
    assert (first(session), session.value("a.second")) == (1.0, 2.0)
    assert session.value("a.goal_valid") == 1.0


@pytest.mark.parametrize("number", [3, 2])
def test_W9_a_lower_or_equal_number_is_refused(cell: LockstepCell, number: int) -> None:
    session, _ = listen(cell)
    assert write_numbered(cell, session, 3, 3.0)
    cell.step()
    assert not write_numbered(cell, session, number, 9.0)
    cell.step()
    assert first(session) == 3.0
    assert f"out of order: number {number} came after number 3" in cell.kinds("stream_refused")[0].reason


def test_W9_a_time_that_is_not_later_is_refused(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    stream.write([1.0, 0.0], time=5.0)
    cell.step()
    stream.write([2.0, 0.0], time=5.0)
    cell.step()
    assert first(session) == 1.0
    assert "out of order: its time 5 s is not after" in cell.kinds("stream_refused")[0].reason
    cell.server.write_stream(session.id, "a", "goal", [2.0, 0.0], time=4.9)  # without a number
    cell.step()
    assert first(session) == 1.0


def test_W26_a_wrong_number_silences_its_source_for_three_samples(cell: LockstepCell) -> None:
    session, _ = listen(cell)
    assert write_numbered(cell, session, 7, 1.0)
    assert write_numbered(cell, session, 2**50, 2.0)
    taken = []
    for number in range(8, 13):
        taken.append(write_numbered(cell, session, number, float(number)))
        cell.step()
    assert taken == [False, False, True, True, True]
    assert first(session) == 12.0
    assert f"out of order: number 8 came after number {2**50}" in cell.kinds("stream_refused")[0].reason


@pytest.mark.parametrize("delay", [-1.0, 0.0, 0.03])
@pytest.mark.parametrize("jump", [4.0, -4.0])
def test_W22_a_clock_that_jumps_delays_no_sample(cell: LockstepCell, jump: float, delay: float) -> None:
    session, stream = listen(cell, goal_delay=delay)
    for k in range(200):
        stream.write([float(k), 0.0], time=cell.tick * DT + (jump if k >= 100 else 0.0))
        cell.step(10)
        assert k < 4 or first(session) >= k - 4
        assert k < 4 or session.value("a.goal_latency") <= max(delay, 0.0) + 0.0025
        assert session.value("a.goal_timed_out") == 0.0
    assert not cell.kinds("stream_refused")


def test_W23_the_latency_is_shown_and_counts_towards_the_time_out(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_delay=0.04)
    assert math.isnan(session.value("a.goal_latency"))
    for k in range(20):
        stream.write([float(k), 0.0])
        cell.step(5)
    last = cell.tick - 5  # it was made in this tick, and takes effect 40 ms later
    cell.step(last + 40 - cell.tick)
    assert first(session) == 19.0 and session.value("a.goal_latency") == pytest.approx(0.04, abs=0.0015)
    assert session.value("a.goal_age") == pytest.approx(0.04, abs=0.0015)
    cell.step(8)
    assert session.value("a.goal_timed_out") == 0.0
    cell.step(4)
    assert session.value("a.goal_timed_out") == 1.0, "0.05 s after it was made"


def test_W25_no_sample_waits_longer_than_a_delay_that_leaves_room_for_the_next_one(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_delay=-1.0, goal_gap="cubic", goal_timeout=0.3)
    random = np.random.default_rng(5)
    clock = 0.0
    for _ in range(60):
        clock += random.choice([0.1, 0.1, 0.1, 2.0, -3.0])
        stream.write([0.0, 0.0], time=clock)
        cell.step(100)
        assert session.value("a.goal_latency") <= 0.3 + 0.1 and session.value("a.goal_timed_out") == 0.0


def test_W25_a_delay_that_is_not_shorter_than_the_time_out_is_refused(cell: LockstepCell) -> None:
    session = cell.session("left")
    with pytest.raises(DefinitionError, match=r"goal_delay; expected less than goal_timeout, 0\.05 s"):
        session.add(Action("a", "listener", parts="left", goal_delay=0.05))


@pytest.mark.parametrize("delay", [-1.0, 0.0, 0.03])
@pytest.mark.parametrize("gap", GAPS)
def test_W24_without_a_time_out_nothing_from_before_the_start_is_used(
    cell: LockstepCell, gap: str, delay: float
) -> None:
    session, stream = follow(cell, start=False, goal_timeout=0.0, goal_gap=gap, goal_delay=delay)
    for k in range(30):
        stream.write([0.01 * k, 0.5])
        cell.step(10)
    stream.write([0.9, 0.5])
    held = cell.part("left").commanded_position[:2].copy()
    session.start("a")
    for _ in range(300):
        cell.step()
        np.testing.assert_array_equal(cell.part("left").commanded_position[:2], held)
    assert session.value("a.goal_valid") == 0.0 and session.value("a.is_following") == 0.0
    assert math.isnan(session.value("a.goal_latency"))
    stream.write([0.2, 0.1])
    cell.step(300)
    assert session.value("a.is_following") == 1.0 and cell.part("left").commanded_position[0] > 0.0
    stream.write([0.3, 0.1], tick=cell.tick + 100)  # for after the next start: its source has chosen that
    session.start("a")
    cell.step(50)
    assert session.value("a.goal_valid") == 0.0
    cell.step(60)
    assert session.value("a.goal_valid") == 1.0


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0], "wrong length; expected 2 values, or 4 with their rates; got 1"),
        ([1.0, math.nan], "value 1 of a sample is not finite"),
        ([math.inf, 0.0], "value 0 of a sample is not finite"),
        ([1.0, 0.0, math.nan, 0.0], "value 2 of a sample is not finite"),
    ],
)
def test_W10_a_sample_that_is_not_valid_is_refused_as_a_whole(
    cell: LockstepCell, values: list[float], text: str
) -> None:
    session, stream = listen(cell)
    stream.write([0.5, 0.5])
    cell.step()
    for _ in range(10):
        with pytest.raises(DefinitionError, match=text):
            cell.server.write_stream(session.id, "a", "goal", values)
    cell.step()
    assert (first(session), session.value("a.second")) == (0.5, 0.5)
    (event,) = cell.kinds("stream_refused")
    assert text in event.reason
    cell.now += 1.1
    cell.step()
    assert "(9 samples since the last report)" in cell.kinds("stream_refused")[1].reason


def test_W10_who_writes_through_a_stream_hears_it_at_once(cell: LockstepCell) -> None:
    _, stream = listen(cell)
    with pytest.raises(DefinitionError, match="wrong number of values; expected 2; got 3"):
        stream.write([1.0, 2.0, 3.0])
    with pytest.raises(DefinitionError, match=r"values\[1\] of a sample is not finite"):
        stream.write([1.0, math.nan])
    with pytest.raises(DefinitionError, match="time of a sample; expected a finite number; got inf"):
        stream.write([1.0, 2.0], time=math.inf)
    with pytest.raises(DefinitionError, match=f"number of a sample; expected at most 2.53; got {2**64 - 1}"):
        cell.server.write_stream(cell.server.sessions()[0].id, "a", "goal", [1.0, 2.0], sequence=2**64 - 1)
    with pytest.raises(DefinitionError, match="has no stream input 'gaol'.*did you mean 'goal'"):
        cell.server.open_stream(cell.server.sessions()[0].id, "a", "gaol")
    with pytest.raises(DefinitionError, match="has no stream input 'echo'"):
        cell.server.open_stream(cell.server.sessions()[0].id, "a", "echo")


# --- W11, W12: start and time-out --------------------------------------------------------------------


def test_W11_samples_written_before_the_start_are_kept_and_used(cell: LockstepCell) -> None:
    session, stream = listen(cell, start=False)
    stream.write([1.0, 2.0])
    cell.step(5)
    stream.write([3.0, 4.0])
    stream.write([9.0, 9.0], tick=cell.tick + 500)
    cell.step(200)
    session.start("a")
    cell.step()
    assert session.value("a.entered_with") == 3.0 and first(session) == 3.0
    assert session.value("a.goal_age") == pytest.approx(0.2, abs=0.002), "as old as it is, not as the activation is"
    assert session.value("a.goal_timed_out") == 1.0
    cell.step(400)
    assert first(session) == 9.0


@pytest.mark.parametrize("gap", GAPS)
def test_W11_samples_that_an_earlier_activation_has_used_are_gone(cell: LockstepCell, gap: str) -> None:
    session, stream = listen(cell, goal_gap=gap)
    for k in range(6):
        stream.write([1.0 + 0.1 * k, 5.0])
        cell.step()
    stream.write([3.0, 0.0], valid=[True, False], tick=cell.tick + 10)  # it continues from a value that was used
    stream.write([4.0, 7.0], tick=cell.tick + 20)
    cell.step(2)
    session.start("a")  # A3: re-entry is a new activation
    cell.step()
    assert math.isnan(first(session)) and session.value("a.goal_valid") == 0.0
    assert session.value("a.goal_age") == 0.0 and session.value("a.goal_timed_out") == 0.0
    cell.step(7)
    assert first(session) == pytest.approx(3.0)
    # 5.0 was the earlier activation's: it is unknown or, if the policy looks ahead, already the next one.
    assert math.isnan(session.value("a.second")) if gap == "hold" else session.value("a.second") == 7.0
    cell.step(10)
    assert (first(session), session.value("a.second")) == pytest.approx((4.0, 7.0))
    assert session.value("a.goal_valid") == 1.0


def test_W11_samples_that_came_while_the_action_was_not_active_are_valid(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    stream.write([1.0, 2.0])
    cell.step(2)
    session.stop("a")
    cell.step(2)
    stream.write([3.0, 0.0], valid=[True, False])
    cell.step(20)
    session.start("a")
    cell.step()
    assert first(session) == 3.0 and math.isnan(session.value("a.second"))
    assert session.value("a.goal_age") == pytest.approx(20 * DT, abs=0.002) and session.value("a.goal_timed_out") == 0.0
    cell.step(31)
    assert session.value("a.goal_timed_out") == 1.0, "0.05 s after it was to hold, not after the start"


@pytest.mark.parametrize("gap", GAPS)
def test_W11_a_restarted_action_does_not_drive_to_its_old_goal(cell: LockstepCell, gap: str) -> None:
    session, stream = follow(cell, goal_gap=gap)
    session.add(Action("home", "move_joint", parts="left", position=[0.0, 0.0]))
    for k in range(50):
        stream.write([0.01 * k, 0.01 * k], [1.0, 1.0])
        cell.step(10)
    cell.step(2000)
    session.start("home")
    cell.step(5000)
    assert session.value("home.is_settled") == 1.0
    held = cell.part("left").commanded_position[:2].copy()
    session.start("a")
    cell.step()
    assert session.value("a.is_following") == 0.0 and session.value("a.goal_valid") == 0.0
    for _ in range(500):
        cell.step()
        np.testing.assert_array_equal(cell.part("left").commanded_position[:2], held)
    assert session.value("a.goal_timed_out") == 1.0


@pytest.mark.parametrize("gap", GAPS)
def test_W11_a_sample_from_long_before_the_first_start_leads_nowhere(cell: LockstepCell, gap: str) -> None:
    session = cell.session("left")
    session.add(Action("a", "follow_joint_stream", parts="left", goal_gap=gap))
    cell.step()
    session.stream("a", "goal").write([0.5, 0.5], [1.0, 1.0])
    cell.step(20000)
    held = cell.part("left").commanded_position[:2].copy()
    session.start("a")
    cell.step()
    assert session.value("a.goal_timed_out") == 1.0 and session.value("a.is_following") == 0.0
    assert session.value("a.goal_age") == pytest.approx(20.0, abs=0.01)
    for _ in range(500):
        cell.step()
        np.testing.assert_array_equal(cell.part("left").commanded_position[:2], held)


TIMEOUT = 50  # [ticks]
steps_of_use = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 60)),  # this number of ticks ahead
        st.tuples(st.just("wait"), st.integers(1, 120)),
        st.tuples(st.sampled_from(["start", "stop", "other"]), st.integers(1, 60)),
    ),
    min_size=3,
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps_of_use, gap=st.sampled_from(GAPS))
def test_W11_an_activation_never_moves_on_samples_that_are_older_than_the_time_out(
    cell: LockstepCell, steps: list[tuple[str, int]], gap: str
) -> None:
    session = cell.session("left")
    part = cell.part("left")
    session.add(
        Action("a", "follow_joint_stream", parts="left", goal_gap=gap, goal_timeout=TIMEOUT * DT, goal_delay=0.0),
        Action("still", "hold", parts="left"),
    )
    stream = session.stream("a", "goal")
    holds: list[int] = []  # the tick from which each sample holds
    used = floor = -1  # the newest sample that an activation has seen; that an activation before this one has
    goal = 0.5
    try:
        for what, n in steps:
            if what == "write" and (not holds or cell.tick + 1 + n > holds[-1]):
                goal = -goal
                holds.append(cell.tick + 1 + n)
                stream.write([goal, goal], tick=holds[-1])
            elif what == "start":
                session.start("a")
                floor = used
            elif what == "stop":
                session.stop("a")
            elif what == "other":
                session.start("still")
            for _ in range(3 if what == "write" else n):
                before = part.commanded_position[:2].copy()
                rested = not part.commanded_velocity[:2].any()
                cell.step()
                if cell.active("left") != "a":
                    continue
                newest = max((k for k, tick in enumerate(holds) if tick <= cell.tick), default=-1)
                if rested and (part.commanded_position[:2] != before).any():
                    assert newest > floor, "it begins to move on a sample that was used before, or on none"
                    assert cell.tick - holds[newest] <= TIMEOUT, "it begins to move on a sample that is too old"
                used = max(used, newest)
    finally:
        session.close()
        cell.step(600)


def test_W11_many_samples_before_the_start_leave_the_newest(cell: LockstepCell) -> None:
    session, stream = listen(cell, start=False)
    for k in range(1000):
        stream.write([float(k), 0.0])
        cell.step()
    session.start("a")
    cell.step()
    assert first(session) == 999.0
    assert session.value("a.goal_missed") == 0.0 and not cell.kinds("stream_refused")


def test_W11_counts_begin_with_each_start(cell: LockstepCell) -> None:
    session, _ = listen(cell)
    for number in (1, 4):
        write_numbered(cell, session, number, 1.0)
    cell.step()
    assert session.value("a.goal_missed") == 2.0
    session.start("a")
    cell.step()
    assert session.value("a.goal_missed") == 0.0 and session.value("a.goal_age") == 0.0


def test_W12_timed_out_is_true_from_the_time_out_to_the_next_sample(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("a", "listener", parts="left", reactions=[Reaction("goal_timed_out", event="silent")]))
    session.start("a")
    started = cell.step()
    stream = session.stream("a", "goal")
    cell.step(60)
    assert [e.tick for e in cell.fired("silent")] == [started + 51]  # also if nothing ever came
    stream.write([1.0, 1.0])
    written = cell.step()
    assert session.value("a.goal_timed_out") == 0.0
    cell.step(60)
    assert [e.tick for e in cell.fired("silent")][1:] == [written + 51 - 1]


def follow(cell: LockstepCell, start: bool = True, **parameters: Any) -> tuple[Session, Stream]:
    session = cell.session("left")
    session.add(Action("a", "follow_joint_stream", parts="left", **parameters))
    if start:
        session.start("a")
    cell.step()
    return session, session.stream("a", "goal")


def test_W12_built_in_actions_come_to_rest_and_go_on_smoothly(cell: LockstepCell) -> None:
    session, stream = follow(cell, goal_gap="extrapolate")
    part = cell.part("left")
    begin = cell.tick
    positions = []

    def run(ticks: int, writing: bool) -> None:
        for _ in range(ticks):
            t = (cell.tick - begin) * DT
            if writing and cell.tick % 10 == 0:
                stream.write([0.3 * math.sin(t), 0.2 * math.sin(2 * t)], time=t)
            cell.step()
            positions.append(part.commanded_position[:2].copy())

    run(1000, True)
    assert session.value("a.is_following") == 1.0 and session.value("a.tracking_error") < 0.01
    run(900, False)
    assert session.value("a.is_following") == 0.0 and session.value("a.goal_timed_out") == 1.0
    assert part.at_rest == 1.0
    np.testing.assert_array_equal(positions[-1], positions[-100])
    run(1500, True)
    assert session.value("a.is_following") == 1.0 and session.value("a.tracking_error") < 0.01
    check_limits(np.array(positions), part)


def check_limits(positions: np.ndarray, part: np.record) -> None:
    """Velocity, acceleration and jerk of commanded positions, shape (ticks, joints), by their differences."""
    n = positions.shape[1]
    for order, limit in ((1, part.velocity_limit), (2, part.acceleration_limit), (3, part.jerk_limit)):
        highest = np.abs(np.diff(positions, order, axis=0)).max(axis=0) / DT**order
        assert (highest <= limit[:n] * (1 + 1e-3) + 1e-6).all(), (order, highest, limit[:n])


# --- W13: limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", ["hold", "linear", "cubic", "extrapolate"])
def test_W13_limits_hold_whatever_the_samples_say(cell: LockstepCell, gap: str) -> None:
    session, stream = follow(cell, goal_gap=gap)
    part, rng = cell.part("left"), np.random.default_rng(3)
    positions = [part.commanded_position[:2].copy()] * 3
    for _ in range(300):
        kind = rng.integers(4)
        goal = rng.uniform(-3.0, 3.0, 2) if kind == 0 else part.commanded_position[:2] + rng.normal(0, 0.1, 2)
        rates = rng.normal(0, 10.0, 2) if kind == 1 else None
        stream.write(goal, rates)
        for _ in range(int(rng.integers(1, 40))):
            cell.step()
            positions.append(part.commanded_position[:2].copy())
    assert cell.active("left") == "a" and not cell.kinds("part_faulted", "action_failed")
    assert session.value("a.is_following") == 1.0
    check_limits(np.array(positions), part)
    assert (np.array(positions) >= part.position_lower[:2] - 1e-9).all()
    assert (np.array(positions) <= part.position_upper[:2] + 1e-9).all()


# --- W14 to W17 -----------------------------------------------------------------------------------


def test_W14_what_an_action_writes_leaves_once_in_order_with_its_tick(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    got: list[OutputSample] = []
    session.on_stream("a", "echo", got.append)
    ticks = []
    for k in range(3):
        stream.write([float(k), -1.0])
        ticks.append(cell.step())
        cell.step(4)
    assert [(s.tick, s.sequence, s.values) for s in got] == [
        (tick, k + 1, (float(k), -1.0)) for k, tick in enumerate(ticks)
    ]
    assert got[0].time == pytest.approx(ticks[0] * DT)


def test_W14_what_nobody_takes_is_lost_and_counted(cell: LockstepCell) -> None:
    _, stream = listen(cell)
    for k in range(300):
        stream.write([float(k), 0.0])
        cell.executor.step(1)  # without the server
    assert int(cell.executor.channel.memory.samples_lost) == 300 - 256


def test_W15_the_speed_override_slows_the_motion_not_the_stream(cell: LockstepCell) -> None:
    session, stream = listen(cell, goal_gap="linear")
    cell.server.set_speed(0.5)
    cell.step()
    stream.write([0.0, 0.0], tick=cell.tick + 1)
    stream.write([4.0, 0.0], tick=cell.tick + 5)
    assert values_after(cell, session, 5) == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])
    stream.write([0.0, 0.0], tick=cell.tick + 4)
    cell.step(2)
    assert session.value("a.first_velocity") == pytest.approx(-1.0 / (0.5 * DT))  # in the action's own time
    cell.server.set_speed(0.0)
    cell.step()
    assert session.value("a.first_velocity") == 0.0


def test_W16_a_new_source_has_its_own_clock_and_numbers(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    for k in range(5):
        stream.write([1.0 + k, 0.0], time=1000.0 + k * DT)
        cell.step()
    again = session.stream("a", "goal")
    again.write([7.0, 0.0], time=3.0)
    cell.step()
    assert first(session) == 7.0
    assert cell.server.write_stream(session.id, "a", "goal", [8.0, 0.0], sequence=1, time=-5.0)
    cell.step()
    assert first(session) == 8.0 and not cell.kinds("stream_refused")


def test_W17_samples_do_not_outlive_their_action(cell: LockstepCell) -> None:
    session, stream = listen(cell)
    stream.write([1.0, 0.0])
    stream.write([2.0, 0.0], tick=cell.tick + 20)
    cell.step()
    session.remove("a")
    session.add(Action("b", "listener", parts="left"))
    session.start("b")
    cell.step(40)
    assert math.isnan(session.value("b.first")) and session.value("b.goal_valid") == 0.0
    assert cell.store.stream_places.in_use == 2
    with pytest.raises(SessionError, match="stream 'goal' of action 'a' is closed: its action 'a' was removed"):
        stream.write([3.0, 0.0])
