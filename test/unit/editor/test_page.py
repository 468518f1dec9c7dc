"""The page that is kept in the package belongs to its sources."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from robot_rt_control.editor.installed import PAGE

WEB = Path(__file__).parents[3] / "web"


def test_E11_bundle_and_sources_belong_together() -> None:
    files = [path for path in (WEB / "src").rglob("*") if path.is_file()]
    files += [WEB / name for name in ("package.json", "package-lock.json", "build.mjs", "tsconfig.json")]
    digest = hashlib.sha256()
    for path in sorted(files, key=str):
        digest.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    kept = (PAGE / "sources.sha256").read_text().strip()
    assert kept == digest.hexdigest(), "web/ has changed: build the page by ./run web"


def test_no_line_of_the_page_is_longer_than_120_characters() -> None:
    files = [*(WEB / "src").rglob("*"), *(WEB / "test").iterdir(), *WEB.glob("*.mjs")]
    texts = [path for path in files if path.suffix in (".ts", ".tsx", ".css", ".html", ".mjs")]
    lines = [(path.name, line) for path in texts for line in path.read_text().splitlines()]
    assert len(texts) > 50 and not [where for where in lines if len(where[1]) > 120]


def test_E11_the_bundle_is_small_and_loads_nothing_from_elsewhere() -> None:
    script, styles = (PAGE / "editor.js").read_text(), (PAGE / "editor.css").read_text()
    assert len(script.encode()) + len(styles.encode()) <= 1_300_000
    assert "sourceMappingURL" not in script + styles and not list(PAGE.glob("*.map"))
    assert "@import" not in styles and not re.search(r"url\((?!['\"]?data:)", styles)
    assert "eval(" not in script and "new Function" not in script


def with_its_parts(name: str) -> str:
    """A script of the page, and those that it loads at once."""
    names = [name]
    for each in names:
        found = re.findall(r'(?:from|import)"\./(part-\w+\.js)"', (PAGE / each).read_text())
        names += [part for part in found if part not in names]
    return "".join((PAGE / each).read_text() for each in names)


def test_E11_what_looks_back_is_loaded_apart() -> None:
    view = with_its_parts("view_page.js")
    later = re.findall(r'import\("\./(part-\w+\.js)"\)', view)
    assert later and "past-banner" not in view
    assert any("past-banner" in (PAGE / name).read_text() for name in later)
    html = (PAGE / "view.html").read_text()
    assert "<!-- parts -->" not in html and all((PAGE / name).exists() for name in re.findall(r"part-\w+\.js", html))
    assert sorted(path.name for path in PAGE.glob("part-*")) == sorted(set(re.findall(
        r"part-\w+\.js", "".join(path.read_text() for path in PAGE.glob("*.js")))))


def test_E11_what_draws_the_robots_is_loaded_apart() -> None:
    first, view, three = ((PAGE / name).read_text() for name in ("editor.js", "view.js", "three.js"))
    assert len(view.encode()) + len(three.encode()) <= 700_000 and "sourceMappingURL" not in view + three
    assert 'import("./view.js")' in first and "WebGLRenderer" not in first
    pages = [with_its_parts(name) for name in ("view_page.js", "past_page.js")]
    for alone in pages:
        assert len(alone.encode()) <= 280_000 and "WebGLRenderer" not in alone and 'import("./view.js")' in alone
        assert "codemirror" not in alone.lower() and "react-flow" not in alone and "sourceMappingURL" not in alone
    timeline = (PAGE / "timeline.js").read_text()
    assert len(timeline.encode()) <= 50_000 and "sourceMappingURL" not in timeline and "eval(" not in timeline
    assert all('import("./timeline.js")' in page and "timeline-canvas" not in page for page in (first, *pages))
    assert re.search(r'from"\./three\.js"', view) and "eval(" not in view + three and "new Function" not in three


def test_E11_all_licences_are_listed_and_the_lock_file_names_no_server() -> None:
    text = (PAGE / "licences.txt").read_text()
    found = re.findall(r"^(@?[\w./-]+) ([\d.]+): (\S+)$", text, re.MULTILINE)
    assert {licence for *_, licence in found} <= {"MIT", "ISC", "BSD-3-Clause", "BSD-2-Clause", "Apache-2.0", "0BSD"}
    lock = json.loads((WEB / "package-lock.json").read_text())
    installed = {
        path.removeprefix("node_modules/"): package["version"]
        for path, package in lock["packages"].items()
        if path and not package.get("dev")
    }
    types = {name for name in installed if name.startswith("@types/")} | {"csstype"}  # nothing of them is in the bundle
    assert {name: version for name, version, _ in found} == {n: v for n, v in installed.items() if n not in types}
    assert all(len(part) > 500 for part in text.split("-" * 80)), "the whole licence"
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
    assert "://registry" not in (WEB / "package-lock.json").read_text()
