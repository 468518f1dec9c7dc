"""The link that only watches offers nothing that is refused, and narrow pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from memory_robot import MemoryRobot
from pages import node, open_text, serious, settled, text_of

ASKING = """name: asking
title: Wait and ask
nodes:
  wait: {title: Wait a bit, wait: 0.1, then: question}
  question: {ask: {text: Go on?, answers: [again, enough], titles: {again: once more}}, then: [{on: again, go: wait}]}
"""
PROGRAM = "name: held\nactions:\n  a: {type: hold, parts: arm, reactions: [{when: elapsed > 1, stop: true}]}\n"


def test_E6_a_page_that_watches_offers_nothing_that_is_refused(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    robot.store.save(ASKING)
    page = come("Eve", watching=True)
    settled(page)
    refused: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status in (403, 409) else None)
    page.get_by_text("Watch what the robot does").wait_for()
    assert page.get_by_role("button", name="New blueprint").count() == 0
    page.get_by_role("tab", name="Files").click()
    page.locator(".skill-item", has_text="Wait and ask").click()
    node(page, "wait").wait_for()
    robot.run({"skill": "asking", "source": "test"})
    page.locator(".question").wait_for()
    settled(page)
    picture(page, "watching")
    offered = page.locator("button:visible:enabled").evaluate_all(
        "all => all.map(each => each.getAttribute('aria-label') ?? each.textContent.trim())"
    )
    for name in ("Save", "Keep draft", "Undo", "Redo", "Arrange", "Pause", "Pause now", "Skip", "Say it", "once more",
                 "enough", "New program", "Rename asking", "Delete asking", "Operate"):  # fmt: skip
        assert name not in offered, name
    assert {"STOP", "Cancel", "Picture", "Text", "Fit"} <= {*offered}
    assert page.locator(".mistakes, .bad, .bad-hint").count() == 0
    # Neither do keys and menus.
    before = text_of(page)
    node(page, "wait").click()
    for key in ("Delete", "f", "Control+s", "Control+g", "Control+z", "Control+Enter"):
        page.keyboard.press(key)
    assert page.get_by_role("dialog").count() == 0
    node(page, "wait").click(button="right")
    items = page.get_by_role("menuitem").all_inner_texts()
    assert items == ["Copy as text"]
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Skills").click()
    page.get_by_label("Find a skill; Enter adds the first one found").fill("say")
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name=re.compile("^Add ")).count() == 0
    assert text_of(page) == before and node(page, "say").count() == 0
    page.get_by_role("tab", name="Properties").click()
    assert page.get_by_role("button", name="Make a copy to change").count() == 0
    assert serious(page) == []
    # What it offers works.
    page.get_by_role("tab", name=re.compile("^Run ")).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_test_id("run-state").get_by_text("Ended: cancelled").wait_for()
    page.get_by_role("tab", name="Runs").click()
    page.locator(".files .skill-item", has_text="Wait and ask").click()
    page.get_by_text("Replay of run-1").wait_for()
    assert page.get_by_role("button", name=re.compile("^Start")).count() == 0
    assert refused == []


def no_wider(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_390_pixels_are_enough_to_watch_to_answer_and_to_stop(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    page.set_viewport_size({"width": 390, "height": 844})
    open_text(page, ASKING)
    no_wider(page)
    assert page.locator(".canvas").bounding_box()["height"] > 400
    picture(page, "phone")
    robot.run({"skill": ASKING, "source": "test"})
    page.get_by_role("button", name="once more").click(trial=True)  # it has come by itself
    picture(page, "phone_question")
    no_wider(page)
    page.get_by_role("button", name="Operate", exact=True).click()
    page.get_by_role("button", name="once more").click()
    page.get_by_role("button", name="Picture").first.click()
    page.wait_for_selector(".react-flow__node[data-id=question] .is-asks")
    assert serious(page) == []
    page.get_by_role("button", name="STOP").click()
    page.get_by_role("button", name="STOPPED").wait_for()
    assert robot.stopped


def test_768_pixels_and_touch_are_enough_for_all_of_it(come: Callable[..., Any], chromium: Any, picture: Any) -> None:
    context = chromium.new_context(viewport={"width": 768, "height": 1024}, has_touch=True)
    page = come(context=context)
    page.get_by_role("button", name="New blueprint").last.tap()
    page.get_by_role("dialog").get_by_label("Name").fill("By finger")
    page.get_by_role("button", name="Make it").tap()
    for skill in ("wait", "say"):
        page.get_by_role("button", name="Skills and files").tap()
        page.get_by_role("button", name=f"Add {skill}", exact=True).tap()
        settled(page)
    assert "wait: {wait: 1, then: say}" in text_of(page)
    no_wider(page)
    page.get_by_role("button", name="Form and run").tap()
    node(page, "wait").tap()
    page.get_by_label("Seconds").fill("0.2")
    node(page, "say").tap()
    page.get_by_role("heading", name="say").wait_for()
    page.get_by_role("button", name="More", exact=True).tap()
    page.get_by_role("menuitem", name="Breakpoint before it").tap()
    node(page, "say").locator(".breakpoint").wait_for()
    assert node(page, "wait").locator(".breakpoint").count() == 0
    picture(page, "tablet")
    assert serious(page) == []
    page.get_by_role("button", name="Save", exact=True).tap()
    page.get_by_text("Saved By_finger as version 1").wait_for()
    page.get_by_role("tab", name=re.compile("^Run")).last.tap()
    page.get_by_role("button", name="Start By finger").tap()
    page.get_by_role("button", name="Resume").tap()
    page.get_by_test_id("run-state").get_by_text("Ended: done").wait_for()
    no_wider(page)
    context.close()
