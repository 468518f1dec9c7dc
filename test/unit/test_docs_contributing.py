"""docs/contributing.md names files that exist, and each list contains the files in which its example occurs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
PATH = re.compile(r"`([\w./]+/[\w.]+|[\w]+\.(?:toml|txt|json))`")


SOURCES = [*(ROOT / "robot_rt_control").rglob("*.py"), *(ROOT / "web" / "src").rglob("*.ts*")]


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


def test_every_folder_of_tests_is_named_and_there() -> None:
    table = PAGE.partition("## Where tests are")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(.*?)`", " ".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE))))
    assert [folder for folder in named if not (ROOT / folder).is_dir()] == []
    with_tests = {file.relative_to(ROOT) for file in (ROOT / "test").rglob("test_*.py")}
    below = named - {"test/lockstep"}  # that one is about the files in it alone
    others = {file for file in with_tests if not any(file.is_relative_to(folder) for folder in below)}
    assert "test/lockstep" in named and {str(file.parent) for file in others} == {"test/lockstep"}


def test_there_are_fifteen_recipes_each_with_a_test() -> None:
    assert len(recipes()) == 15
    for title, text in recipes().items():
        assert any(path.startswith("test/") for path in paths(text)), title


@pytest.mark.parametrize(
    ("title", "example", "elsewhere"),
    [
        ("A condition operator", r"Approx\b|APPROX|'approx'|\"approx\"", set()),
        ("A service", r"\bset_speed|SetSpeed", {"trajectory", "plan_replay.py"}),
        ("A field of a reaction", r"keep_owner|KEEP_OWNER", {"definitions"}),
        ("A law that comes with the package", r"laws\.admittance|name = \"admittance\"", set()),
        (
            "A kind of blueprint node",
            r"\bwait_until\b|WAIT_UNTIL",
            {"client", "memory", "plan_replay.py", "handle.py", "orders.py", "hardware_clock.py", "image.py"},
        ),
        ("A drive profile", r"cia402", set()),
        ("A cost term of the planner", r"\bw\.gentle|gentle:", set()),
        ("A verb of the command line", r"^    \"resume\",$", set()),
        ("A gap policy of streams", r"GapPolicy\.|\"extrapolate\"", {"testing"}),
        ("A part kind, such as a sensor", r"PartKind\.RANGEFINDER|Literal\[\"rangefinder\"\]", {"actions"}),
    ],
)
def test_no_file_of_the_example_is_left_out(title: str, example: str, elsewhere: set[str]) -> None:
    named = {place(path) for path in paths(recipes()[title])}
    having = {file for file in SOURCES if re.search(example, file.read_text(encoding="utf-8"), re.MULTILINE)}
    missing = {file.relative_to(ROOT) for file in having - named if not {file.name, file.parent.name} & elsewhere}
    assert having and missing == set()
