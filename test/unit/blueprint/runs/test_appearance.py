"""Messages that come again and again start once for each appearance."""

from __future__ import annotations

import pytest

from robot_rt_control.blueprint.runs.appearance import Appearance


@pytest.mark.parametrize(
    ("hold", "gap", "messages", "begun"),
    [
        (0.0, 1.0, [(True, 0.0), (True, 0.5), (True, 1.4), (True, 2.3)], [0.0]),
        (0.0, 1.0, [(True, 0.0), (True, 0.5), (True, 1.6)], [0.0, 1.6]),
        (0.0, 1.0, [(True, 0.0), (False, 0.1), (True, 0.2)], [0.0, 0.2]),
        (0.0, 0.0, [(True, 0.0), (True, 0.0), (True, 0.1)], [0.0, 0.0, 0.1]),
        (0.3, 1.0, [(True, 0.0), (True, 0.2), (False, 0.25), (True, 0.3), (True, 0.5), (True, 0.6)], [0.6]),
        (0.3, 1.0, [(True, 0.0), (True, 1.1), (True, 1.5)], [1.5]),
        (0.0, 1.0, [(False, 0.0), (False, 5.0)], []),
    ],
)
def test_N54_each_appearance_counts_once(
    hold: float, gap: float, messages: list[tuple[bool, float]], begun: list[float]
) -> None:
    appearance = Appearance(hold, gap)
    assert [time for fits, time in messages if appearance.saw(fits, time)] == begun
