"""The files of a new action type."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from robot_rt_control.command_line.new_action import main, write_action
from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.vocabulary.errors import DefinitionError


def test_three_files_that_fit_together(tmp_path: Path) -> None:
    files = write_action("push_button", tmp_path / "new")
    assert [f.name for f in files] == ["push_button.py", "test_push_button.py", "run_push_button.py"]
    for file in files:
        text = file.read_text()
        ast.parse(text)
        assert "@name@" not in text and "@Class@" not in text and "PushButton" in text
    source = load_action_type(f"{files[0]}:PushButton")
    assert source.action_type.name == "push_button"
    assert list(check_syntax(source).methods) == ["on_enter", "sense", "set_parameters", "control"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run_nod.py").write_text("mine")
    with pytest.raises(DefinitionError, match="run_nod.py exists. Choose another name, or another folder"):
        write_action("nod", tmp_path)
    assert [f.name for f in tmp_path.iterdir()] == ["run_nod.py"]


def test_the_command_says_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["nod"]) == 0
    assert "run_nod.py   runs it on a running workcell: python run_nod.py" in capsys.readouterr().out
    assert main(["no d"]) == 1
    assert "name of an action type is not valid" in capsys.readouterr().err
