"""Rule E30 of docs/semantics/editor.md: present values beside the names of state variables, in a real browser."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
from memory_robot import MemoryRobot
from pages import node, open_text, serious

TEXT = """name: watched
nodes:
  look: {wait: 1, then: [{when: below.distance < 0.5 and ahead.distance > 2, go: look}]}
"""


@pytest.fixture
def robot(robot: MemoryRobot) -> MemoryRobot:
    """Its variables have units."""
    listed = robot.variables
    robot.variables = lambda session="": [{**each, "unit": "m"} for each in listed(session)]  # type: ignore[method-assign]
    return robot


def watched(page: Any) -> Any:
    """The values beside a condition of the page's document."""
    open_text(page, TEXT)
    node(page, "look").click()
    return page.get_by_label("Present values").first


def test_E30_a_condition_shows_what_it_names_as_it_is_now(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    robot.variable_values |= {"below.distance": 0.4321, "ahead.distance": math.nan}
    page = come()
    present = watched(page)
    present.get_by_text("0.4321 m", exact=True).wait_for()
    present.get_by_text("unknown", exact=True).wait_for()
    assert [each.inner_text() for each in present.get_by_role("code").all()] == ["below.distance", "ahead.distance"]
    robot.variable_values |= {"below.distance": -1.5}
    present.get_by_text("-1.5 m", exact=True).wait_for()
    assert serious(page) == []
    picture(page, "live_values")
    robot.silent = {"executor": 3.0}
    present.get_by_text("s old").first.wait_for()
    assert present.locator("li.old").count() == 2
    robot.silent = {}
    present.get_by_text("s old").first.wait_for(state="detached")
    page.get_by_label("Condition 1").fill("ahead.distance > 0.5")
    present.get_by_text("below.distance", exact=True).wait_for(state="detached")
    assert present.locator("li").count() == 1


def test_E30_values_of_a_robot_that_does_not_answer_are_old(come: Callable[..., Any], robot: MemoryRobot) -> None:
    present = watched(come())
    present.get_by_text("2 m", exact=True).wait_for()
    values, answers = robot.values, threading.Event()

    def waiting(names: Any) -> Any:
        answers.wait()
        return values(names)

    robot.values = waiting  # type: ignore[method-assign]
    present.get_by_text("s old").first.wait_for()
    present.get_by_text("2 m", exact=True).wait_for()
    answers.set()
    present.get_by_text("s old").first.wait_for(state="detached")
