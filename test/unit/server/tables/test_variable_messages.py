"""Listing state variables: by words, all of one tick."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.server.node.conversions import variable_messages
from robot_rt_control.testing.lockstep_cell import LockstepCell

_FILE = Path(__file__).parents[4] / "config" / "arm7.yaml"


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(_FILE) as made:
        yield made


def test_names_that_begin_with_one_of_the_words(cell: LockstepCell) -> None:
    session = cell.session("arm")
    session.add(Action("move", "move_joint", position=[0.0] * 7), Action("movement", "hold"))
    session.start("move")
    cell.set_sensor("rangefinder/distance", 0.25)
    cell.step(10)

    def listed(words: str) -> dict[str, float]:
        return {m.name: m.value for m in variable_messages(cell.server, words, session.id)}

    found = listed("time rangefinder.distance move.pro")
    assert list(found) == ["move.progress", "rangefinder.distance", "time"]
    assert found["rangefinder.distance"] == 0.25 and 0.0 < found["move.progress"] < 1.0
    assert found["time"] == pytest.approx(cell.tick * cell.workcell.period)
    assert math.isnan(listed("movement.")["movement.is_holding"]), "not active"
    assert set(found) < set(listed("")), "no word: all"
    assert not listed("nothing")
