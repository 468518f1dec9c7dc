from __future__ import annotations

import math

import pytest

from robot_rt_control.actions.watch_distance import WatchDistance
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind


@pytest.fixture
def watched():
    sensor = FakePart(name="sensor", kind=PartKind.RANGEFINDER)
    sensor.live.distance = 0.4
    h = ActionHarness(WatchDistance, parts={"sensor": sensor}, parameters={"samples": 4}, compiled=True)
    h.start()
    return h, sensor.live


def test_the_drop_counts_from_the_mean_of_the_first_measurements(watched):
    h, sensor = watched
    for distance in (0.39, 0.41, 0.38, 0.42):
        assert h.state.is_ready == 0.0
        sensor.distance = distance
        h.step()
    assert h.state.is_ready == 1.0
    sensor.distance = 0.45
    h.step()
    assert h.state.drop == pytest.approx(0.05)


def test_nothing_in_range_is_a_drop_of_infinity_but_no_zero(watched):
    h, sensor = watched
    sensor.distance = math.inf
    h.step(20)
    assert h.state.is_ready == 0.0 and math.isnan(h.state.drop)
    sensor.distance = 0.4
    h.step(4)
    for distance, drop in ((math.inf, math.inf), (-math.inf, -math.inf), (0.4, 0.0)):
        sensor.distance = distance
        h.step()
        assert h.state.drop == pytest.approx(drop)
    sensor.distance = math.nan
    h.step()
    assert math.isnan(h.state.drop)


def test_the_signal_zero_takes_it_anew(watched):
    h, sensor = watched
    h.step(4)
    sensor.distance = 0.5
    h.signal("zero")
    h.step()
    h.step(4)
    assert h.state.is_ready == 1.0 and h.state.drop == pytest.approx(0.0)
