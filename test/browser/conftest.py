"""An installed Chromium or Chrome, driven by Playwright, against the editor's server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import NOT_RUN, TEST_FLAGS, browser_path, watch_over
from editor_fixtures import editor, robot
from served_editor import Served

__all__ = ["editor", "robot"]

PICTURES = Path(__file__).parents[2] / ".build" / "screenshots"

@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = browser_path()
    if path is None:
        pytest.skip(NOT_RUN)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=TEST_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def come(chromium: Any, editor: Served, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Opens the editor as another person: `come(name="Ann", watching=False)`. At the end, no page may have complained
    or have asked another origin for anything."""
    complaints: list[str] = []
    contexts = []

    def coming(
        name: str = "Ann", *, watching: bool = False, context: Any = None, allow: str = "", page_name: str = ""
    ) -> Any:
        if context is None:
            context = chromium.new_context(viewport={"width": 1280, "height": 800})
            context.grant_permissions(["clipboard-read", "clipboard-write"], origin=editor.origin)
            contexts.append(context)
        page = context.new_page()
        watch_over(page, editor.origin, complaints, allow=allow)
        page.add_init_script(f"localStorage.setItem('robot_rt_control.name', {name!r})")
        link = editor.watching_link if watching else editor.link
        page.goto(link.replace("/#", f"/{page_name}#"))
        page.wait_for_selector(".app")
        page.get_by_text("Connecting to the editor").wait_for(state="detached")  # only then it can lose the editor
        return page

    yield coming
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Writes a screenshot, for people to look at."""

    def write(page: Any, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(PICTURES / f"{name}.png"))

    return write
