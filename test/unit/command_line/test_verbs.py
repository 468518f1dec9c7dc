"""The table of verbs, and the ways to it."""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.main import main, parser
from robot_rt_control.command_line.verbs import VERBS, find_verb, summary

ROOT = Path(__file__).resolve().parents[3]
ROS2 = "robot_rt_control.command_line.ros2"


def test_every_verb_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == ExitCode.DONE
    for name in VERBS:
        assert f"{name} {summary(find_verb(name))}" in out
        parsed, _ = parser().parse_known_args([name, {"record": "start", "new": "driver"}.get(name, "x"), "--json"])
        assert parsed.verb == name and parsed.json


def test_help_needs_neither_ros_nor_the_compiler() -> None:
    code = "import sys; from robot_rt_control.command_line.main import parser; parser();"
    code += "print([m for m in ('rclpy', 'numba', 'numpy', 'yaml', 'rich') if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout == "[]\n"


@pytest.mark.parametrize("program", ["command_line", "command_line.planning", "command_line.blueprints"])
def test_the_tab_key_completes_a_command_line(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    completed: list[Any] = []
    argcomplete = types.SimpleNamespace(autocomplete=completed.append)
    monkeypatch.setitem(sys.modules, "argcomplete", argcomplete)
    command_line = importlib.import_module(f"robot_rt_control.{program}.main")
    with pytest.raises(SystemExit):
        command_line.main([])
    assert [made.prog for made in completed] == [command_line.parser().prog]


@pytest.mark.parametrize("words", [[], ["strat"], ["stop", "up"], ["start"], ["start", "hold", "=1"]])
def test_a_wrong_command_line_ends_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == ExitCode.USAGE
    err = capsys.readouterr().err
    assert "error" in err
    # Who types the name alone wants to know what there is.
    assert words or all(f"    {name} " in err for name in VERBS)


def test_exit_codes_are_those_of_the_document() -> None:
    table = re.findall(r"^\| (\d+) \| ", (ROOT / "docs" / "command_line.md").read_text(), re.MULTILINE)
    assert [int(number) for number in table] == list(ExitCode)


def test_verbs_of_the_document_are_those_of_the_table() -> None:
    text = (ROOT / "docs" / "command_line.md").read_text().partition("## ")[0]
    assert re.findall(r"^\| `(\w+)[^`]*` \| ", text, re.MULTILINE) == list(VERBS)


class _Extension:
    """In place of ros2cli's base classes, which are not on PyPI."""

    NAME = ""


@pytest.fixture
def ros2(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    command, verb = types.ModuleType("ros2cli.command"), types.ModuleType("ros2cli.verb")
    called: list[Any] = []
    vars(command).update(CommandExtension=_Extension, add_subparsers_on_demand=lambda *a, **k: called.append((a, k)))
    vars(verb).update(VerbExtension=_Extension)
    for module in (types.ModuleType("ros2cli"), command, verb):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, ROS2, raising=False)
    made = importlib.import_module(ROS2)
    vars(made)["called"] = called
    yield made
    sys.modules.pop(ROS2)


def test_ros2cli_finds_the_same_verbs(ros2: Any, capsys: pytest.CaptureFixture[str]) -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points["ros2cli.command"] == {"rt": f"{ROS2}:RtCommand"}
    assert points["ros2cli.extension_point"] == {ros2.GROUP: "ros2cli.verb:VerbExtension"}
    assert points[ros2.GROUP] == {name: f"{ROS2}:{name}" for name in VERBS}

    command, top = ros2.RtCommand(), parser()
    command.add_arguments(top, "ros2 rt", argv=["a"])
    assert ros2.called == [((top, "ros2 rt", "_verb", ros2.GROUP), {"required": False, "argv": ["a"]})]
    arguments = top.parse_args(["validate", "no_such_program"])
    assert command.main(parser=top, args=arguments) == 0  # no verb was selected: help
    for name in VERBS:
        extension = getattr(ros2, name)()
        extension.NAME = name
        own = argparse.ArgumentParser()
        extension.add_arguments(own, "ros2 rt")
        assert own.description == (find_verb(name).__doc__ or "").strip()
        assert extension.__doc__ == find_verb(name).__doc__
    arguments._verb = ros2.validate()
    arguments._verb.NAME = "validate"
    capsys.readouterr()
    assert command.main(parser=top, args=arguments) == ExitCode.FAILED
    assert "'no_such_program' is neither a file nor a program of the library" in capsys.readouterr().err
    with pytest.raises(AttributeError):
        ros2.no_such_verb  # noqa: B018
