"""Does what docs/blueprints.md says about the browser: the page's own words are the test's steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pages import settled

PAGE = Path(__file__).parents[2] / "docs" / "blueprints.md"
_TITLE = "### The same in the browser\n"
_TOKEN = re.compile(r"\*\*(?P<name>[^*]+)\*\*(?:[^*`.]*?`(?P<text>[^`]+)`)?|\*(?P<seen>[^*]+)\*|\b(?P<enter>Enter)\b")


def steps() -> list[str]:
    """The numbered steps of the section, each in one line."""
    section = PAGE.read_text().partition(_TITLE)[2].partition("\nMore:")[0]
    return [" ".join(step.split()) for step in re.split(r"^\d+\. ", section, flags=re.MULTILINE)[1:]]


def tokens(step: str) -> list[tuple[str, str]]:
    """What a step says, in order: ("press", name), ("fill NAME", text), ("see", text), ("key", "Enter").

    A text belongs to the bold name before it, with nothing bold or italic between them, in the same sentence.
    """
    found = []
    for match in _TOKEN.finditer(step):
        if match["name"] and match["text"]:
            found.append((f"fill {match['name']}", match["text"]))
        elif match["name"]:
            found.append(("press", match["name"]))
        elif match["seen"]:
            found.append(("see", match["seen"]))
        else:
            found.append(("key", "Enter"))
    return found


def follow(page: Any, step: str) -> None:
    """Do one step, and wait for what it says that one sees."""
    for what, text in tokens(step):
        if what == "press":
            _pressed(page, text).click()
            settled(page)
        elif what == "see":
            page.get_by_text(text).locator("visible=true").first.wait_for()  # a list's entries have the words as well
        elif what == "key":
            page.keyboard.press(text)
            settled(page)
        else:
            _fill(page, what.removeprefix("fill "), text)


def _pressed(page: Any, name: str) -> Any:
    """A button, tab, tick box, title of something folded, or what is listed, by its text."""
    text = re.compile(rf"^(▶ )?{re.escape(name)}( ●)?$")
    found = page.get_by_role("button", name=text).or_(page.get_by_role("tab", name=text))
    found = found.or_(page.get_by_role("checkbox", name=name, exact=True))
    found = found.or_(page.locator(f"summary:has-text('{name}')"))
    return found.or_(page.locator(f".skill-item:has(.skill-name:text-is('{name}'))")).first


def _fill(page: Any, name: str, text: str) -> None:
    field = page.get_by_label(name, exact=True).or_(page.get_by_placeholder(name, exact=True)).last
    field.wait_for()
    if field.evaluate("it => it.tagName") == "SELECT":
        field.select_option(label=text)
    else:
        field.fill(text)
    settled(page)
