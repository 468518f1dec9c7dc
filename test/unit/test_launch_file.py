"""The launch file, as far as it can be judged without ROS's launch: it is read, not run."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.bringup.bringup import BringupOptions, ProcessDescription

FILE = Path(__file__).resolve().parents[2] / "launch" / "workcell.launch.py"


@pytest.fixture(scope="module")
def tree() -> ast.Module:
    source = FILE.read_text()
    compile(source, str(FILE), "exec")
    return ast.parse(source)


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    return [
        n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name
    ]


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {k.arg: k.value for k in call.keywords if k.arg is not None}


def declared(tree: ast.Module) -> dict[str, dict[str, ast.expr]]:
    found = {}
    for call in calls(tree, "DeclareLaunchArgument"):
        name = call.args[0]
        assert isinstance(name, ast.Constant)
        found[str(name.value)] = keywords(call)
    return found


def test_every_option_is_an_argument_with_a_description(tree: ast.Module) -> None:
    fields = {field.name for field in dataclasses.fields(BringupOptions)}
    arguments = declared(tree)
    assert set(arguments) == fields
    for argument in arguments.values():
        assert len(ast.unparse(argument["description"])) > 10
    text = ast.unparse(tree)
    assert "options = BringupOptions.from_texts(argument)" in text and "processes(options, workcell)" in text


def default(text: ast.expr) -> Any:
    """An argument's default as the launch file writes it."""
    if isinstance(text, ast.Name):
        return {"YES": True, "NO": False}[text.id]
    if isinstance(text, ast.Attribute):
        return getattr(BringupOptions, text.attr)
    assert isinstance(text, ast.Constant)
    return text.value


def test_the_defaults_are_those_of_the_options(tree: ast.Module) -> None:
    wanted: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(BringupOptions)}
    for name, argument in declared(tree).items():
        value = default(argument["default_value"])
        if isinstance(wanted[name], (bool, str)):
            assert value == wanted[name], name
        elif isinstance(wanted[name], tuple):
            assert tuple(value.split()) == wanted[name], name
        else:
            assert type(wanted[name])(value) == wanted[name], name


def test_the_clocks_and_workcells_are_those_that_there_are(tree: ast.Module) -> None:
    arguments = declared(tree)
    assert ast.unparse(arguments["clock"]["choices"]) == "list(CLOCKS)"
    assert "shipped_workcells()" in ast.unparse(arguments["workcell"]["description"])


def test_all_of_a_process_reaches_launch(tree: ast.Module) -> None:
    """Each field of a description is used, but those that are for the supervisor's eyes."""
    (function,) = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "node"]
    used = {
        n.attr
        for n in ast.walk(function)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "process"
    }
    assert used == {field.name for field in dataclasses.fields(ProcessDescription)} - {"consequence"}
