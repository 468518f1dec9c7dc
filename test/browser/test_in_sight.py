"""What people see of a blueprint and of its runs: names, bounds, the node that runs or is looked for, what happened."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from memory_robot import MemoryRobot
from pages import large, node, open_text, serious, settled, text_of

NAMED = """name: pick
title: Würfel holen
nodes:
  pick: {title: 拾取, skill: move_until_contact, retry: 2, timeout: 60, then: [{on: failure, go: help}, {go: look}]}
  look: {title: Prüfen, wait: 0.1, then: [{when: below.distance > 1, go: help}, {go: bye}]}
  help:
    title: Try again?
    ask: {text: Which one?, answers: [try_again, leave], titles: {try_again: try again, leave: Lass es}}
    then: [{on: try_again, go: look}, {on: leave, go: bye}]
  bye: {say: Goodbye}
"""


def box_in_view(page: Any, id: str) -> tuple[bool, float]:
    """Whether the whole node is inside the picture, and how high its name's letters are [pixels]."""
    found: tuple[bool, float] = tuple(page.evaluate(
        """(id) => {
            const node = document.querySelector(`.react-flow__node[data-id='${id}']`);
            if (!node) return [false, 0];
            const a = node.getBoundingClientRect();
            const b = document.querySelector('.canvas').getBoundingClientRect();
            const name = node.querySelector('.node-id').getBoundingClientRect();
            return [a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom, name.height];
        }""",
        id,
    ))  # fmt: skip
    return found


def wait_in_view(page: Any, id: str) -> None:
    page.wait_for_function(
        """(id) => {
            const a = document.querySelector(`.react-flow__node[data-id='${id}']`)?.getBoundingClientRect();
            const b = document.querySelector('.canvas').getBoundingClientRect();
            return a && a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
        }""",
        arg=id,
    )


def test_N56_names_for_people_wherever_they_look(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come()
    open_text(page, NAMED)
    assert node(page, "pick").locator(".node-id").inner_text() == "拾取"
    assert node(page, "pick").locator(".node-bounds").inner_text() == "up to 3 attempts, at most 60 s"
    assert "try again" in node(page, "help").locator(".ports").inner_text()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved pick as version 1").wait_for()
    page.locator(".shelves .skill-name", has_text="Würfel holen").wait_for()
    # The form: names are typed, identifiers are made, links follow.
    node(page, "look").click()
    page.locator(".name-field").fill("もう一度")
    page.keyboard.press("Enter")
    node(page, "node_1").wait_for()
    assert "node_1: {title: もう一度, wait: 0.1," in text_of(page) and "{go: node_1}" in text_of(page)
    assert page.get_by_label("Goes to 1").locator("option").nth(1).inner_text() == "もう一度"
    node(page, "help").click()
    page.get_by_label("Answers").fill("noch mal, Lass es")
    settled(page)
    assert "answers: [noch_mal, leave], titles: {noch_mal: noch mal, leave: Lass es}" in text_of(page)
    assert "{on: noch_mal, go: node_1}" in text_of(page)
    page.get_by_text("No mistakes.").wait_for()
    while page.get_by_role("button", name="Undo", exact=True).is_enabled():
        page.get_by_role("button", name="Undo", exact=True).click()
    assert text_of(page) == NAMED
    # A run: the question, the log, what it became.
    robot.results["move_until_contact"] = "not_found"
    page.get_by_role("tab", name=re.compile("^Run")).last.click()
    page.get_by_role("button", name="Start Würfel holen").click()
    page.locator(".question").get_by_role("button", name="try again").click()
    page.locator(".log", has_text="Try again?: try again").wait_for()
    page.locator(".question").get_by_role("button", name="Lass es").click()
    page.get_by_test_id("run-state").get_by_text("Ended: done").wait_for()
    log = page.locator(".log").inner_text()
    for line in ("拾取 begins, attempt 3", "bye says: “Goodbye”", "Prüfen → Try again? (below.distance = 2)",
                 "Try again? asks: Which one?", "Try again?: Lass es"):  # fmt: skip
        assert line in log
    picture(page, "names")
    page.get_by_role("tab", name="Runs").click()
    entry = page.locator(".files .skill-item", has_text="Würfel holen")
    entry.wait_for()
    assert re.search(r"20\d\d.*, \d+\.\d s", entry.inner_text())
    entry.click()
    page.get_by_text("Replay of run-1").wait_for()
    assert "拾取 begins, attempt 2" in page.get_by_label("Log of the run").inner_text()
    assert serious(page) == []
    picture(page, "past_run")


def test_three_hundred_nodes_begin_readable_and_are_found(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, large(300))
    is_seen, height = box_in_view(page, "n0")
    assert is_seen and height > 8
    picture(page, "three_hundred_readable")
    find = page.get_by_label("Find a node")
    find.fill("n222")
    wait_in_view(page, "n222")
    assert node(page, "n222").locator(".node.selected").count() == 1 and box_in_view(page, "n222")[1] > 8
    find.fill("29")
    find.press("Enter")
    wait_in_view(page, "n29")
    find.fill("nowhere")
    find.press("Enter")
    page.get_by_text("No node has nowhere in its name.").wait_for()
    page.get_by_role("button", name="Fit", exact=True).click()  # all of it, however small
    wait_in_view(page, "n0")
    wait_in_view(page, "n299")


def test_the_picture_follows_the_running_node(come: Callable[..., Any], robot: MemoryRobot) -> None:
    lines = "".join(f"  n{n}: {{wait: {0.05 if n < 39 else 60}, then: n{n + 1}}}\n" for n in range(40))
    text = f"name: chain\nnodes:\n{lines}  n40: {{say: bye}}\n"
    page = come()
    open_text(page, text)
    assert not box_in_view(page, "n39")[0]
    robot.run({"skill": text, "source": "test"})
    page.wait_for_selector(".react-flow__node[data-id=n39] .is-runs")
    wait_in_view(page, "n39")
    # Who moves the picture keeps it so, until Follow is pressed.
    follow = page.get_by_role("button", name="Follow", exact=True)
    assert follow.get_attribute("aria-pressed") == "true"
    box = page.locator(".canvas").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 330, steps=5)
    page.mouse.up()
    page.wait_for_selector("button:text-is('Follow')[aria-pressed=false]")
    page.get_by_label("Find a node").fill("n0")
    wait_in_view(page, "n0")
    follow.click()
    wait_in_view(page, "n39")
