"""docs/safety.md promises by rules and attacks that there are."""

from __future__ import annotations

import re
from pathlib import Path

from bench.attack.run import ATTACKS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_rules_and_attacks_that_it_names_exist() -> None:
    text = (DOCS / "safety.md").read_text()
    chapters = "".join(chapter.read_text() for chapter in (DOCS / "semantics").glob("*.md"))
    rules = set(re.findall(r"^- \*\*([A-Z]\d+) ", chapters, re.MULTILINE))
    named = set(re.findall(r"\b([A-Z]\d{1,2})\b", text))
    assert len(named) > 30 and named <= rules, sorted(named - rules)
    attacks = {name for line in re.findall(r"attacks? (`[^|(]*)", text) for name in re.findall(r"`(\w+)`", line)}
    assert len(attacks) > 5 and attacks <= {attack.name for attack in ATTACKS}, attacks


def test_each_hazard_says_what_shows_it() -> None:
    table = (DOCS / "safety.md").read_text().split("## Hazards")[1].split("## What brakes")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 12
    for row in rows:
        assert re.search(r"\b[A-Z]\d+\b|`\w+`", row[3]), row[0]
