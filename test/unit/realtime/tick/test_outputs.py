"""Outputs of io parts in the loop's memory, where the lockstep rules I1 to I5 cannot look."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.memory.layout import limits_dtype, part_dtype
from robot_rt_control.realtime.tick.outputs import begin_outputs, is_read_back


def records(*initial: float) -> tuple[Any, Any]:
    part, limits = np.zeros(1, part_dtype)[0], np.zeros(1, limits_dtype)[0]
    part.n_outputs = limits.n_outputs = len(initial)
    limits.output_initial[: len(initial)] = initial
    limits.output_upper[:] = 1.0
    return part, limits


def test_what_is_not_read_back_begins_with_its_initial_value() -> None:
    part, limits = records(1.0, 0.5, 0.25)
    part.outputs[:3] = (0.0, math.nan, 0.75)
    begin_outputs(part, limits)
    assert part.commanded_outputs[:3].tolist() == part.output_command[:3].tolist() == [0.0, 0.5, 0.75]


@given(st.floats(-1e3, 1e3), st.sampled_from([1.0, 10.0, math.inf]))
def test_read_back_is_judged_by_the_range(value: float, upper: float) -> None:
    _, limits = records(0.0)
    limits.output_upper[0] = upper
    assert is_read_back(limits, 0, value, value)
    assert not is_read_back(limits, 0, value + 0.01, value)
    assert not is_read_back(limits, 0, math.nan, value)


@pytest.mark.parametrize("measured", [math.inf, -math.inf])
def test_what_is_not_finite_is_not_read_back(measured: float) -> None:
    _, limits = records(0.0)
    assert not is_read_back(limits, 0, measured, 1.0)
