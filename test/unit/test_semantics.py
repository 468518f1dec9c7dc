"""docs/semantics and the tests that carry its rules' names: none without the other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHAPTERS = ROOT / "docs" / "semantics"
RULE = re.compile(r"^- \*\*([A-Z]\d+)\b", re.MULTILINE)
TEST = re.compile(r"^test_([A-Z]\d+)(?:_|$)")
FILES = {
    "T": "tick",
    "C": "conditions",
    "R": "reactions",
    "A": "actions",
    "G": "signals",
    "S": "sessions",
    "B": "callbacks",
    "P": "programs",
    "L": "limits",
    "K": "action_types",
    "I": "io",
    "W": "streams",
    "Y": "strategies",
    "F": "laws",
    "M": "groups",
    "U": "composing",
    "D": "drives",
    "J": "trajectories",
    "Q": "controllers",
    "X": "descriptions",
    "H": "recordings",
    "V": "planning",
    "N": "blueprints",
    "E": "editor",
    "Z": "tools",
}
"""First letter of a rule → its chapter in docs/semantics, and its files in test/lockstep/rules, which begin so."""
MORE = {
    "S": ("test/unit/", "test/ros/"),
    "K": ("test/unit/",),
    "I": ("test/unit/ros/", "test/ros/"),
    "X": ("test/unit/hardware/mujoco/", "test/ros/test_foxglove.py"),
    "V": ("test/unit/planning/", "test/unit/planner/"),
    "N": ("test/unit/", "test/lockstep/", "test/ros/"),
    "H": ("test/unit/recording/", "test/unit/editor/past/", "test/browser/"),
    "E": ("test/unit/editor/", "test/ros/test_editor.py", "test/browser/"),
}
"""Where further rules have their tests: what they say needs no loop."""


def rules() -> list[str]:
    return [rule for chapter in FILES.values() for rule in RULE.findall((CHAPTERS / f"{chapter}.md").read_text())]


def is_long(node: ast.FunctionDef) -> bool:
    """Whether ./run test leaves it out."""
    return any(ast.unparse(decorator) == "pytest.mark.long" for decorator in node.decorator_list)


def rules_of_tests(folder: Path, *, with_long: bool = True) -> dict[str, list[str]]:
    """Rule → tests in this folder that carry its name."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("test_*.py")):
        text = file.read_text()
        tree = ast.parse(text)
        if not with_long and "pytestmark = pytest.mark.long" in text:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (match := TEST.match(node.name)):
                if not with_long and is_long(node):
                    continue
                found.setdefault(match[1], []).append(f"{file.relative_to(ROOT)}:{node.name}")
    return found


def test_the_chapters_name_each_rule_once_and_in_order() -> None:
    names = rules()
    assert len(names) > 40 and len(set(names)) == len(names)
    assert list(dict.fromkeys(name[0] for name in names)) == list(FILES)
    assert sorted(names) == sorted(RULE.findall("\n".join(chapter.read_text() for chapter in CHAPTERS.glob("*.md"))))
    for letter in FILES:
        numbers = [int(name[1:]) for name in names if name[0] == letter]
        assert numbers == list(range(1, len(numbers) + 1)), letter


def test_every_rule_has_a_test_in_its_file_that_run_test_does_not_leave_out() -> None:
    found, missing = rules_of_tests(ROOT / "test", with_long=False), []
    for name in rules():
        files = (f"test/lockstep/rules/test_{FILES[name[0]]}", *MORE.get(name[0], ()))
        if not any(test.startswith(files) for test in found.get(name, [])):
            missing.append(f"{name}: no test_{name}_… in {' or '.join(files)}")
    assert not missing, "\n".join(missing)


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    known = set(rules())
    unknown = {rule: tests for rule, tests in rules_of_tests(ROOT / "test").items() if rule not in known}
    assert not unknown, unknown
