"""The command line of programs that can also run in simulated time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.testing.program_main import run_program
from robot_rt_control.vocabulary.errors import DefinitionError

_FILE = Path(__file__).parents[3] / "config" / "arm7.yaml"


def test_in_lockstep_it_needs_nothing_else(tmp_path: Path) -> None:
    seen: list[Any] = []

    def program(client: Any, output: Path) -> None:
        with client.session("arm") as session:
            session.wait_until("arm.at_rest", timeout_s=1)
        seen.append((client.cell.workcell.name, output.is_dir()))

    folder = tmp_path / "a" / "b"
    assert (
        run_program(program, workcell=_FILE, output=Path("unused"), argv=["--lockstep", "--output", str(folder)]) == 0
    )
    assert seen == [("arm7_cell", True)] and folder.is_dir()


def test_what_went_wrong_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def program(client: Any, output: Path) -> None:
        raise DefinitionError("action 'a'", expected="b", got="c")

    assert run_program(program, workcell=_FILE, output=tmp_path, argv=["--lockstep"]) == 1
    assert capsys.readouterr().err == "action 'a'; expected b; got c\n"


def test_help_says_how_to_bring_the_workcell_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_program(print, workcell=_FILE, output=tmp_path, description="Moves.", argv=["--help"])
    text = capsys.readouterr().out
    assert "Moves." in text and "--workcell arm7" in text and "--lockstep" in text
