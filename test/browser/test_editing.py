"""Editing blueprints in a real browser: branches, mistakes at their fields, folding, comparing, and a reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from memory_robot import MemoryRobot
from pages import node, open_text, overlaps, serious, settled, text_of

RACE = """name: race
start: both
nodes:
  both:
    first_of:
      press: {skill: move_until_contact}   # it feels
      clock: {wait: 5}
    then: [{on: press, go: told}, {on: any, end: done}]
  told: {log: $both.press.watch.push, then: [{when: below.distance > 1, go: both}, {end: done}]}
reactions: [{when: below.distance < 0.2, go: both}]
"""
LONGER = """# Four.
name: longer
nodes:
  one: {wait: 0.2, then: two}
  two: {wait: 0.2, then: three}   # in the middle
  three: {wait: 60, then: four}
  four: {say: the end}
"""


def select(page: Any, id: str) -> None:
    node(page, id).locator(".node-head").click()
    page.wait_for_selector(".node.selected")


def field(page: Any, label: str, within: Any = None) -> Any:
    """The field of a form, with its mistake."""
    return (within or page).locator(".inspector .field" if within is None else ".field").filter(
        has=page.get_by_label(label, exact=True)
    )


def test_branches_have_forms_like_other_calls(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, RACE)
    select(page, "both")
    press = page.get_by_role("group", name="Branch press")
    press.get_by_label("force [N]", exact=True).fill("500")
    bad = press.get_by_role("alert").filter(has_text="out of range")
    bad.wait_for()
    assert page.get_by_role("alert").filter(has_text="out of range").count() == 1, "only at its field"
    picture(page, "branches")
    press.get_by_label("force [N]", exact=True).fill("7.5")
    bad.wait_for(state="detached")
    assert "press: {skill: move_until_contact, with: {force: 7.5}}   # it feels" in text_of(page)
    # Another one is added, becomes a skill, and gets a name.
    page.get_by_role("button", name="Add a branch").click()
    third = page.get_by_role("group", name="Branch branch_3")
    third.get_by_label("What it does").select_option("move_gripper")
    third.get_by_label("gripper: gripper").select_option("gripper")
    third.get_by_role("alert").filter(has_text="'opening' is missing").wait_for()
    third.get_by_label(re.compile("^opening")).fill("1.0")
    third.get_by_label("Name of the branch").fill("open")
    page.keyboard.press("Enter")
    opened = page.get_by_role("group", name="Branch open", exact=True)
    opened.wait_for()
    settled(page)
    assert "open: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 1.0}}" in text_of(page)
    assert serious(page) == []
    # Renamed, its result and outputs follow.
    press.get_by_label("Name of the branch").fill("feel")
    page.keyboard.press("Enter")
    page.get_by_role("group", name="Branch feel").wait_for()
    text = text_of(page)
    assert "{on: feel, go: told}" in text and "log: $both.feel.watch.push" in text
    page.get_by_role("button", name="Remove branch open").click()
    opened.wait_for(state="detached")
    for _ in range(20):
        page.keyboard.press("Control+z")
    assert text_of(page) == RACE


def test_mistakes_of_conditions_are_at_their_fields_and_go(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, RACE.replace("$both.press.watch.push", "felt"))
    select(page, "told")
    condition = field(page, "Condition 1")
    condition.get_by_role("combobox").fill("below.dist > 1")
    condition.get_by_role("alert").get_by_text("no such state variable").wait_for()
    assert condition.get_by_role("combobox").get_attribute("aria-invalid") == "true"
    assert page.locator(".inspector [role=alert]").count() == 1
    picture(page, "mistake_of_a_condition")
    # Something else is wrong as well: this one stays in sight, and goes alone.
    page.get_by_text("Again, and time-out").click()
    page.get_by_label("Time-out [s]").fill("-1")
    field(page, "Time-out [s]").get_by_role("alert").wait_for()
    assert condition.get_by_role("alert").count() == 1
    condition.get_by_role("combobox").fill("below.distance > 1 m")
    condition.get_by_role("alert").wait_for(state="detached")
    page.get_by_label("Time-out [s]").fill("")
    field(page, "Time-out [s]").get_by_role("alert").wait_for(state="detached")
    # Of a branch.
    select(page, "both")
    clock = page.get_by_role("group", name="Branch clock")
    clock.get_by_label("What it does").select_option("wait_until")
    clock.get_by_label("Condition").fill("below.distance >")
    clock.get_by_role("alert").filter(has_text="end of the condition").wait_for()
    clock.get_by_label("Condition").fill("below.distance > 1")
    clock.get_by_role("alert").wait_for(state="detached")
    # Of a reaction, under the blueprint's own properties.
    page.keyboard.press("Escape")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    reaction = field(page, "Reaction 1")
    reaction.get_by_role("combobox").fill("nothing < 1")
    reaction.get_by_role("alert").get_by_text("no such state variable").wait_for()
    reaction.get_by_role("combobox").fill("below.distance < 0.1")
    reaction.get_by_role("alert").wait_for(state="detached")
    settled(page)
    assert page.get_by_text("No mistakes.").count() == 1


def test_E13_who_operates_keeps_that_over_a_reload(come: Callable[..., Any], robot: MemoryRobot) -> None:
    ann = come("Ann")
    ann.get_by_role("button", name="Operate", exact=True).click()
    ann.get_by_text("You operate", exact=True).wait_for()
    ben = come("Ben")
    ben.get_by_text("Ann operates", exact=True).wait_for()
    ann.reload()
    ann.get_by_text("You operate", exact=True).wait_for()
    ben.reload()
    ben.get_by_text("Ann operates", exact=True).wait_for()
    assert not ben.get_by_text("You operate", exact=True).count()
    # The link again in the same browser: the same person.
    again = come("Ann", context=ann.context)
    again.get_by_text("You operate", exact=True).wait_for()
    again.close()
    ann.close()
    ben.get_by_text("Ann operates, but has no page open").wait_for()
    ben.get_by_role("button", name="Take over").click()
    ben.get_by_role("dialog").get_by_text("Ann operates the robot").wait_for()
    ben.get_by_role("dialog").get_by_role("button", name="Take over").click()
    ben.get_by_text("You operate", exact=True).wait_for()


def test_E14_nodes_are_folded_and_unfolded_by_mouse(come: Callable[..., Any], picture: Any, robot: MemoryRobot) -> None:
    page = come()
    open_text(page, LONGER)
    node(page, "two").click()
    node(page, "three").click(modifiers=["Control"])
    page.get_by_role("button", name="Fold into one box").click()
    box = node(page, "&group")
    box.wait_for()
    settled(page)
    assert text_of(page) == f"{LONGER}view:\n  group: {{nodes: [two, three]}}\n"
    assert not node(page, "two").count() and overlaps(page) == []
    ways = page.locator(".react-flow__edge").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert ways == ["From one on success to &group", "From &group on out to four"]
    page.get_by_label("Name of the box").fill("middle")
    page.keyboard.press("Enter")
    node(page, "&middle").wait_for()
    settled(page)
    picture(page, "folded")
    assert serious(page) == []
    # It is moved like a node, in one line; arranging keeps it folded.
    place = node(page, "&middle").bounding_box()
    page.mouse.move(place["x"] + 60, place["y"] + 16)
    page.mouse.down()
    page.mouse.move(place["x"] + 260, place["y"] + 56, steps=5)
    page.mouse.up()
    settled(page)
    assert re.search(r"middle: \{nodes: \[two, three\], at: \[-?\d+, -?\d+\]\}\n$", text_of(page))
    page.get_by_role("button", name="Arrange").click()
    settled(page)
    assert text_of(page) == f"{LONGER}view:\n  middle: {{nodes: [two, three]}}\n" and overlaps(page) == []
    # What runs inside is seen at the box. It is kept, read and checked with the rest.
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved longer as version 1").wait_for()
    page.get_by_role("tab", name=re.compile("^Run")).last.click()
    page.get_by_role("button", name="Start longer").click()
    page.wait_for_selector(".node.folded.is-runs")
    picture(page, "folded_runs")
    page.get_by_role("button", name="Cancel").first.click()
    page.wait_for_selector(".node.folded.is-runs", state="detached")
    # A double click unfolds; an unfolded box is remembered.
    node(page, "&middle").locator(".node-id").dblclick()
    node(page, "three").wait_for()
    settled(page)
    assert "middle: {nodes: [two, three], open: true}" in text_of(page) and overlaps(page) == []
    page.get_by_role("tab", name="Properties").click()
    page.get_by_role("button", name="Fold into middle again").click()
    node(page, "&middle").wait_for()
    node(page, "&middle").click(button="right")
    page.get_by_role("menuitem", name="Unfold").click()
    node(page, "two").wait_for()


def test_E14_folding_by_keyboard_alone(come: Callable[..., Any]) -> None:
    page = come()
    open_text(page, LONGER)
    page.keyboard.press("Control+a")
    page.keyboard.press("f")
    node(page, "&group").wait_for()
    settled(page)
    assert "group: {nodes: [one, two, three, four]}" in text_of(page)
    node(page, "&group").focus()
    page.keyboard.press("m")
    page.get_by_role("menuitem", name="Unfold").wait_for()
    page.keyboard.press("Enter")
    node(page, "four").wait_for()
    page.keyboard.press("f")
    node(page, "&group").wait_for()
    page.keyboard.press("f")
    node(page, "four").wait_for()
    # Deleting the box deletes its nodes; undo brings them and the box back.
    page.keyboard.press("f")
    node(page, "&group").wait_for()
    page.keyboard.press("Delete")
    node(page, "&group").wait_for(state="detached")
    assert text_of(page) == "# Four.\nname: longer\nnodes: {}\n"
    page.keyboard.press("Control+z")
    node(page, "&group").wait_for()
    for _ in range(10):
        page.keyboard.press("Control+z")
    assert text_of(page) == LONGER


def test_versions_are_compared_as_pictures_in_words(
    come: Callable[..., Any], picture: Any, robot: MemoryRobot
) -> None:
    for text in (
        RACE.replace("$both.press.watch.push", "felt"),
        "name: race\nstart: both\nnodes:\n  both: {first_of: {press: {skill: move_until_contact}, clock: {wait: 9}}, "
        "then: [{on: press, go: said}, {on: any, end: done}]}\n"
        "  said: {say: felt, then: [{when: below.distance > 1, go: both}, {go: rest}]}\n  rest: {wait: 1}\n",
    ):
        robot.store.save(text)
    page = come()
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name=re.compile("^Compare")).first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".miniature svg .added").last.wait_for()
    pictures = {
        name: dialog.get_by_role("img", name=f"Picture of version {name}.").get_attribute("aria-label")
        for name in ("1", "2")
    }
    assert pictures == {
        "1": "Picture of version 1. both: changed, told: removed",
        "2": "Picture of version 2. both: changed, said: added, rest: added",
    }
    shown = dialog.locator(".miniature svg").last.locator("text").all_text_contents()
    assert {"both", "first of", "~ changed", "said", "+ added", "rest", "wait", "+ link"} <= {*shown}
    words = dialog.get_by_role("list", name="What differs").inner_text()
    assert "first_of.clock.wait: 5 → 9" in words and "link added: press → said" in words and "− told" in words
    assert "dashed line" in dialog.get_by_role("list", name="Legend").inner_text()
    picture(page, "compared")
    assert serious(page) == []


def test_links_of_moved_nodes_lead_beside_other_boxes(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, f"{LONGER.replace('then: two', 'then: [{go: two}, {on: failure, go: four}]')}"
              "view:\n  one: [0, 0]\n  two: [20, 160]\n  three: [-40, 320]\n  four: [0, 480]\n")  # fmt: skip
    crossed = page.evaluate(
        """() => {
            const path = document.querySelector(".react-flow__edge[data-id='one:1:four'] .react-flow__edge-path");
            const matrix = path.getScreenCTM();
            const boxes = ['two', 'three'].map(id =>
                document.querySelector(`.react-flow__node[data-id='${id}']`).getBoundingClientRect());
            return Array.from({length: 200}, (_, n) => path.getPointAtLength(path.getTotalLength() * n / 199))
                .map(point => point.matrixTransform(matrix))
                .filter(({x, y}) => boxes.some(b => x > b.left && x < b.right && y > b.top && y < b.bottom)).length;
        }"""
    )
    picture(page, "beside")
    assert crossed == 0
