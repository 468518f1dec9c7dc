"""Links of all pages lead to files and headings. The front page is short, the index whole."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.site_hook import anchor

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md"), *(ROOT / "interfaces").glob("*.md")])
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FRONT_LINES = 120


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading), "-")
        name, n = words, 0
        while name in found:
            n += 1
            name = f"{words}-{n}"
        found.add(name)
    return found


def links(page: Path) -> list[str]:
    return _LINK.findall(_CODE.sub("", page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in links(page):
        if re.match(r"\w+:", link):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link}: there is no such file"
        if heading:
            assert heading in anchors(target), f"{link}: there is no such heading"


def test_each_picture_is_small_shown_and_made_by_the_script() -> None:
    """`./run shell python bench/pictures.py` makes them again."""
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page) if link.endswith(".png")}
    made = re.findall(r'kept\(.*, "(\w+)"\)', (ROOT / "bench" / "pictures.py").read_text())
    assert shown == set((DOCS / "pictures").iterdir()) == {DOCS / "pictures" / f"{name}.png" for name in made}
    assert max(picture.stat().st_size for picture in shown) < 120_000


def test_there_are_links_of_each_kind() -> None:
    found = [link for page in PAGES for link in links(page)]
    assert sum("#" in link for link in found) > 10 and len(found) > 200


def test_each_index_has_each_page() -> None:
    for index in DOCS.glob("**/README.md"):
        folder = index.parent
        listed = [link for link in links(index) if not link.startswith("../")]
        pages = [*folder.glob("*.md"), *folder.glob("*/README.md")]
        assert sorted(set(listed)) == sorted(str(page.relative_to(folder)) for page in pages if page != index), index


def test_the_site_has_each_page_once_in_the_order_of_the_index() -> None:
    """Building it, ./run docs, needs mkdocs, which is not part of the environment of tests."""
    index = (DOCS / "README.md").read_text()
    expected: list[tuple[str, list[str]]] = []
    for table in re.findall(r"^\| [^|]+ \| \|\n\|---\|---\|\n(?:\|.*\n)+", index, re.MULTILINE):
        pages: list[str] = []
        for page in _LINK.findall(table):
            pages.append(page)
            if "/" in page:  # a folder, with its own index
                pages += [f"{Path(page).parent}/{chapter}" for chapter in links(DOCS / page) if "/" not in chapter]
        expected.append((table[2:].partition(" |")[0], pages))
    first, *sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    found = [(name.lower(), flat(items)) for section in sections for name, items in section.items()]
    assert first == "README.md" and found == [(name.lower(), pages) for name, pages in expected]
    named = [first, *(page for _, pages in found for page in pages)]
    assert sorted(named) == sorted(str(page.relative_to(DOCS)) for page in DOCS.glob("**/*.md"))


def flat(items: list[Any]) -> list[str]:
    """The pages of a section of the site, with those of its sections."""
    return [page for item in items for page in ([item] if isinstance(item, str) else flat([*item.values()][0]))]


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= FRONT_LINES
