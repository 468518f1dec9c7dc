"""The groups of rooms in docs/architecture.md: what each needs, what its node loads; no circles of modules."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "robot_rt_control"
COMPILER = {"numba", "llvmlite"}
MESSAGES = re.compile(r"\w+_(msgs|srvs)|builtin_interfaces|rcl_interfaces")
"""Interfaces come with ROS."""


def rows() -> list[dict[str, str]]:
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    lines = [line for line in text.split("## Groups of rooms")[1].split("\n## ")[0].splitlines() if line[:1] == "|"]
    header, _, *others = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(header, row, strict=True)) for row in others]


GROUPS = {row["group"]: row for row in rows()}


def rooms(group: str) -> list[str]:
    return re.findall(r"`(\w+)`", GROUPS[group]["rooms"])


def imported(group: str) -> set[str]:
    """The packages of others that its rooms import."""
    found = set()
    for room in rooms(group):
        for file in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                found |= {name.split(".")[0] for name in names}
    return {name for name in found - {"robot_rt_control"} - sys.stdlib_module_names if not MESSAGES.fullmatch(name)}


ONE_MACHINE = {f"robot_rt_control.blueprint.engine.{name}" for name in ("activities", "control", "engine", "frame")}
"""One state machine in four files: the engine makes frames and activities, which call it back. Only imports for type
checkers lead back, so that the files are loaded in order."""


def module_graph() -> dict[str, set[str]]:
    """Module → those that it imports, for type checkers alone or inside functions, too."""
    files = {".".join(file.relative_to(REPOSITORY).with_suffix("").parts): file for file in PACKAGE.rglob("*.py")}
    files = {name.removesuffix(".__init__"): file for name, file in files.items()}
    graph: dict[str, set[str]] = {name: set() for name in files}
    for name, file in files.items():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names} & files.keys()
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{name}: a relative import"
                targets = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[name] |= {target if target in files else str(node.module) for target in targets} & files.keys()
    return graph


def reached(graph: dict[str, set[str]], name: str) -> set[str]:
    found: set[str] = set()
    coming = list(graph[name])
    while coming:
        module = coming.pop()
        if module not in found:
            found.add(module)
            coming += graph[module]
    return found


def test_modules_make_no_circles() -> None:
    graph = module_graph()
    assert "robot_rt_control.client.session" in graph["robot_rt_control.client"]
    assert {name for name in graph if name in reached(graph, name)} == ONE_MACHINE


def test_each_room_is_in_one_group() -> None:
    named = sorted(room for group in GROUPS for room in rooms(group))
    assert named == sorted(file.parent.name for file in PACKAGE.glob("*/__init__.py"))


def test_the_core_knows_nothing_of_the_rest() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    contracts = {each["name"]: each for each in settings["tool"]["importlinter"]["contracts"]}
    contract = contracts["The core knows nothing of the rest"]
    for group, key in (("core", "source_modules"), (None, "forbidden_modules")):
        wanted = [room for name in GROUPS if (name == "core") == (group == "core") for room in rooms(name)]
        assert sorted(contract[key]) == sorted(f"robot_rt_control.{room}" for room in wanted)
    assert "ignore_imports" not in contract


@pytest.mark.parametrize("group", GROUPS)
def test_what_a_group_needs(group: str) -> None:
    own = imported(group) - (set() if group == "core" else imported("core"))
    told = set(re.findall(r"`(\w+)`", GROUPS[group]["needs"]))
    assert own == told, "besides ROS's interfaces and what the core needs"


@pytest.mark.parametrize("group", GROUPS)
def test_what_its_node_loads(group: str) -> None:
    row = GROUPS[group]
    match = re.fullmatch(r"`([\w.]+)`: (\d+)", row["its process loads"])
    assert match, row
    code = f"import sys, robot_rt_control.{match[1]}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    ours = sum(name.startswith("robot_rt_control.") and not name.startswith("robot_rt_control.msg") for name in loaded)
    assert 0.85 * int(match[2]) <= ours <= int(match[2]), "files of ours: the table says how many at most"
    assert (row["compiler"] == "yes") == bool(COMPILER & set(loaded))
