"""The command line of blueprints, without a robot."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.command_line.blueprints import offline_skills
from robot_rt_control.command_line.blueprints.main import main, parser
from robot_rt_control.command_line.blueprints.verbs import VERBS, find_verb
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.verbs import summary

ROOT = Path(__file__).resolve().parents[4]
BENCH = str(ROOT / "test" / "lockstep" / "mock_bench.yaml")
Captured = pytest.CaptureFixture[str]

TOUR = """\
name: tour
parameters: {pause: {unit: s, default: 0.5}}
nodes:
  touch: {skill: probe, then: [{on: contact, go: again}, {on: failure, end: failed}]}
  again: {ask: {text: Again?}, then: [{on: 'yes', go: touch}, {on: 'no', go: rest}]}
  rest: {wait: $pause}
"""
PROBE = "name: probe\nlevel: motion_skill\nis: {skill: move_until_contact}\n"


@pytest.fixture(scope="module", autouse=True)
def read_once() -> Iterator[None]:
    """What the package has is the same for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("offline_catalogue", "library_template"):
            patch.setattr(offline_skills, name, cache(getattr(offline_skills, name)))
        yield


@pytest.fixture
def tour(tmp_path: Path) -> str:
    (tmp_path / "probe.yaml").write_text(PROBE)
    (tmp_path / "notes.yaml").write_text("[not, a, skill]")
    file = tmp_path / "tour.yaml"
    file.write_text(TOUR)
    return str(file)


def said(capsys: Captured, *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: Captured, *words: str) -> tuple[int, Any]:
    code, out, _ = said(capsys, *words, "--json")
    return code, json.loads(out)


def test_every_verb_is_in_the_help(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == ExitCode.DONE
    assert all(f"{name} {summary(find_verb(name))}" in out for name in VERBS)


def test_help_needs_neither_ros_nor_the_compiler() -> None:
    code = "import sys; from robot_rt_control.command_line.blueprints.main import parser; parser();"
    code += "print([m for m in ('rclpy', 'numba', 'numpy', 'yaml', 'rich') if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout == "[]\n"


def test_the_command_is_installed_and_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["robot-rt-control-blueprint"] == f"{main.__module__}:main"
    assert f"from {main.__module__} import main" in (ROOT / "scripts" / "robot-rt-control-blueprint").read_text()
    completed: list[Any] = []
    monkeypatch.setitem(sys.modules, "argcomplete", types.SimpleNamespace(autocomplete=completed.append))
    with pytest.raises(SystemExit):
        main([])
    assert [made.prog for made in completed] == [parser().prog] == ["robot-rt-control-blueprint"]


@pytest.mark.parametrize("workcell", [BENCH, "base_push"], ids=["file", "name"])
def test_a_new_blueprint_is_valid_and_can_be_rehearsed(workcell: str, tmp_path: Path, capsys: Captured) -> None:
    file = str(tmp_path / "first.yaml")
    assert said(capsys, "new", file, "--workcell", workcell)[0] == ExitCode.DONE
    code, out, err = said(capsys, "check", file, "--workcell", workcell, "--strict")
    assert code == ExitCode.DONE and out == f"{file}: valid; blueprint, 3 nodes\n", err
    code, data = as_json(capsys, "run", file, "rounds=3", "--rehearse", "--workcell", workcell)
    assert code == ExitCode.DONE and data["result"] == "done"
    assert [r["path"] for r in data["records"] if r["what"] == "node"] == ["hello", *["work"] * 3, "goodbye"]
    code, _, err = said(capsys, "new", file, "--workcell", workcell)
    assert code == ExitCode.FAILED and "expected a new file" in err


def test_mistakes_have_lines_and_nodes(tour: str, capsys: Captured) -> None:
    assert said(capsys, "check", tour, "--workcell", BENCH)[0] == ExitCode.DONE
    Path(tour).write_text(TOUR.replace("go: again", "go: agian").replace("wait: $pause", "wait: -1"))
    code, data = as_json(capsys, "check", tour, "--workcell", BENCH)
    assert code == ExitCode.FAILED
    (checked,) = data["skills"]
    assert [(error["node"], "tour.yaml:" in error["text"]) for error in checked["errors"]] == [
        ("touch", True), ("rest", True),
    ]  # fmt: skip
    code, _, err = said(capsys, "check", tour)
    assert code == ExitCode.FAILED and "tour.yaml:4: node 'touch': unknown node" in err and "'again'" in err


def test_strict_levels(tour: str, capsys: Captured) -> None:
    probe = str(Path(tour).with_name("probe.yaml"))
    assert said(capsys, "check", probe, "--strict-levels", "--workcell", BENCH)[0] == ExitCode.DONE
    Path(probe).write_text(PROBE.replace("motion_skill", "behavior_skill"))
    assert said(capsys, "check", probe, "--workcell", BENCH)[0] == ExitCode.DONE
    code, _, err = said(capsys, "check", probe, "--strict-levels", "--workcell", BENCH)
    assert code == ExitCode.FAILED and "expected a skill of level motion_skill" in err


def test_draw_and_expand(tour: str, tmp_path: Path, capsys: Captured) -> None:
    pictures = [str(tmp_path / name) for name in ("tour.svg", "tour.png")]
    code, data = as_json(capsys, "draw", tour, "-o", pictures[0], "-o", pictures[1])
    assert code == ExitCode.DONE and data == {"files": pictures}
    assert all(Path(file).stat().st_size > 1000 for file in pictures)
    code, out, _ = said(capsys, "expand", tour, "--workcell", BENCH)
    assert code == ExitCode.DONE
    assert out.splitlines()[:5] == [
        "tour (blueprint)",
        "  touch: probe (motion_skill)",
        "    move_until_contact (meta_skill)",
        *[line for line in out.splitlines() if line.startswith("      ")][:2],
    ]
    assert "  again: ask (built in)" in out.splitlines()
    assert said(capsys, "expand", "trace_edge")[1].startswith("trace_edge (meta_skill)\n  watch: watch_tool (cap")


def test_chosen_results(tour: str, capsys: Captured) -> None:
    rehearse = ("run", tour, "pause=2", "--rehearse", "--workcell", BENCH)
    code, data = as_json(capsys, *rehearse, "--choose", "again=yes,yes,no")
    assert (code, data["result"], data["success"]) == (ExitCode.DONE, "done", True)
    nodes = [r["path"] for r in data["records"] if r["what"] == "node"]
    assert nodes.count("touch") == 3 and nodes[-1] == "rest" and data["records"][-1]["time"] >= 2.0
    code, out, err = said(capsys, *rehearse, "--choose", "touch=not_found", "--choose", "rest=done")
    assert code == ExitCode.FAILED and "ended: failed" in out
    assert "--choose rest: done did not come" in err
    code, _, err = said(capsys, *rehearse, "--choose", "touch/only=contct")
    assert code == ExitCode.FAILED and "has no result 'contct'" in err
    code, data = as_json(capsys, *rehearse, "--at-most", "20", "--choose", f"again={','.join(['yes'] * 99)}")
    assert data["result"] == "cancelled" and "bound of 20 nodes" in data["reason"]


def test_a_person_is_asked(tour: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    rehearse = ("run", tour, "--rehearse", "--ask", "--workcell", BENCH)
    monkeypatch.setattr(sys, "stdin", io.StringIO("cont\nnonsense\nno\n"))
    code, out, err = said(capsys, *rehearse)
    assert code == ExitCode.DONE and "ended: done" in out
    assert "touch: move_until_contact [contact | not_found | " in err and "again: Again? [yes | no]" in err
    assert "got 'nonsense'" in err
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    code, _, err = said(capsys, *rehearse)
    assert code == ExitCode.FAILED and "nobody answers" in err


@pytest.mark.parametrize(
    "words, expected",
    [
        (["check", "no_such.yaml"], "is neither a file nor a skill of the package"),
        (["run", "tour", "--choose", "a=b"], "expected with it also --rehearse and --workcell"),
        (["draw", "TOUR", "-o", "tour.gif"], "expected a name that ends with .svg or .png"),
        (["run", "TOUR", "--rehearse", "--workcell", BENCH, "--paused"], "--paused"),
        (["run", "TOUR", "--rehearse", "--workcell", BENCH, "--break", "up"], "--break; expected a run on a robot"),
        (["run", "TOUR", "--rehearse", "--workcell", BENCH, "pace=2"], "pace"),
        (["run", "TOUR", "--rehearse", "--workcell", BENCH, "--at", "nap"], "unknown node 'nap'"),
    ],
)
def test_what_cannot_be_done(words: list[str], expected: str, tour: str, capsys: Captured) -> None:
    code, _, err = said(capsys, *(tour if word == "TOUR" else word for word in words))
    assert code == ExitCode.FAILED and expected in err


@pytest.mark.parametrize("words", [["run", "x", "--choose", "a"], ["list", "--level", "x"], ["arm"]])
def test_a_wrong_command_line_ends_with_2(words: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == ExitCode.USAGE


def test_the_log_of_a_file(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "1.jsonl"
    file.write_text('{"tick": 1, "time": 0.5, "what": "node", "path": "a/b", "visit": 2, "attempt": 1}\n')
    code, out, _ = said(capsys, "log", str(file))
    assert code == ExitCode.DONE and out.split() == ["0.500", "1", "a/b", "(visit", "2)"]
    assert as_json(capsys, "log", str(file))[1]["records"][0]["path"] == "a/b"


def test_modules_of_the_table() -> None:
    for name in VERBS:
        verb = find_verb(name)
        assert verb.__doc__ and importlib.import_module(verb.__module__)


TREES = """\
<root BTCPP_format="4" main_tree_to_execute="Look">
  <BehaviorTree ID="Look">
    <Fallback><move_until_contact way="0;0;-0.1"/><SubTree ID="Again"/></Fallback>
  </BehaviorTree>
  <BehaviorTree ID="Again">
    <RetryUntilSuccessful num_attempts="3"><move_to_corner/></RetryUntilSuccessful>
  </BehaviorTree>
</root>
"""


def test_trees_there_and_back(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "trees.xml"
    file.write_text(TREES)
    code, data = as_json(capsys, "import", str(file), "--workcell", BENCH)
    assert code == ExitCode.DONE and data["main"] == "Look"
    assert data["files"] == [str(tmp_path / "Again.yaml"), str(tmp_path / "Look.yaml")]
    look = str(tmp_path / "Look.yaml")
    assert said(capsys, "check", look, "--workcell", BENCH)[0] == ExitCode.DONE
    code, data = as_json(
        capsys, "run", look, "--rehearse", "--workcell", BENCH, "--choose", "move_until_contact=not_found"
    )
    assert code == ExitCode.DONE
    assert [r["path"] for r in data["records"] if r["what"] == "node"] == [
        "move_until_contact", "Again", "Again/move_to_corner",
    ]  # fmt: skip
    code, out, _ = said(capsys, "export", look, "--workcell", BENCH)
    assert code == ExitCode.DONE and '<RetryUntilSuccessful num_attempts="3">' in out
    code, _, err = said(capsys, "import", str(file), "--workcell", BENCH)
    assert code == ExitCode.FAILED and "expected a new file" in err
    file.write_text(TREES.replace("Fallback", "ReactiveFallback"))
    code, _, err = said(capsys, "import", str(file), "--workcell", BENCH, "--force")
    assert code == ExitCode.FAILED
    assert "trees.xml:3: <move_until_contact> in <ReactiveFallback>; expected conditions" in err


def test_models_for_editors_of_trees(tmp_path: Path, capsys: Captured) -> None:
    file = str(tmp_path / "models.xml")
    assert as_json(capsys, "export", "--models", "--workcell", BENCH, "-o", file) == (0, {"file": file})
    assert '<Action ID="trace_edge">' in Path(file).read_text()
    code, _, err = said(capsys, "export")
    assert code == ExitCode.FAILED and "either SKILL or --models" in err
