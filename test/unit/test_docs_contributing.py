"""docs/contributing.md names files that exist, and each list contains the files in which its example occurs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
PATH = re.compile(r"`([\w./]+/[\w.]+|[\w]+\.(?:toml|txt|json))`")


def place(path: str) -> Path:
    """A path of the repository, or of the package."""
    return ROOT / path if (ROOT / path).exists() else ROOT / "robot_rt_control" / path


def recipes() -> dict[str, str]:
    """Title → text."""
    found = re.split(r"^\*\*\d+\. (.+?)\*\*", PAGE.partition("\n## Where a mistake")[0], flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def paths(text: str) -> list[str]:
    return [path for path in PATH.findall(text) if path != "./run" and path != "a/b.py"]


def test_every_file_exists() -> None:
    named = [path for path in paths(PAGE) if path != "test/unit/a/test_b.py"]
    assert len(named) > 80
    assert [path for path in named if not place(path).exists()] == []


def test_there_are_ten_recipes_each_with_a_test() -> None:
    assert len(recipes()) == 10
    for title, text in recipes().items():
        assert any(path.startswith("test/") for path in paths(text)), title


@pytest.mark.parametrize(
    ("title", "example", "elsewhere"),
    [
        ("A condition operator", r"Approx\b|APPROX|'approx'|\"approx\"", set()),
        ("A service", r"set_speed|SetSpeed", {"testing", "trajectory", "editor"}),
        ("A field of a reaction", r"keep_owner|KEEP_OWNER", {"testing", "definitions"}),
        ("A gap policy of streams", r"GapPolicy\.|\"extrapolate\"", {"testing"}),
        ("A part kind", r"PartKind\.RANGEFINDER", {"actions", "topics"}),
    ],
)
def test_no_file_of_the_example_is_left_out(title: str, example: str, elsewhere: set[str]) -> None:
    named = {place(path) for path in paths(recipes()[title])}
    package = ROOT / "robot_rt_control"
    having = {file for file in package.rglob("*.py") if re.search(example, file.read_text(encoding="utf-8"))}
    missing = {file.relative_to(package) for file in having - named if file.parent.name not in elsewhere}
    assert having and missing == set()
