"""The server's choice of ticks: jitter, clocks that drift, delays that change."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.server.streams.stream_timing import StreamTiming

PERIOD = 0.001


def effects(made: np.ndarray, arrival: np.ndarray, *, delay: float = -1.0, lookahead: int = 0) -> np.ndarray:
    timing = StreamTiming(PERIOD)
    return np.array(
        [
            timing.effective_time(float(s), float(r), delay=delay, lookahead=lookahead)
            for s, r in zip(made, arrival, strict=True)
        ]
    )


def test_the_source_may_have_any_clock_and_samples_keep_their_spacing():
    made = np.arange(300) * 0.01
    arrival = made + 17.0 + np.random.default_rng(1).uniform(0.0, 0.006, 300)
    arrival[0] = made[0] + 17.0
    found = effects(made - 5000.0, arrival, delay=0.02)
    np.testing.assert_allclose(np.diff(found), 0.01, atol=0.0008)
    np.testing.assert_allclose(found[-100:] - made[-100:] - 17.0, 0.02, atol=0.001)


@pytest.mark.parametrize(("lookahead", "jitter"), [(0, 0.0), (0, 0.006), (1, 0.006), (2, 0.003)])
def test_the_chosen_delay_covers_jitter_and_lookahead_and_no_more(lookahead, jitter):
    made = np.arange(600) * 0.01
    arrival = made + np.random.default_rng(2).uniform(0.0, jitter, 600)
    found = effects(made, arrival, lookahead=lookahead)[200:]
    in_time = found - arrival[200:] > 0.0
    assert in_time.mean() > 0.9
    assert (found - made[200:]).mean() == pytest.approx(PERIOD + 0.95 * jitter + 0.01 * lookahead, abs=0.002)


def test_a_clock_that_runs_slower_is_no_jitter():
    made = np.arange(1000) * 0.02
    arrival = made * 1.01  # a program that means 20 ms and needs 20.2 ms
    found = effects(made, arrival)
    assert (found - arrival)[200:].max() < 0.015


def test_changes_come_gradually():
    timing = StreamTiming(PERIOD)
    last = None
    for k in range(400):
        delay = 0.0 if k < 100 else 0.1 if k < 200 else 0.0
        time = timing.effective_time(k * 0.01, k * 0.01, delay=delay, lookahead=0)
        if last is not None:
            assert 0.9 * 0.01 - 1e-12 <= time - last <= 1.5 * 0.01 + 1e-12
        last = time
        if k == 199:
            assert timing.delay == pytest.approx(0.1)
    assert timing.delay == pytest.approx(0.0, abs=1e-9)


def test_a_stall_now_and_then_delays_nothing_else():
    made = np.arange(1000) * 0.01
    arrival = made.copy()
    arrival[500:510] = made[510]
    found = effects(made, arrival)
    assert np.median(found[520:] - made[520:]) < 0.02


def test_a_sample_after_a_long_pause_is_not_kept_waiting():
    made = np.array([0.0, 3.0, 9.0, 9.5, 20.0, 21.0, 22.0])
    found = effects(made, made, lookahead=2)
    assert (found - made).max() <= 2 * PERIOD


def test_no_delay_above_a_second_is_chosen():
    timing = StreamTiming(PERIOD)
    random = np.random.default_rng(4)
    for k in range(300):
        quick = k % 5 == 0
        timing.effective_time(k * 0.2, k * 0.2 + (0.0 if quick else random.uniform(1.5, 3.0)), delay=-1.0, lookahead=2)
    assert timing.jitter > 2.0
    assert timing.delay == pytest.approx(1.0, abs=0.05)
