"""How motions end, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.testing.lockstep_client import LockstepClient

CONFIG = Path(__file__).parents[2] / "config"


def test_each_motion_says_how_it_ended(example, capsys: pytest.CaptureFixture[str]) -> None:
    with LockstepClient(CONFIG / "iiwa.yaml") as client:
        there, half, cancelled, stopped = example("23_end_of_a_motion").main(client)
    assert [e.end for e in (there, half, cancelled, stopped)] == ["reached", "reached", "cancelled", "preempted"]
    assert there.tick < half.tick < cancelled.tick < stopped.tick
    assert capsys.readouterr().out.splitlines() == [
        f"there: reached in tick {there.tick}",
        "half of the way back: reached, and ('back',) is active",
        "called: cancelled",
        "there again: cancelled, at rest: True",
        "back: preempted, because 'back' was stopped by a command",
    ]
