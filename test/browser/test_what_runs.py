"""What is drawn is what runs, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from memory_robot import MemoryRobot
from pages import KEY, node, open_text, program_state, settled, text_of, until
from served_editor import Served

PROGRAM = """name: wait_here
start: stay
actions:
  stay: {type: hold, parts: arm, final: true, reactions: [{when: elapsed > 1, stop: true, event: over}]}
"""
TOUR = "name: tour\nnodes:\n  a: {wait: 0.1, then: b}\n  b: {wait: %s}\n"


def save(page: Any, version: int) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text(f"as version {version}").wait_for()


def run_tab(page: Any) -> None:
    page.get_by_role("tab", name="Run").last.click()


def other_saves(editor: Served, text: str, based_on: int) -> None:
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    assert editor.post("save_skill", {"text": text, "based_on": based_on}, cookie=cookie)[1]["success"]


def test_E17_the_version_that_is_shown_is_started_and_a_newer_one_is_named(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, TOUR % "60")
    save(page, 1)
    other_saves(editor, (TOUR % "60").replace("b", "c"), 1)
    page.get_by_text("Version 2 of tour is there; this is version 1. Start runs what is shown.").wait_for()
    picture(page, "newer_version")
    run_tab(page)
    page.get_by_role("button", name="Start tour").click()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    assert robot.runs[0].records[0]["versions"]["tour"] == 1
    page.get_by_role("button", name="Show version 2").click()
    node(page, "c").wait_for()
    # The run of version 1 is not drawn on version 2, though both have a node a.
    page.get_by_text("What runs is version 1 of tour; shown is version 2").wait_for()
    assert page.locator(".was-success, .is-runs, .link.taken").count() == 0
    picture(page, "another_version_runs")
    page.get_by_role("button", name="Show what runs").click()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("tab", name="Properties").click()
    page.get_by_text("This version cannot be changed").wait_for()
    run_tab(page)
    page.get_by_role("button", name="Cancel", exact=True).click()
    until(page, lambda: robot.runs[0].outcome)


def test_E17_states_of_a_program_are_drawn_on_the_version_that_runs(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, PROGRAM)
    save(page, 1)
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    for n, text in enumerate((f"# remarked\n{PROGRAM}", PROGRAM.replace("event: over", "event: out")), 1):
        assert editor.post("save_program", {"text": text, "based_on": n}, cookie=cookie)[1]["success"]
    for version, is_shown in ((1, True), (3, False), (2, True)):
        robot.program_states = [program_state(f"wait_here@{version}", "stay")]
        if is_shown:  # the second one has another comment only
            node(page, "stay").locator(".is-runs").wait_for()
            assert page.get_by_text("What runs is version").count() == 0
        else:
            page.get_by_text("What runs is version 3 of wait_here; shown is version 1").wait_for()
            page.locator(".is-runs").first.wait_for(state="detached")
            picture(page, "another_version_of_a_program_runs")
    robot.program_states = [program_state("wait_here@3", "stay")]
    page.get_by_role("button", name="Show what runs").click()
    node(page, "stay").locator(".is-runs").wait_for()
    assert "event: out" in text_of(page)


def test_E17_a_replay_is_drawn_on_the_version_that_ran(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot
) -> None:
    page = come()
    open_text(page, TOUR % "0.1")
    save(page, 1)
    run_tab(page)
    page.get_by_role("button", name="Start tour").click()
    until(page, lambda: robot.runs and robot.runs[0].outcome)
    other_saves(editor, (TOUR % "0.1").replace("b", "c"), 1)
    page.get_by_role("button", name="Show version 2").click()
    node(page, "c").wait_for()
    page.get_by_role("tab", name="Runs").click()
    page.locator(".skill-item:has-text('tour')").first.click()
    page.get_by_text("Replay of run-1").wait_for()
    page.wait_for_selector(".react-flow__node[data-id=b] .was-success")
    assert node(page, "c").count() == 0
    # The same of a text that nobody kept.
    page.get_by_role("button", name="Close", exact=True).click()
    assert robot.run({"skill": (TOUR % "0.1").replace("b", "d")})["success"]
    until(page, lambda: robot.runs[1].outcome)
    page.get_by_role("tab", name="Skills").click()
    page.get_by_role("tab", name="Runs").click()
    page.locator(".skill-item[title^='run-2']").click()
    page.wait_for_selector(".react-flow__node[data-id=d] .was-success")


def test_E17_edits_while_it_runs_are_not_taken_for_what_runs(come: Callable[..., Any], robot: MemoryRobot) -> None:
    page = come()
    open_text(page, TOUR % "60")
    save(page, 1)
    run_tab(page)
    page.get_by_role("button", name="Start tour").click()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    box = node(page, "b").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 44, steps=6)
    page.mouse.up()
    settled(page)
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")  # where a node is does not matter
    node(page, "b").click()
    page.get_by_label("Seconds", exact=True).fill("30")
    page.get_by_text("with changes that are not saved. The run is not drawn here.").wait_for()
    assert page.locator(".is-runs").count() == 0
    page.keyboard.press("Control+.")
    until(page, lambda: robot.stopped)


def test_E17_of_two_results_that_lead_to_one_node_one_is_lit(come: Callable[..., Any], robot: MemoryRobot) -> None:
    page = come()
    text = (
        "name: tour\nnodes:\n  look: {skill: move_until_contact, then: [{on: contact, go: tell}, "
        "{on: not_found, go: tell}]}\n  tell: {say: done}\n"
    )
    open_text(page, text)
    robot.results["move_until_contact"] = "not_found"
    run_tab(page)
    page.get_by_role("button", name="Start tour").click()
    until(page, lambda: robot.runs and robot.runs[0].outcome)
    page.wait_for_selector(".react-flow__edge-path.link.taken")
    lit = page.locator(".react-flow__edge:has(.link.taken)").evaluate_all("all => all.map(each => each.dataset.id)")
    assert lit == ["look:1:tell"]


def test_E18_two_pages_do_not_overwrite_each_others_drafts(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, TOUR % "1")
    save(page, 1)
    other = come(context=page.context)
    other.get_by_role("tab", name="Files").click()
    other.locator(".skill-item:has(.skill-name:text-is('tour'))").click()
    other.wait_for_selector(".node")
    for each, seconds in ((page, "2"), (other, "3")):
        each.bring_to_front()
        node(each, "b").click()
        each.get_by_label("Seconds", exact=True).fill(seconds)
        settled(each)
    page.get_by_text("Another page of this browser has other changes of tour that are not saved").wait_for()
    picture(page, "drafts_of_two_pages")
    for each, seconds in ((page, "2"), (other, "3")):
        each.reload()
        each.wait_for_selector(".node")
        settled(each)
        assert f"b: {{wait: {seconds}}}" in text_of(each), "each page has its own"
    page.get_by_role("button", name="Show them").click()
    page.wait_for_function("() => document.querySelectorAll('.doc-tab').length === 2")
    assert "b: {wait: 3}" in text_of(page)
    page.get_by_role("button", name="Close tour").last.click()
    # A page that is closed leaves its drafts to the next one: both are there.
    other.close()
    third = come(context=page.context)
    third.wait_for_selector(".node")
    assert "b: {wait: 3}" in text_of(third)
    assert "b: {wait: 2}" in text_of(page)
    kept = json.loads(page.evaluate(f"localStorage.getItem({KEY})"))
    assert len(kept["docs"]) == 1


def test_E18_what_is_deleted_is_asked_for_undone_and_restored(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    for n in (1, 2):
        open_text(page, TOUR % n) if n == 1 else None
        if n == 2:
            node(page, "b").click()
            page.get_by_label("Seconds", exact=True).fill("2")
        save(page, n)
    page.get_by_role("tab", name="Files").click()
    delete = page.get_by_role("button", name="Delete tour")
    delete.click()
    page.get_by_text("Delete all 2 versions of tour? They stay in the bin for 30 days.").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert robot.store.kept()["tour"] == (1, 2)
    delete.click()
    picture(page, "delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("Deleted tour. It is in the bin for 30 days.").wait_for()
    assert "tour" not in robot.store.kept()
    page.get_by_role("button", name="Undo", exact=True).last.click()
    page.get_by_text("tour is back with its versions.").wait_for()
    assert robot.store.kept()["tour"] == (1, 2)
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("Deleted tour.").wait_for()
    page.get_by_text("Bin", exact=True).click()
    page.get_by_text("version 1, 2, deleted").wait_for()
    picture(page, "bin")
    page.get_by_role("button", name="Restore tour").click()
    page.get_by_text("It is empty.").wait_for()
    assert robot.store.kept()["tour"] == (1, 2)
