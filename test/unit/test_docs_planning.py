"""docs/planning.md says what the planner does: its task is valid, its settings, commands, claims and tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robot_rt_control.command_line.planning.verbs import VERBS
from robot_rt_control.planning.files.settings_keys import settings_table
from robot_rt_control.planning.files.task_file import read_task

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")


def test_the_task_of_the_page_is_valid() -> None:
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert read_task(text).task.steps == 30


def test_the_table_of_settings_is_up_to_date() -> None:
    """`python -m robot_rt_control.planning.files.settings_keys docs/planning.md` writes it."""
    assert "\n".join(settings_table()) in PAGE


def test_every_verb_is_in_the_table_of_commands() -> None:
    table = PAGE.partition("## Commands")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)[^`]*` \| ", table, re.MULTILINE) == list(VERBS)


def test_commands_of_the_page_are_verbs() -> None:
    assert set(re.findall(r"robot-rt-control-plan (\w+)", PAGE)) <= set(VERBS)


def test_all_fifteen_claims_have_a_row() -> None:
    table = PAGE.partition("## The document's claims")[2]
    numbers = [int(n) for row in re.findall(r"^\| ((?:\d+(?:, )?)+) ", table, re.MULTILINE) for n in row.split(", ")]
    assert numbers == list(range(1, 16))


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`(test_\w+\.py)(?:::\w+)?`", PAGE))))
def test_named_tests_exist(place: str) -> None:
    assert list((ROOT / "test").rglob(place))


@pytest.mark.parametrize(("file", "test"), sorted(set(re.findall(r"`(test_\w+\.py)::(\w+)`", PAGE))))
def test_named_test_functions_exist(file: str, test: str) -> None:
    assert any(f"def {test}(" in path.read_text(encoding="utf-8") for path in (ROOT / "test").rglob(file))
