"""The tutorial's steps in the browser, as docs/blueprints.md says them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from memory_robot import MemoryRobot
from pages import overlaps, text_of
from tutorial_steps import PAGE, follow, steps, tokens


def test_the_tutorials_steps_lead_to_its_blueprint(
    come: Callable[..., Any], robot: MemoryRobot, picture: Callable[[Any, str], None]
) -> None:
    page = come()
    found = steps()
    assert len(found) == 7 and all(tokens(step) for step in found)
    for n, step in enumerate(found, 1):
        follow(page, step)
        picture(page, f"tutorial_{n}")
    drawn, written = yaml.safe_load(text_of(page)), yaml.safe_load(written_text())
    assert drawn["nodes"] == written["nodes"] and drawn["commands"] == written["commands"]
    assert overlaps(page) == []
    runs = [(run.rehearsed, run.outcome.result if run.outcome else "") for run in robot.runs]
    assert runs == [(True, "done"), (False, "done"), (False, "done")]
    counts = [sum(r["what"] == "node" and r["path"] == "up" for r in run.records) for run in robot.runs]
    assert counts == [3, 2, 5]


def written_text() -> str:
    """The same blueprint where the tutorial writes it."""
    found = re.search(r"```yaml\n(   name: tour\n.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return found[1]
