from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.track_trajectory import MAX_SEGMENTS, TrackTrajectory
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


def test_it_passes_the_points_at_their_times_and_ends_at_the_last(harness, bent, goal):
    middle = tuple((a + b) / 2 for a, b in zip(bent, goal, strict=True))
    h = harness(TrackTrajectory, compiled=True, times=[0.0, 0.8, 2.0], positions=[*bent, *middle, *goal])
    part = h.part("part")
    h.start()
    h.step(800)
    np.testing.assert_allclose(part.commanded_position[:7], middle, atol=1e-9)
    h.step(1300)
    np.testing.assert_allclose(part.commanded_position[:7], goal, atol=1e-12)
    assert h.state.is_done == 1.0 and h.state.progress == 1.0


def test_given_velocities_are_met(harness, bent):
    h = harness(
        TrackTrajectory,
        compiled=True,
        times=[0.0, 1.0],
        positions=[*bent, *(q + 0.1 for q in bent)],
        velocities=[0.0] * 7 + [0.2] * 7,
    )
    part = h.part("part")
    h.start()
    h.step(1000)
    np.testing.assert_allclose(part.commanded_velocity[:7], 0.2, atol=2e-3)


def test_a_start_within_the_tolerance_is_led_onto_the_trajectory(harness, bent, goal):
    start = tuple(q + 0.01 for q in bent)
    h = harness(TrackTrajectory, compiled=True, times=[0.0, 2.0], positions=[*start, *goal])
    part = h.part("part")
    h.start()
    for _ in range(2100):
        h.step()
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7]).all()
    np.testing.assert_allclose(part.commanded_position[:7], goal, atol=1e-12)


@pytest.mark.parametrize("pieces", ["at the points", "of the pieces"])
def test_given_accelerations_are_met(harness, bent, pieces):
    a = [0.0] * 7 + [0.5] * 7 + [0.0] * 7
    if pieces == "of the pieces":
        a = [0.0] * 7 + [-0.5] * 7 + [0.5] * 7 + [0.0] * 7
    h = harness(
        TrackTrajectory,
        compiled=True,
        times=[0.0, 1.0, 2.0],
        positions=[*bent, *(q + 0.1 for q in bent), *bent],
        velocities=[0.0] * 21,
        accelerations=a,
    )
    part = h.part("part")
    h.start()
    h.step(999)
    np.testing.assert_allclose(part.commanded_acceleration[:7], 0.5, atol=5e-2)
    h.step(3)
    np.testing.assert_allclose(part.commanded_acceleration[:7], 0.5 if pieces == "at the points" else -0.5, atol=5e-2)


def test_it_takes_over_a_motion_without_a_jump(harness, bent, goal):
    h = harness(TrackTrajectory, compiled=True, times=[0.0, 2.0], positions=[*bent, *goal])
    part = h.part("part")
    part.commanded_velocity[:7] = 0.2
    h.start()
    h.step()
    np.testing.assert_allclose(part.commanded_position[:7], np.array(bent) + 0.2e-3, atol=2e-6)
    h.step(2100)
    np.testing.assert_allclose(part.commanded_position[:7], goal, atol=1e-12)


def test_the_signal_stop_brings_it_to_rest_on_its_path(harness, bent, goal):
    h = harness(TrackTrajectory, compiled=True, times=[0.0, 2.0], positions=[*bent, *goal])
    part = h.part("part")
    h.start()
    h.step(800)
    h.signal("stop")
    for _ in range(1000):
        h.step()
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7] * 1.01).all()
        way = (part.commanded_position[:7] - bent)[[0, 1, 2, 3, 4, 5, 6]] / (np.array(goal) - bent)
        np.testing.assert_allclose(way, way[0], atol=1e-9)
    assert h.state.is_stopped == 1.0 and h.state.is_done == 0.0 and 0.3 < way[0] < 0.8


def test_a_start_that_is_too_far_off_fails_and_commands_nothing(harness, bent, goal):
    start = tuple(q + 0.1 for q in bent)
    h = harness(TrackTrajectory, compiled=True, times=[0.0, 2.0], positions=[*start, *goal])
    h.start()
    assert h.step() == Status.START_TOO_FAR
    np.testing.assert_array_equal(h.part("part").commanded_position[:7], bent)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"times": [0.1, 1.0], "positions": [0.0] * 14}, "at least two, from 0 on, each above the one before"),
        ({"times": [0.0, 1.0, 1.0], "positions": [0.0] * 21}, "each above the one before"),
        ({"times": [0.0, 1.0], "positions": [0.0] * 13}, "expected 2 points of 7 joints, 14 in all; got 13"),
        (
            {"times": [0.0, 1.0], "positions": [0.0] * 7 + [3.5] + [0.0] * 6},
            "the position of joint 'arm_joint_1' at .* is outside its limits; expected -2.9000 to 2.9000",
        ),
        (
            {"times": [0.0, 0.1], "positions": [0.0] * 7 + [1.0] + [0.0] * 6, "slowest": 1.0},
            "the velocity of joint 'arm_joint_1' at .* is outside its limits.*Slow the trajectory down",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_with_joint_time_and_value(harness, parameters, text):
    with pytest.raises(DefinitionError, match=text):
        harness(TrackTrajectory, **parameters)


def test_what_is_too_fast_is_slowed(harness, bent):
    start, goal = list(bent), [q + 0.4 for q in bent]
    h = harness(TrackTrajectory, compiled=True, times=[0.0, 0.3], positions=[*start, *goal])
    h.start()
    part = h.part("part")
    while not h.state.is_done:
        assert h.step() == 0
        assert (np.abs(part.commanded_velocity[:7]) <= part.velocity_limit[:7] * 1.001).all()
        assert (np.abs(part.commanded_acceleration[:7]) <= part.acceleration_limit[:7] * 1.01).all()
    assert 0.1 < h.state.slowed < 1.0 and 0.3 < h.state.elapsed < 0.3 / h.state.slowed + 0.002
    np.testing.assert_allclose(part.commanded_position[:7], goal, atol=1e-12)


def test_too_many_points_name_the_capacity(harness):
    n = MAX_SEGMENTS + 2
    expected = rf"expected at most {MAX_SEGMENTS + 1}; got {n}\. Only an action without strategies may have more points"
    with pytest.raises(CapacityError, match=expected):
        harness(TrackTrajectory, times=list(np.arange(n) * 0.1), positions=[0.0] * 7 * n)
