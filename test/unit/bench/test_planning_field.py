"""The field of generated tasks for the planner; nothing is planned here."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bench import field_report, resumed
from bench.field_tasks import ARMS, DATA, FOREIGN, ROBOTS, FieldTask, generated
from bench.report import Options
from robot_rt_control.planning.files.task_file import read_task

_PUSHED = "straight", "anywhere", "turned", "posts"


@pytest.mark.parametrize("number", range(12))
def test_a_task_depends_on_seed_and_number_alone(number: int):
    assert generated(5, number) == generated(5, number)
    assert generated(5, number) != generated(6, number)


def test_ten_tasks_in_a_row_have_all_robots_and_seventy_each_kind_of_push():
    assert {generated(1, number).robot for number in range(30, 40)} == set(ROBOTS) == {*ARMS, "base", "gripper"}
    kinds = {(its.robot, its.kind) for its in (generated(1, number) for number in range(70))}
    assert all((robot, kind) in kinds for robot in ("iiwa", "base") for kind in _PUSHED)


def test_names_are_unique():
    names = [generated(seed, number).name for seed in (1, 2) for number in range(100)]
    assert len(set(names)) == len(names)


def check(task: FieldTask, folder: Path) -> None:
    """It is what `check` calls valid, and the line goes from the peg to the target."""
    file = read_task(task.write(folder, DATA))
    assert not file.unused and file.task.pairs
    if task.line is not None:
        way = np.subtract(file.task.target.position, file.body_start.position)
        assert way == pytest.approx([*(task.line.way * np.array(task.line.direction)), 0.0], abs=1e-4)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_every_task_of_the_packages_robots_is_valid(seed: int, first: int, tmp_path: Path):
    """Those of other people's robots the bench itself checks as it reads them: none was refused."""
    own = [its for its in (generated(seed, first + i) for i in range(10)) if its.robot not in FOREIGN]
    assert len(own) == 7
    for task in own:
        check(task, tmp_path)


def row(number: int, state: str = field_report.SOLVED, **its: object) -> resumed.Row:
    end = {"error_to_target": 0.0004, "peak": 2.0, "orientation_error": 0.0}
    replay = {"name": "MuJoCo, half the step", "holds": True, **end}
    solved = {"verified_by": end, "replays": [replay], "tolerance": 0.002} if state == field_report.SOLVED else {}
    return {
        "seed": 1, "number": number, "robot": "iiwa", "kind": "straight", "text": "box", "way": 0.1, "message": "why",
        "processor": 3.0, "state": state, **solved, **its,
    }  # fmt: skip


def test_a_miss_of_an_engine_that_was_not_asked_is_a_false_success():
    end = {"error_to_target": 0.01, "peak": 1.0, "orientation_error": 0.0}
    missed = {"name": "MuJoCo, half the step", "holds": False, **end}
    assert not field_report.is_false(row(0))
    assert field_report.is_false(row(0, replays=[missed]))
    assert not field_report.is_false(row(0, field_report.NOT_VERIFIED, replays=[missed])), "it does not claim success"


def test_a_plan_is_worse_than_its_script_by_error_beyond_a_millimetre_or_by_force():
    def worse(error: float, peak: float) -> bool | None:
        return field_report.is_worse(row(0, script={"error": error, "peak": peak}))

    assert worse(0.0, 2.0) is False, "0.4 mm are as good as none"
    assert worse(0.0, 1.9) is True
    assert field_report.is_worse(row(0)) is None
    end = {"error_to_target": 0.002, "peak": 1.0, "orientation_error": 0.0}
    assert field_report.is_worse(row(0, verified_by=end, script={"error": 0.0015, "peak": 2.0})) is True


def test_parts_are_merged_and_the_later_file_wins(tmp_path: Path):
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file, rows in zip(files, ([("x", 1), ("y", 2)], [("y", 3), ("z", 4)]), strict=True):
        file.write_text("".join(json.dumps({"job": job, "error": error}) + "\n" for job, error in rows))
    assert resumed.merged(files) == {"x": {"error": 1}, "y": {"error": 3}, "z": {"error": 4}}


def test_the_report_counts_states_and_false_successes(tmp_path: Path):
    missed = {"name": "PyBullet, half the step", "holds": False, "message": "it did not run to its end"}
    rows = [row(1, replays=[missed]), row(0), row(2, field_report.NOT_SOLVED), row(3, field_report.BROKEN)]
    options = Options(quick=False, output=tmp_path, console=Console(file=io.StringIO()))
    found = field_report.report(rows, options)
    assert found.rows[0][:7] == ["all", "4", "2", "0", "1", "0", "1"]
    assert found.goals[1].figure == "tracebacks" and found.goals[1].measured == "1" and not found.goals[1].met
    assert found.data["false_successes"] == 1 and [its["number"] for its in found.data["tasks"]] == [0, 1, 2, 3]
    assert any("1.001 iiwa, box: FALSE SUCCESS: PyBullet, half the step: it did not" in note for note in found.notes)
    assert not found.goals[0].met and (tmp_path / "planning_field.png").is_file()


def test_the_table_of_a_page_is_replaced_and_nothing_else(tmp_path: Path):
    options = Options(quick=False, output=tmp_path, console=Console(file=io.StringIO()))
    found = field_report.report([row(0)], options)
    page, head = tmp_path / "page.md", f"| {' | '.join(found.columns)} |"
    page.write_text(f"before\n\n{head}\n|---|\n| old |\n\n| other |\nafter\n")
    for _ in range(2):
        field_report.write_table(found, page)
    text = page.read_text()
    assert "| all | 1 | 1 | 0 |" in text and "old" not in text and text.count(head) == 1
    assert text.startswith("before\n\n") and text.endswith("\n\n| other |\nafter\n")
    page.write_text("no table\n")
    with pytest.raises(ValueError, match="has no table that begins with"):
        field_report.write_table(found, page)


def test_the_report_of_nothing_is_empty(tmp_path: Path):
    options = Options(quick=False, output=tmp_path, console=Console(file=io.StringIO()))
    assert field_report.report([], options).rows == []


@pytest.mark.parametrize(
    ("only", "numbers"), [("", [0, 1, 2, 3, 4]), ("1:3", [1, 2]), ("3:", [3, 4]), ("2", [2]), ("::2", [0, 2, 4])]
)
def test_a_part_of_the_tasks(only: str, numbers: list[int]):
    pytest.importorskip("mujoco")
    pytest.importorskip("piqp")
    from bench.planning_field import tasks

    assert [its.number for its in tasks(1, 5, only)] == numbers
