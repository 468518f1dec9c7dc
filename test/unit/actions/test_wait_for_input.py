from __future__ import annotations

import math

import pytest

from robot_rt_control.actions.wait_for_input import WaitForInput
from robot_rt_control.testing.action_harness import ActionHarness


def waiting(**parameters):
    h = ActionHarness(WaitForInput, parameters={"input": "input_1", **parameters})
    h.start()
    return h


@pytest.mark.parametrize(
    ("parameters", "met", "not_met"),
    [
        ({"value": 1}, [1.0], [0.0, 0.9, math.nan]),
        ({"value": 5, "tolerance": 0.5}, [4.5, 5.5], [4.4, 5.6]),
        ({"above": 2}, [2.1, math.inf], [2.0, math.nan, -math.inf]),
        ({"below": 2}, [1.9, -math.inf], [2.0]),
        ({"above": 1, "below": 2}, [1.5], [1.0, 2.0, math.nan]),
    ],
)
def test_conditions(parameters, met, not_met):
    for value in not_met:
        h = waiting(**parameters)
        h.part("part").inputs[1] = value
        h.step(5)
        assert h.state.is_done == 0.0, value
    for value in met:
        h = waiting(**parameters)
        h.part("part").inputs[1] = value
        h.step(1)
        assert h.state.is_done == 1.0, value


def test_it_times_out_and_stays_so():
    h = waiting(value=1, timeout=0.01)
    h.step(10)
    assert h.state.timed_out == 0.0
    h.step(2)
    assert h.state.timed_out == 1.0
    h.part("part").inputs[1] = 1.0
    h.step(5)
    assert (h.state.is_done, h.state.timed_out) == (0.0, 1.0)
    assert h.state.elapsed == pytest.approx(0.01)
