"""The page in other languages: chosen by the browser, or by a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import watch_over
from memory_robot import MemoryRobot
from pages import bring, new, serious, settled
from served_editor import served_by
from written_recording import write_recording

from robot_rt_control.editor.past.recorded import opened
from robot_rt_control.editor.past.server import PastServer
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.workcell import load_workcell

TEXTS = Path(__file__).parents[2] / "web" / "src" / "language"
CHOOSER = "Language, Sprache, 语言, 言語"
PHONE = {"width": 390, "height": 844}
WHOLE = """() => document.documentElement.scrollWidth <= innerWidth
    && [...document.querySelectorAll('button, select, input, label, p, h1, h2, h3')]
        .every(it => it.closest('.unseen') || it.getBoundingClientRect().right <= innerWidth + 1)"""
"""Nothing is cut off at the right edge, on a page that scrolls down alone."""


def texts_of(language: str) -> dict[str, str]:
    return dict(json.loads((TEXTS / f"{language}.json").read_text()))


def language_of(page: Any) -> str:
    return str(page.evaluate("() => document.documentElement.lang"))


@pytest.fixture
def abroad(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A browser that prefers a language: `abroad("de-DE", viewport=...)`."""
    made: list[Any] = []

    def preferring(locale: str, *, viewport: dict[str, int] | None = None) -> Any:
        made.append(chromium.new_context(locale=locale, viewport=viewport or {"width": 1280, "height": 800}))
        return made[-1]

    yield preferring
    for context in made:
        context.close()


def test_E29_the_browser_chooses_the_language(
    come: Callable[..., Any], abroad: Callable[..., Any], picture: Any
) -> None:
    german, context = texts_of("de"), abroad("de-AT")
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    page = come(context=context)
    page.get_by_role("heading", name=german["Draw what the robot shall do"]).wait_for()
    assert language_of(page) == "de" and page.title() == german["Blueprint editor"]
    assert page.get_by_role("button", name="STOP", exact=True).is_visible()
    assert [name for name in asked if name.startswith("language_")] == ["language_de.json"]
    page.get_by_role("button", name=german["New blueprint"]).last.click()
    page.get_by_role("dialog").get_by_label(german["Name"], exact=True).fill("winken")
    page.get_by_role("button", name=german["Make it"]).click()
    page.get_by_role("tab", name=german["Properties"]).wait_for()
    settled(page)
    assert not serious(page)
    picture(page, "language_de")


def test_E29_english_loads_no_texts_and_is_taken_for_other_languages(
    come: Callable[..., Any], abroad: Callable[..., Any]
) -> None:
    context = abroad("fi-FI")
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = come(context=context)
    page.get_by_role("heading", name="Draw what the robot shall do").wait_for()
    assert language_of(page) == "en" and not [url for url in asked if "language_" in url]


def test_E29_a_chosen_language_stays(come: Callable[..., Any], picture: Any) -> None:
    page, japanese = come(), texts_of("ja")
    new(page, "wave")
    page.get_by_label(CHOOSER).select_option("日本語")
    page.get_by_role("tab", name=japanese["Properties"]).wait_for()
    assert language_of(page) == "ja"
    kept = "() => Object.entries(localStorage).some(([key, text]) => /drafts/.test(key) && /name: wave/.test(text))"
    assert page.evaluate(kept), "each edit is kept at once"
    page.reload()
    page.get_by_role("tab", name=japanese["Properties"]).wait_for()
    page.locator(".doc-tab.active").get_by_text("wave").wait_for()  # after the page is drawn
    settled(page)
    picture(page, "language_ja")
    page.get_by_label(CHOOSER).select_option("English")
    page.get_by_role("tab", name="Properties").wait_for()
    assert language_of(page) == "en"


def test_E29_without_its_texts_the_page_is_english_and_says_so(
    come: Callable[..., Any], abroad: Callable[..., Any]
) -> None:
    context = abroad("zh-CN")
    context.route("**/language_zh.json", lambda route: route.abort())
    page = come(context=context, allow="language_zh|Failed to load")
    page.get_by_text("中文: the texts cannot be loaded").wait_for()
    page.get_by_role("heading", name="Draw what the robot shall do").wait_for()
    assert language_of(page) == "en"


@pytest.mark.parametrize(("locale", "language"), [("de-DE", "de"), ("zh-CN", "zh"), ("ja-JP", "ja")])
def test_E29_the_view_speaks_it_too_also_on_a_phone(
    come: Callable[..., Any], abroad: Callable[..., Any], robot: MemoryRobot, picture: Any, locale: str, language: str
) -> None:
    bring(robot, "iiwa")
    texts = texts_of(language)
    page = come(context=abroad(locale, viewport=PHONE), page_name="view.html")
    page.get_by_role("button", name=texts["Timeline"]).click()
    page.get_by_label(texts["Plot a variable"]).wait_for()  # a script of its own
    assert page.title() == texts["Workcell"] and language_of(page) == language
    assert page.evaluate(WHOLE) and page.get_by_role("button", name="STOP", exact=True).is_visible()
    picture(page, f"language_{language}_view")


@pytest.mark.parametrize(("locale", "language"), [("de-DE", "de"), ("zh-CN", "zh"), ("ja-JP", "ja")])
def test_E29_the_editor_fits_a_phone(
    come: Callable[..., Any], abroad: Callable[..., Any], picture: Any, locale: str, language: str
) -> None:
    page = come(context=abroad(locale, viewport=PHONE))
    page.get_by_role("heading", name=texts_of(language)["Draw what the robot shall do"]).wait_for()
    assert page.evaluate(WHOLE)
    picture(page, f"language_{language}_phone")


def test_E29_a_recording_speaks_it_too(abroad: Callable[..., Any], tmp_path: Path, picture: Any) -> None:
    workcell = load_workcell(find_workcell("iiwa"))
    names = workcell.joint_state_names()
    parts = {part.name: list(names.get(part.name, ())) for part in workcell.parts}
    path = write_recording(tmp_path / "a.mcap", 200, urdf=workcell.robot_description(), parts=parts)
    chinese = texts_of("zh")
    complaints: list[str] = []
    recordings = opened([path])
    with served_by(lambda port: PastServer(recordings, port=port)) as served:
        page = abroad("zh-CN", viewport=PHONE).new_page()
        watch_over(page, served.origin, complaints)
        page.goto(f"{served.origin}/past.html#token={served.server.keys.watch}")
        page.get_by_label(chinese["Moment"], exact=True).wait_for()
        assert language_of(page) == "zh" and page.evaluate(WHOLE)
        picture(page, "language_zh_past")
        page.get_by_label(CHOOSER).select_option("Deutsch")
        page.get_by_label(texts_of("de")["Moment"], exact=True).wait_for()
        assert language_of(page) == "de" and page.evaluate(WHOLE)
    for each in recordings:
        each.close()
    assert complaints == []
