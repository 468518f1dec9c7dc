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
