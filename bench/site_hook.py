"""What the pages need to look in mkdocs as they do on GitHub, for ./run docs: lists, anchors, links to other files.

A file of the repository to which a page links becomes a text file of the site, so that a browser shows it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#\s]+)(?:#[^)\s]*)?\)")
_ITEM = re.compile(r"(?:-|\d+\.) ")


def anchor(heading: str, separator: str) -> str:
    """As GitHub makes it; test/unit/test_docs_links.py takes it for the links between pages."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def with_lists(markdown: str) -> str:
    """Lists that follow a line of text begin after an empty line; what belongs to a numbered item has 4 spaces."""
    lines: list[str] = []
    in_code = False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
        elif not in_code:
            before = lines[-1] if lines else ""
            if _ITEM.match(line) and before.strip() and not _ITEM.match(before) and not before.startswith(" "):
                lines.append("")
            if line.startswith("   "):
                line = f" {line}"
        lines.append(line)
    return "\n".join(lines)


def outside(page: Path, link: str) -> Path | None:
    """The file or folder of the repository to which a page links, if the site does not have it."""
    target = (page.parent / link).resolve()
    return None if target.is_relative_to(DOCS) else target.relative_to(ROOT)


def on_config(config: Any) -> None:
    config.mdx_configs["toc"]["slugify"] = anchor


def on_files(files: Any, config: Any) -> None:
    from mkdocs.structure.files import File  # in the site's environment alone

    for page in DOCS.rglob("*.md"):
        for _, link in _LINK.findall(page.read_text()):
            target = outside(page, link)
            if target and (ROOT / target).is_file() and not files.get_file_from_path(f"repository/{target}.txt"):
                files.append(File.generated(config, f"repository/{target}.txt", content=(ROOT / target).read_text()))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = DOCS / page.file.src_uri

    def adapted(match: re.Match[str]) -> str:
        target = outside(source, match[2])
        if target is None:
            return match[0]
        if (ROOT / target).is_dir():
            return match[1]
        up = "../" * (len(source.relative_to(DOCS).parts) - 1)
        return f"[{match[1]}]({up}repository/{target}.txt)"

    return with_lists(_LINK.sub(adapted, markdown))
