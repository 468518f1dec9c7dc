"""`robot-rt header`: the C header of an action type, beside its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main

ROOT = Path(__file__).parents[3]


def test_the_header_of_the_example_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = ROOT / "examples" / "25_c_action.py"
    assert main(["header", str(source), "--folder", str(tmp_path / "made"), "--json"]) == ExitCode.DONE
    header = tmp_path / "made" / "25_c_action_records.h"
    assert json.loads(capsys.readouterr().out) == {"headers": [str(header)]}
    text = header.read_text()
    assert "    double offset;  /* [rad] Of the joint from where it was. */\n" in text
    assert "int on_enter(State *state, const Params *params, Part *arm);\n" in text


def test_it_is_written_beside_the_c_file_before_there_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "laws").mkdir()
    text = (ROOT / "examples" / "25_c_action.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace('"25_c_action.cpp"', '"laws/mine.cpp"'))
    assert main(["header", f"{tmp_path}/mine.py:Sway"]) == ExitCode.DONE
    assert capsys.readouterr().out.strip() == str(tmp_path / "laws" / "mine_records.h")
    assert (tmp_path / "laws" / "mine_records.h").is_file()


def test_a_type_in_python_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["header", str(ROOT / "examples" / "04_custom_action.py")]) == ExitCode.FAILED
    err = capsys.readouterr().err
    assert "action type 'wave' has no real-time code in C or C++" in err and 'realtime_source = "my_action.cpp"' in err
