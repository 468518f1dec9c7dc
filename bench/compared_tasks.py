"""The same five tasks as users write them for this package and for ros2_control: `ros2_control_tasks/`."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent / "ros2_control_tasks"
TASKS = {
    "follow_trajectory": "follow a trajectory",
    "stop_on_contact": "stop on contact",
    "switch_on_sensor": "switch on a sensor",
    "hold_force": "hold a force",
    "follow_stream": "follow a stream",
}
"""File → what it does."""
HERE, ROS2_CONTROL = "here", "ros2_control"
"""The folders."""


def files(side: str, task: str) -> list[Path]:
    """What a user writes for a task: a program, and parameters if it needs some.

    Raises:
        FileNotFoundError: there is no such task.
    """
    found = sorted((FOLDER / side).glob(f"{task}.*"))
    if not found:
        raise FileNotFoundError(f"no file of the task {task!r} in {FOLDER / side}")
    return found


def lines_of_code(file: Path) -> int:
    """Lines of a Python or YAML file that are neither empty nor comment nor docstring."""
    text = file.read_text()
    lines = text.splitlines()
    counted = {i for i, line in enumerate(lines, 1) if line.strip() and not line.strip().startswith("#")}
    if file.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                first = node.body[0]
                counted -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(counted)


def lines_of_task(side: str, task: str) -> int:
    """Lines of code of all its files."""
    return sum(map(lines_of_code, files(side, task)))


def load(task: str) -> ModuleType:
    """The program of this package for a task."""
    file = FOLDER / HERE / f"{task}.py"
    spec = importlib.util.spec_from_file_location(f"compared_{task}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
