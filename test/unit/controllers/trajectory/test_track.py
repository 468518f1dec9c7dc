from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.controllers.trajectory.track import Track, standing, stopping, through

Z = np.zeros(2)
TIMES = np.array([0.0, 0.7, 1.6, 2.0])
Q = np.array([[0.0, 0.1], [0.3, -0.2], [0.1, 0.4], [0.0, 0.0]])
V = np.array([[0.1, 0.0], [-0.2, 0.3], [0.1, 0.1], [0.0, 0.0]])
A = np.array([[0.0, 0.5], [0.2, -0.3], [0.1, 0.1], [0.0, 0.0]])


@pytest.fixture(params=["positions", "velocities", "accelerations"])
def track(request: pytest.FixtureRequest) -> Track:
    n = ("positions", "velocities", "accelerations").index(request.param)
    return through(TIMES, Q, V if n > 0 else None, A if n > 1 else None, np.array([0.2, 0.1]))


def same(a: Track, b: Track, shift: float, times: np.ndarray) -> None:
    for order in range(3):
        np.testing.assert_allclose(a.curve(times - shift, order), b.curve(times, order), atol=1e-9)


def test_it_passes_its_points(track: Track) -> None:
    np.testing.assert_allclose(track.curve(TIMES), Q, atol=1e-12)
    assert not track.v[-1].any() and track.duration == 2.0
    assert all((x == y).all() for x, y in zip(track.at(5.0), (Q[-1], Z, Z), strict=True))


@pytest.mark.parametrize(("begin", "end"), [(0.0, 2.0), (0.3, 0.5), (0.3, 1.9), (0.7, 1.6), (0.1, 2.0)])
def test_a_cut_is_the_same_motion(track: Track, begin: float, end: float) -> None:
    same(track.cut(begin, end), track, begin, np.linspace(begin + 1e-6, end - 1e-6, 200))


def test_a_cut_beyond_the_end_stands_there(track: Track) -> None:
    cut = track.cut(1.8, 3.0)
    np.testing.assert_allclose(cut.curve(np.linspace(0.2, 1.2, 30)), np.tile(Q[-1], (30, 1)), atol=1e-12)
    assert cut.duration == pytest.approx(1.2)


def test_two_motions_follow_each_other(track: Track) -> None:
    both = track.cut(0.0, 0.9).then(track.cut(0.9, 2.0))
    same(both, track, 0.0, np.linspace(0.001, 1.999, 300))


def test_a_difference_at_the_start_vanishes(track: Track) -> None:
    led = track.led_from(Q[0] + 0.01, np.array([0.3, -0.1]))
    np.testing.assert_allclose(led.at(0.0)[:2], [Q[0] + 0.01, [0.3, -0.1]], atol=1e-12)
    same(led, track, 0.0, np.linspace(0.2500001, 1.999, 100))
    assert track.led_from(*track.at(0.0)[:2]) is track


def test_a_short_motion_takes_a_difference_to_its_end() -> None:
    led = standing(Z, 0.1).led_from(Z + 0.01, Z)
    np.testing.assert_allclose(led.at(0.0)[0], 0.01)
    assert led.duration == 0.1 and not led.q[-1].any() and not led.v[-1].any()


def test_stopping_keeps_the_acceleration() -> None:
    v = np.array([1.0, -0.2])
    stop = stopping((Z, v, Z), np.array([4.0, 4.0]))
    t = np.linspace(0.0, stop.duration, 100)
    assert np.abs(stop.curve(t, 2)).max() < 4.0 and stop.duration == 0.5
    np.testing.assert_allclose(stop.q[-1], v * 0.25)
