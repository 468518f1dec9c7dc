"""Starts, roles, outputs, limits and `manual` of a skill by forms: each edit is one step, mistakes are at fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memory_robot import MemoryRobot
from pages import node, open_text, serious, settled, text_of

TEXT = """# kept
name: welcome
parameters: {guest: {type: text, default: you}}   # also kept
nodes:
  look: {wait: 1, then: greet}
  greet: {say: 'Hello ${guest}'}   # spoken
  rest: {wait: 1}
"""


def opened(page: Any, title: str) -> None:
    """The section of the skill's form with this title."""
    box = page.locator("details", has=page.locator("summary").filter(has_text=title)).first
    if box.get_attribute("open") is None:
        box.locator("summary").first.click()


def shown(page: Any, *lines: str) -> None:
    """The text is TEXT with these lines, and others as they were."""
    settled(page)
    text = text_of(page)
    for line in lines:
        assert line in text, text
    for line in TEXT.splitlines()[:2]:
        assert line in text, text


def test_starts_are_built_from_forms_and_mistakes_are_at_their_fields(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, TEXT)
    opened(page, "What starts it")
    add = page.get_by_label("Add a start")
    add.select_option("gesture")
    page.get_by_label("Gestures of start 1", exact=True).fill("wave, nod")
    page.get_by_label("While its parts are taken, start 1", exact=True).select_option("replace")
    shown(page, "- {gesture: [wave, nod], busy: replace}")
    add.select_option("when")
    page.get_by_label("Condition of start 2", exact=True).fill("below.distanc < 0.5")
    page.get_by_role("group", name="Start number 2").locator(".bad-hint").wait_for()
    page.get_by_label("Condition of start 2", exact=True).fill("below.distance < 0.5")
    page.get_by_label("Not again for [s], start 2", exact=True).fill("60")
    shown(page, "- {when: below.distance < 0.5, cooldown: 60}")
    add.select_option("topic")
    start = page.get_by_role("group", name="Start number 3")
    page.get_by_label("Topic, start 3", exact=True).fill("/door/face")
    page.get_by_label("Message type, start 3", exact=True).fill("std_msgs/msg/Sting")
    start.get_by_text("is not installed").wait_for()
    picture(page, "start_by_a_message_with_a_mistake")
    assert page.get_by_label("Message type, start 3", exact=True).get_attribute("aria-invalid") == "true"
    page.get_by_label("Message type, start 3", exact=True).fill("std_msgs/msg/String")
    start.get_by_role("button", name="Add a field of text").click()
    page.get_by_label("Is one of 1, start 3", exact=True).fill("anna, ben")
    page.get_by_label("Fill a parameter, start 3", exact=True).select_option("guest")
    page.get_by_label("For [s], start 3", exact=True).fill("0.5")
    start.locator(".bad-hint").first.wait_for(state="detached")
    topic = "name: /door/face, type: std_msgs/msg/String, texts: {data: [anna, ben]}"
    shown(page, f"- {{topic: {{{topic}, parameters: {{guest: data}}, hold: 0.5}}}}")
    page.get_by_label("Field of text 1, start 3", exact=True).fill("dat")
    page.get_by_label("Field of text 1, start 3", exact=True).press("Enter")
    start.get_by_text("did you mean 'data'").wait_for()
    page.get_by_label("Field of text 1, start 3", exact=True).fill("data")
    page.get_by_label("Field of text 1, start 3", exact=True).press("Enter")
    page.get_by_label("guest gets the field, start 3", exact=True).fill("datum")
    page.get_by_label("guest gets the field, start 3", exact=True).press("Enter")
    start.get_by_text("field 'datum'").wait_for()
    page.get_by_role("button", name="Do not fill guest, start 3").click()
    start.locator(".bad-hint").first.wait_for(state="detached")
    picture(page, "starts_by_forms")
    assert serious(page) == []
    page.get_by_role("button", name="Remove start 2").click()
    page.get_by_role("button", name="Remove start 1").click()
    page.get_by_role("button", name="Remove start 1").click()
    settled(page)
    assert text_of(page) == TEXT, "as it was, to the byte"
    for _ in range(3):
        page.keyboard.press("Control+z")
    settled(page)
    assert text_of(page).count("  - {") == 3, "each removal was one step"


def test_roles_outputs_limits_and_manual_have_forms(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come()
    open_text(page, TEXT)
    opened(page, "Roles")
    page.get_by_label("New role").fill("hand")
    page.get_by_label("New role").press("Enter")
    page.get_by_label("Kind", exact=True).select_option("arm")
    page.get_by_label("Part, if none is given").select_option("arm")
    shown(page, "hand: {kinds: [arm], default: arm}")
    opened(page, "Outputs")
    page.get_by_label("New output").fill("seen")
    page.get_by_label("New output").press("Enter")
    page.get_by_label("Where seen comes from").fill("$greet.nothing")
    page.get_by_text("unknown $greet.nothing").first.wait_for()
    page.get_by_label("Where seen comes from").fill("below.distance")
    page.get_by_label("Unit of seen").fill("m")
    shown(page, "seen: {value: below.distance, unit: m}")
    page.get_by_label("Choices of guest").fill("you, anna")
    shown(page)
    assert "choices: [you, anna]}" in text_of(page)
    page.get_by_label("New parameter").fill("speed")
    page.get_by_label("New parameter").press("Enter")
    page.get_by_label("At most, speed").fill("0.5")
    page.get_by_label("At least, speed").fill("0.7")
    page.locator(".candidate", has_text="speed").locator(".bad-hint").first.wait_for()
    page.get_by_label("At least, speed").fill("0.1")
    page.locator(".candidate", has_text="speed").locator(".bad-hint").first.wait_for(state="detached")
    node(page, "rest").click()
    page.get_by_text("cannot be reached").first.wait_for()
    page.get_by_text("Again, and time-out").click()
    page.get_by_label("Reached by a jump only").check()
    page.get_by_text("cannot be reached").first.wait_for(state="detached")
    shown(page, "rest: {wait: 1, manual: true}")
    page.get_by_label("Reached by a jump only").uncheck()
    shown(page, "rest: {wait: 1}")
    picture(page, "skill_forms")
