"""From the empty page: what it greets with, examples, and a blueprint built by somebody who does not program."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory_robot import MemoryRobot
from pages import SEARCH, node, overlaps, serious, settled, text_of

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.program.file import library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient

BENCH = Path(__file__).parents[2] / "config" / "bench.yaml"
_LISTEN = """
window.pressed = [];
window.entered = [];
window.addEventListener('keydown', (event) => window.pressed.push(event.key), true);
window.addEventListener('beforeinput', (event) => window.entered.push(event.data ?? ''), true);
"""


def test_an_empty_document_greets_with_what_to_do(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    page.get_by_role("heading", name="Draw what the robot shall do").wait_for()
    page.get_by_role("button", name="New blueprint").last.click()
    page.get_by_role("dialog").get_by_label("Name").fill("Meine Prüfung")
    page.get_by_role("button", name="Make it").click()
    page.get_by_role("heading", name="Nothing is here yet").wait_for()
    page.get_by_text("Nothing is in it yet.").wait_for()
    settled(page)
    assert page.get_by_role("alert").count() == 0 and page.locator(".bad, .bad-hint").count() == 0
    assert page.get_by_role("button", name="Save", exact=True).is_disabled()
    assert text_of(page) == "name: Meine_Pruefung\ntitle: Meine Prüfung\nlevel: blueprint\nnodes: {}\n"
    assert serious(page) == []
    picture(page, "first_steps")
    page.get_by_role("button", name="Find a skill").click()
    page.wait_for_function("() => document.activeElement.classList.contains('search')")
    page.keyboard.type("wait")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_text("No mistakes.").wait_for()


def test_three_examples_open_and_have_no_mistakes(come: Callable[..., Any], robot: MemoryRobot) -> None:
    page = come()
    page.get_by_role("tab", name="Files").click()
    examples = page.locator(".left .examples .skill-item")
    assert examples.count() == 3
    for n in range(3):
        examples.nth(n).click()
        page.wait_for_selector(".node")
        settled(page)
        page.get_by_text("No mistakes.").wait_for()
        assert overlaps(page) == []
    page.locator(".doc-tab button").first.click()
    page.get_by_role("tab", name=re.compile("^Run")).last.click()
    page.get_by_role("button", name="Start Ask and choose").click()
    page.get_by_role("button", name="none of them", exact=True).click()
    page.get_by_role("button", name="green", exact=True).click()
    page.get_by_test_id("run-state").get_by_text("Ended: done").wait_for()
    (run,) = robot.runs
    assert [r["path"] for r in run.records if r["what"] == "node"] == ["which", "wait", "which", "say_green"]


def test_E1_undo_outlives_a_reload(come: Callable[..., Any]) -> None:
    page = come()
    page.get_by_role("tab", name="Files").click()
    page.locator(".left .examples .skill-item").first.click()
    page.wait_for_selector(".node")
    settled(page)
    begun = text_of(page)
    node(page, "say_red").click()
    page.locator(".name-field").fill("Rot!")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add what follows").click()
    changed = text_of(page)
    assert "Rot: {title: Rot!, say:" in changed
    page.reload()
    page.wait_for_selector(".node")
    settled(page)
    assert text_of(page) == changed
    undo = page.get_by_role("button", name="Undo", exact=True)
    while undo.is_enabled():
        undo.click()
    assert text_of(page) == begun
    page.reload()
    page.wait_for_selector(".node")
    redo = page.get_by_role("button", name="Redo", exact=True)
    redo.click()
    redo.click()
    assert text_of(page) == changed


# Its shorter parts: the tutorial's steps (test_tutorial_steps.py), and an example with a question that is run, above.
@pytest.mark.long
@pytest.mark.timeout(900)
def test_somebody_who_does_not_program_builds_a_blueprint(
    come: Callable[..., Any], robot: MemoryRobot, picture: Callable[[Any, str], None]
) -> None:
    """Pick, inspect, choose among three, ask, retry: by mouse and keyboard, without a bracket; the pictures are a film.
    What was drawn runs in the page, and the same text on the simulated bench."""
    page = come()
    page.evaluate(_LISTEN)
    frames = 0

    def film() -> None:
        nonlocal frames
        frames += 1
        picture(page, f"film_{frames:02d}")

    def put(label: str, text: str) -> None:
        """Type into a field, letter by letter."""
        field = page.get_by_label(label, exact=True).last
        field.click()
        page.keyboard.press("Control+A")
        page.keyboard.type(text)

    def add(skill: str, name: str) -> None:
        """Add a node, and give it a name."""
        page.get_by_label(SEARCH).click()
        page.keyboard.press("Control+A")
        page.keyboard.type(skill)
        page.get_by_role("button", name=f"Add {skill}", exact=True).click()
        settled(page)
        put("Name of the node", name)
        page.keyboard.press("Enter")
        settled(page)

    film()
    page.get_by_role("button", name="New blueprint").last.click()
    put("Name", "Pick and inspect")
    film()
    page.get_by_role("button", name="Make it").click()
    page.get_by_role("heading", name="Nothing is here yet").wait_for()
    film()
    # Pick, twice if need be. There is nothing at this place of the bench.
    add("move_object", "Pick it")
    put("from_position [m]", "0.45, -0.30, 0.115")
    put("to_position [m]", "0.52, -0.12, 0.115")
    page.get_by_text("Again, and time-out").click()
    put("Retry after failures", "1")
    put("Time-out [s]", "60")
    settled(page)
    film()
    # Inspect, and choose among three.
    add("wait", "Inspect")
    put("Seconds", "0.2")
    add("ask", "Which of three?")
    put("Question", "Is it good?")
    put("Answers", "good, rework, try again")
    settled(page)
    film()
    add("say", "It is good")
    put("Text", "It is good")
    page.locator(".react-flow__pane").click(position={"x": 6, "y": 6})
    add("say", "Rework")
    put("Text", "It goes to rework")
    page.locator(".react-flow__pane").click(position={"x": 6, "y": 6})
    # If nothing was picked, ask, and try again.
    add("ask", "Help!")
    put("Question", "I cannot pick it. Is it there?")
    put("Answers", "try again, leave it")
    settled(page)
    page.get_by_role("button", name="Fit", exact=True).click()
    settled(page)
    film()
    # By the forms: what follows.
    node(page, "Pick_it").click()
    page.get_by_role("button", name="Add what follows").click()
    settled(page)
    page.get_by_label("Result 2").select_option(label="any failure")
    page.get_by_label("Goes to 2").select_option(label="Help!")
    settled(page)
    node(page, "Which_of_three").click()
    page.get_by_label("Result 1").select_option(label="good")
    for n, (answer, to) in enumerate((("rework", "Rework"), ("try again", "Pick it")), 2):
        page.get_by_role("button", name="Add what follows").click()
        settled(page)
        page.get_by_label(f"Result {n}").select_option(label=answer)
        page.get_by_label(f"Goes to {n}").select_option(label=to)
        settled(page)
    film()
    node(page, "Help").click()
    for n, (answer, to) in enumerate((("try again", "Pick it"), ("leave it", "ends: failed")), 1):
        page.get_by_role("button", name="Add what follows").click()
        settled(page)
        page.get_by_label(f"Result {n}").select_option(label=answer)
        page.get_by_label(f"Goes to {n}").select_option(label=to)
        settled(page)
    settled(page)
    page.get_by_text("No mistakes.").wait_for()
    film()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved Pick_and_inspect as version 1").wait_for()
    # Run it: the first picks miss, and it asks.
    robot.results["move_object"] = "missed"
    page.get_by_role("tab", name=re.compile("^Run")).last.click()
    page.get_by_role("button", name="Start Pick and inspect").click()
    page.locator(".question", has_text="I cannot pick it").wait_for()
    film()
    robot.results["move_object"] = "done"
    page.get_by_role("button", name="try again", exact=True).last.click()
    page.locator(".question", has_text="Is it good?").wait_for()
    film()
    page.get_by_role("button", name="good", exact=True).click()
    page.get_by_test_id("run-state").get_by_text("Ended: done").wait_for()
    film()
    (run,) = robot.runs
    visited = [(r["path"], r["visit"], r["attempt"]) for r in run.records if r["what"] == "node"]
    assert visited == [("Pick_it", 1, 1), ("Pick_it", 1, 2), ("Help", 1, 1), ("Pick_it", 2, 1), ("Inspect", 1, 1),
                       ("Which_of_three", 1, 1), ("It_is_good", 1, 1)]  # fmt: skip
    pressed, entered = ("".join(page.evaluate(f"window.{name}")) for name in ("pressed", "entered"))
    assert "Pick and inspect" in entered and not set("[]{}") & {*pressed, *entered}
    on_the_simulated_bench(text_of(page))


def on_the_simulated_bench(text: str) -> None:
    """The same text moves the simulated arm: it picks twice in vain, asks, and is left."""
    template = SkillTemplate(text)
    programs = {name: library_template(name) for name in library_programs()}
    catalogue = SkillCatalogue(offline_catalogue(BENCH), programs, {})
    check_skill(template, catalogue)
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, catalogue.with_skill(template), template.name)
        answers = ["try again", "leave it"]
        while run.step() is None:
            for question in list(run.runner.questions.values()):
                assert run.give(events.Answer(activity=question.activity, answer=answers.pop(0))) == ""
        outcome = run.step()
        assert outcome is not None and outcome.result == "failed" and answers == []
    visited = [(r["path"], r["visit"], r["attempt"]) for r in run.records if r["what"] == "node"]
    assert visited == [("Pick_it", 1, 1), ("Pick_it", 1, 2), ("Help", 1, 1), ("Pick_it", 2, 1), ("Pick_it", 2, 2),
                       ("Help", 2, 1)]  # fmt: skip
    assert [r["result"] for r in run.records if r["what"] == "ended" and r["path"] == "Pick_it"] == ["missed"] * 4
