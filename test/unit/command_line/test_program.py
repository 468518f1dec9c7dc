"""The command line for programs, as far as it needs no running workcell."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from robot_rt_control.command_line.program import assignment, main, parser
from robot_rt_control.program.schema import SCHEMA_FILE

ROOT = Path(__file__).resolve().parents[3]
WORKCELL = str(ROOT / "config" / "arm7.yaml")
BENCH = str(ROOT / "config" / "bench.yaml")
GOOD = """\
name: until_near
start: [down]
actions:
  down: {type: hold, parts: arm, reactions: [{when: rangefinder.distance < 0.2, start: done}]}
  done: {type: hold, parts: arm, final: true}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.yaml"
    path.write_text(GOOD)
    return path


def test_check_says_that_a_program_is_valid(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--workcell", WORKCELL]) == 0
    out, err = capsys.readouterr()
    assert out == "program.yaml: valid; 2 actions, 1 reactions\n" and err == ""


def test_check_says_everything_that_is_wrong(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        GOOD.replace("type: hold, parts: arm, final", "type: hodl, parts: arm, final").replace("0.2", "0.2 s")
    )
    assert main(["check", str(file), str(file.with_name("missing.yaml")), "--workcell", WORKCELL]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("error")]
    condition = "condition of a reaction of action 'down'"
    assert lines[0].startswith(f"error: program.yaml:4: {condition}, column 24: units do not agree; expected m")
    assert lines[1].startswith(
        "error: program.yaml:5: action 'done': unknown action type; expected one of the known names"
    )
    assert "cannot be read" in lines[2] and len(lines) == 3
    # Without a workcell nothing is known of the rangefinder, but of the action types.
    assert main(["check", str(file)]) == 1
    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == ["program.yaml:5"]


def test_warnings_are_told_and_fail_only_where_that_is_asked_for(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(GOOD.replace(", final: true", ""))
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().err.startswith("warning: program.yaml:5: action 'done' has no exit")
    assert main(["check", str(file), "--strict"]) == 1


def test_the_library_is_found_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "no_such_program"]) == 1
    assert "'no_such_program' is neither a file nor a program of the library" in capsys.readouterr().err


def test_draw_writes_every_picture_that_is_asked_for(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["draw", str(file), "-o", "a.svg", "-o", "b.png"]) == 0
    assert capsys.readouterr().out == "a.svg\nb.png\n"
    assert (tmp_path / "a.svg").read_text().startswith("<?xml") and (tmp_path / "b.png").read_bytes()[1:4] == b"PNG"
    assert main(["draw", str(file)]) == 0 and (tmp_path / "program.svg").exists()
    assert main(["draw", str(file), "-o", "a.gif"]) == 1


def test_the_documents_example_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "programs.md").read_text(), re.DOTALL)
    for example, workcell, shown, uses in (
        (examples[0], WORKCELL, "2 actions, 3 reactions", ""),
        (examples[1], BENCH, "16 actions, 28 reactions", "touch__…: move_until_contact\ncorner__…: move_to_corner\n"),
    ):
        (tmp_path / "example.yaml").write_text(example)
        code = main(["check", str(tmp_path / "example.yaml"), "--workcell", workcell, "--strict"])
        found = capsys.readouterr()
        assert code == 0, found
        assert found == (f"example.yaml: valid; {shown}\n", uses)


def test_used_programs_are_found_beside_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "inner@3.yaml").write_text("start: a\nactions: {a: {type: hold, parts: arm, final: true}}\n")
    text = "start: x\nactions:\n  x: {use: inner@3, exits: {a: y}}\n  y: {type: hold, parts: arm, final: true}\n"
    (tmp_path / "outer.yaml").write_text(text)
    assert main(["check", str(tmp_path / "outer.yaml")]) == 1
    shown = capsys.readouterr().err
    assert "outer.yaml:3: state 'x' uses 'inner@3': inner@3.yaml:1: program 'inner@3' starts in its exit 'a'" in shown


def test_a_name_of_the_library_is_the_librarys_also_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "move_to_corner.yaml").write_text("start: a\nactions: {a: {type: hold, parts: arm, final: true}}\n")
    text = "start: x\nactions:\n  x: {use: move_to_corner, exits: {a: y}}\n  y: {type: hold, parts: arm, final: true}\n"
    (tmp_path / "outer.yaml").write_text(text)
    assert main(["check", str(tmp_path / "outer.yaml")]) == 1
    assert "it has no exit 'a'; expected one of: failed, in_corner, not_found" in capsys.readouterr().err


def test_schema_prints_the_path_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.strip() == str(SCHEMA_FILE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("speed=0.1", ("speed", 0.1)),
        ("count=3", ("count", 3)),
        ("on=true", ("on", True)),
        ("mode=soft", ("mode", "soft")),
        ("direction=[0, 0, -1]", ("direction", [0.0, 0.0, -1.0])),
        ("text=a=b", ("text", "a=b")),
        ("empty=", ("empty", "")),
    ],
)
def test_values_of_the_command_line(text: str, expected: tuple[str, object]) -> None:
    assert assignment(text) == expected


@pytest.mark.parametrize("text", ["speed", "=1", "two words=1", "v=[1, x]", "v=[1, [2]]"])
def test_values_that_are_none(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected"):
        assignment(text)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], []):
        with pytest.raises(SystemExit):
            main(words)
        said = "".join(capsys.readouterr())
        assert all(f"    {c} " in said for c in ("check", "draw", "list", "show", "save", "delete", "run", "schema"))
    given = parser().parse_args(["run", "p", "--parts", "a=b", "c=d", "--set", "x=1", "y=[2]", "--until", "e"])
    assert parser().parse_args(["run", "p", "--detached", "5"]).detached == 5.0 and given.detached == 0.0
    assert (given.parts, given.values, given.until) == (["a=b", "c=d"], [("x", 1), ("y", [2.0])], "e")
