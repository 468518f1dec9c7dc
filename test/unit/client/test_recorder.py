"""Recording state variables from beside the loop."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import numpy as np
import pytest

from robot_rt_control.client.recorder import Recorder
from robot_rt_control.client.recording import Recording
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError


class Workcell:
    """Each look sees the next tick; after `last` of them, looks fail."""

    def __init__(self, last: int = 1000) -> None:
        self.tick, self.last = 0, last
        self.enough = threading.Event()

    def look(self, words: Iterable[str]) -> dict[str, float]:
        words = tuple(words)
        self.tick += 1
        if self.tick >= 5:
            self.enough.set()
        if self.tick > self.last:
            self.enough.set()
            raise RobotControlError("nobody answers")
        values = {"time": self.tick * 0.001, "arm.tool.z": 0.5, "move.progress": self.tick / 10.0}
        if self.tick >= 3:
            del values["move.progress"]  # the action has been removed
        return {name: value for name, value in values.items() if name.startswith(words)}


def test_rows_grow_while_the_context_lives():
    workcell = Workcell()
    recorder = Recorder(workcell.look, ["arm.tool.z", "move.progress"], 0.001)
    with recorder as recording:
        assert workcell.enough.wait(60)
    n = len(recording)
    assert n >= 4 and workcell.tick <= n + 1
    assert recording.time[:3] == pytest.approx([0.001, 0.002, 0.003])
    assert (recording["arm.tool.z"] == 0.5).all()
    assert recording["move.progress"][:2] == pytest.approx([0.1, 0.2])
    assert np.isnan(recording["move.progress"][2:]).all(), "what is not there any more is unknown"


def test_where_looks_fail_it_ends_and_keeps_what_it_has(caplog):
    workcell = Workcell(last=3)
    with Recorder(workcell.look, ["arm.tool.z"], 0.001) as recording:
        assert workcell.enough.wait(60)
    assert len(recording) == 3
    assert "the recording ends here: nobody answers" in caplog.text


def test_an_unknown_name_is_refused_at_once():
    with pytest.raises(DefinitionError, match="'arm.tool.zz' cannot be recorded; expected .*did you mean 'arm.tool.z'"):
        Recorder(Workcell().look, ["arm.tool.zz"], 0.01)


def test_a_look_at_the_same_tick_adds_nothing():
    recording = Recording(["a"])
    for time, value in ((0.001, 1.0), (0.001, 2.0), (0.002, 3.0)):
        recording.append(time, [value])
    assert recording.time.tolist() == [0.001, 0.002] and recording["a"].tolist() == [1.0, 3.0]
    with pytest.raises(DefinitionError, match="'b' was not recorded; expected one of: a"):
        recording["b"]
