"""What functions that resample may return."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from robot_rt_control.definitions.resampling import resample
from robot_rt_control.vocabulary.capacities import STREAM_RING_ENTRIES
from robot_rt_control.vocabulary.errors import DefinitionError


def made(result: Any) -> object:
    return resample(SimpleNamespace(resample_goal=lambda time, values: result), "goal", 2.0, np.zeros(2))


def test_samples_become_plain_numbers() -> None:
    rated = np.array([[1.0, 2.0], [3.0, np.nan]])
    np.testing.assert_equal(made(((np.float32(1.5), rated), (2, 7))), [(1.5, [1.0, 2.0, 3.0, np.nan]), (2.0, [7.0])])
    assert made([]) == []


@pytest.mark.parametrize("result", [None, 3, [1.0, 2.0], [("now", [1.0])], [(1.0, "a")], [(1.0, [1.0], [2.0])]])
def test_anything_else_is_refused(result: Any) -> None:
    with pytest.raises(DefinitionError, match=r"result of resample_goal; expected a list of samples: \(time, values\)"):
        made(result)


def test_so_are_more_samples_than_may_wait() -> None:
    with pytest.raises(DefinitionError, match=r"expected at most 256 samples \(STREAM_RING_ENTRIES\); got 257"):
        made([(float(k), [0.0]) for k in range(STREAM_RING_ENTRIES + 1)])
