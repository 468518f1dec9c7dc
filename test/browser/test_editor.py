"""A stranger's way through the editor, in a real browser."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from memory_robot import MemoryRobot
from pages import (
    SEARCH,
    drag_skill,
    draw_link,
    new,
    node,
    open_text,
    overlaps,
    program_state,
    serious,
    settled,
    text_of,
)
from served_editor import Served

TOUR = """# A tour of the bench.
name: tour
level: blueprint
commands: [{say: [go round]}]
parameters: {times: {type: int, default: 2}}
start: look
nodes:
  # Where is it?
  look:  {skill: move_until_contact, then: [{on: contact, go: press}, {on: not_found, go: tell}]}
  press: {skill: act_on_object, retry: 1, with: {force: 5.0}, then: [{when: below.distance < 1.0, go: tell}, {on: failure, go: tell}, {go: question}]}
  tell:  {say: nothing there, then: question}   # it is spoken
  question: {ask: {text: Once more?, answers: [again, enough]}, then: [{on: again, go: look}, {on: enough, end: done}]}
reactions: [{when: below.distance < 0.2, go: tell}]
"""  # noqa: E501
LONG = """name: long
start: a
nodes:
  a: {wait: 0.3, then: b}
  b: {wait: 60, then: c}
  c: {wait: 0.3, then: d}
  d: {say: the end}
"""


async def close_all(editor: Served) -> None:
    """End all sockets, as a server that ends."""
    for watcher in list(editor.server.watchers.all):
        assert watcher.socket is not None
        await watcher.socket.close()


def go_to_again(page: Any, editor: Served) -> None:
    page.goto(editor.link)  # changes the fragment alone
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")


def run_state(page: Any) -> Any:
    return page.get_by_test_id("run-state")


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=re.compile(f"^{name}")).last.click()


def test_a_stranger_draws_a_blueprint_by_mouse(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come()
    picture(page, "welcome")
    new(page, "first")
    drag_skill(page, "wait", 500, 250)
    settled(page)
    drag_skill(page, "move_until_contact", 760, 420)
    settled(page)
    drag_skill(page, "say", 500, 560)
    settled(page)
    assert "say: {say: hello}" in text_of(page)
    draw_link(page, "wait", "success", "move_until_contact")
    draw_link(page, "move_until_contact", "success", "say")
    settled(page)
    # A condition, at the link that was drawn last.
    page.get_by_label("Condition 1").fill("below.dist")
    page.keyboard.press("Tab")  # completes
    page.get_by_label("Condition 1").press_sequentially(" > 0.5")
    settled(page)
    assert "then: [{when: below.distance > 0.5, go: say}]" in text_of(page)
    picture(page, "drawn_by_mouse")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved first as version 1").wait_for()
    tab(page, "Run")
    page.get_by_role("button", name="Start first").click()
    run_state(page).get_by_text("Ended: done").wait_for()
    assert [r.outcome.result for r in robot.runs if r.outcome] == ["done"]
    assert robot.runs[0].source == "editor: Ann"
    picture(page, "first_run")


def test_the_same_by_keyboard_alone(come: Callable[..., Any], robot: MemoryRobot) -> None:
    page = come()
    page.get_by_role("button", name="New blueprint").last.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("first")
    page.keyboard.press("Enter")
    for what in ("wait", "move_until_contact", "say"):
        page.keyboard.press("Escape")
        page.locator("h1").first.evaluate("() => document.activeElement.blur()")
        page.keyboard.press("/")
        page.wait_for_function("() => document.activeElement.classList.contains('search')")
        page.keyboard.press("Control+A")
        page.keyboard.type(what)
        page.keyboard.press("Enter")
        settled(page)
    assert "wait: {wait: 1, then: move_until_contact}" in text_of(page)
    assert "move_until_contact: {skill: move_until_contact, then: say}" in text_of(page)
    page.locator("h1").first.evaluate("() => document.activeElement.blur()")
    node(page, "wait").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".node.selected")
    page.keyboard.press("Enter")  # its form
    page.wait_for_function("() => document.activeElement.closest('.inspector') !== null")
    for _ in range(30):
        if page.evaluate("() => document.activeElement.labels?.[0]?.textContent") == "Condition 1":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("below.distance > 0.5")
    page.keyboard.press("Escape")
    settled(page)
    assert "wait: {wait: 1, then: [{when: below.distance > 0.5, go: move_until_contact}]}" in text_of(page)
    page.keyboard.press("Control+s")
    page.get_by_text("Saved first as version 1").wait_for()
    for _ in range(60):
        if page.evaluate("() => document.activeElement.getAttribute('aria-selected')") and page.evaluate(
            "() => document.activeElement.textContent"
        ) == "Properties":
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".start-button")
    page.keyboard.press("Control+Enter")
    run_state(page).get_by_text("Ended: done").wait_for()
    node(page, "say").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("m")
    page.get_by_role("menu").wait_for()
    page.keyboard.press("ArrowDown")  # from "Start here" to the breakpoint
    page.keyboard.press("Enter")
    node(page, "say").locator(".breakpoint").wait_for()


def test_E1_moving_a_node_changes_one_line(come: Callable[..., Any]) -> None:
    page = come()
    open_text(page, TOUR)
    box = node(page, "press").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 44, steps=6)
    page.mouse.up()
    settled(page)
    moved = text_of(page)
    assert re.fullmatch(re.escape(TOUR) + r"view:\n  press: \[-?\d+, -?\d+\]\n", moved)
    node(page, "press").focus()
    page.keyboard.press("Control+z")
    assert text_of(page) == TOUR
    page.keyboard.press("Control+y")
    assert text_of(page) == moved
    page.get_by_role("button", name="Arrange").click()
    settled(page)
    assert text_of(page) == TOUR and overlaps(page) == []


def test_E1_edits_undone_and_redone_to_the_very_bytes(come: Callable[..., Any]) -> None:
    page = come()
    open_text(page, TOUR)
    texts = [TOUR]
    for n in range(20):
        page.get_by_label(SEARCH).fill(("wait", "say", "log")[n % 3])
        page.get_by_label(SEARCH).press("Enter")
        texts.append(text_of(page))
        page.locator(".name-field").fill(f"step_{n}")
        page.locator(".name-field").press("Enter")
        texts.append(text_of(page))
        for _ in range(4):
            texts += clicks(page, "Add what follows", 1)
            texts += clicks(page, "Remove 1", 1)
        page.get_by_role("button", name="Add what follows").click()
        texts.append(text_of(page))
        page.get_by_label("Condition 1").fill(f"below.distance > {n}")
        texts.append(text_of(page))
    assert len(texts) > 200 and len(set(texts)) > 60
    assert clicks(page, "Undo", len(texts) - 1) == texts[-2::-1]
    assert page.get_by_role("button", name="Undo", exact=True).is_disabled()
    assert clicks(page, "Redo", len(texts) - 1) == texts[1:]


def clicks(page: Any, button: str, times: int) -> list[str]:
    """The text after each of so many clicks."""
    found: list[str] = page.evaluate(
        """async ([name, times]) => {
            const texts = [];
            for (let n = 0; n < times; n += 1) {
                const named = (e) => (e.getAttribute('aria-label') ?? e.textContent) === name;
                [...document.querySelectorAll('button')].find(named).click();
                await new Promise((done) => setTimeout(done, 15));
                const kept = JSON.parse(localStorage.getItem('robot_rt_control.drafts'));
                texts.push(kept.docs[kept.active].text);
            }
            return texts;
        }""",
        [button, times],
    )
    return found


def test_a_skill_is_dropped_on_a_link_and_versions_are_compared(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, LONG)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved long as version 1").wait_for()
    link = page.locator(".react-flow__edge[data-id='b:0:c'] .react-flow__edge-path").bounding_box()
    drag_skill(page, "log", link["x"] + link["width"] / 2, link["y"] + link["height"] / 2)
    settled(page)
    assert "  b: {wait: 60, then: log}\n" in text_of(page) and "  log: {log: here, then: c}\n" in text_of(page)
    assert overlaps(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved long as version 2").wait_for()
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name="Compare versions of long").click()
    page.locator(".miniature .added").wait_for()
    assert page.locator(".difference .added").all_inner_texts()[-1].strip() == "+   log: {log: here, then: c}"
    picture(page, "versions")


def test_commands_are_said_and_a_past_run_starts_again(come: Callable[..., Any], robot: MemoryRobot) -> None:
    page = come()
    open_text(page, LONG.replace("60", "0.3").replace("start: a", "commands: [{say: go on}]\nstart: a"))
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved long as version 1").wait_for()
    tab(page, "Run")
    page.get_by_text("Commands").click()
    page.get_by_label("Say a sentence").fill("go on")
    page.get_by_label("Say a sentence").press("Enter")
    run_state(page).get_by_text("Ended: done").wait_for()
    page.get_by_role("tab", name="Runs").click()
    page.locator(".skill-item:has-text('long')").first.click()
    page.get_by_text("Replay of run-1").wait_for()
    page.get_by_role("button", name="Start again at d").click()
    run_state(page).get_by_text("Ended: done").wait_for()
    assert [r["path"] for r in robot.runs[1].records if r["what"] == "node"] == ["d"]


def test_mistakes_appear_at_node_field_and_line_and_go(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, TOUR)
    node(page, "press").click()
    field = page.get_by_label("force [N]", exact=True)
    field.fill("5000")
    page.locator(".field:has(label:text-is('force [N]')) .bad-hint").wait_for()
    node(page, "press").locator(".mistake-sign").wait_for()
    assert "line 10, press" in page.locator(".mistakes").inner_text()
    picture(page, "mistake_at_its_field")
    tab(page, "Run")
    assert page.locator(".start-button").is_disabled()
    tab(page, "Properties")
    page.get_by_role("button", name="Text", exact=True).click()
    page.locator(".cm-lint-marker-error").wait_for()
    picture(page, "mistake_at_its_line")
    page.get_by_role("button", name="Picture").click()
    field.fill("6")
    page.wait_for_selector(".mistake-sign", state="detached")
    assert "with: {force: 6}" in text_of(page)
    # What is not valid YAML keeps its last picture, and stays as a draft.
    page.get_by_role("button", name="Text", exact=True).click()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("nodes: [")
    page.get_by_role("button", name="Picture").click()
    page.get_by_text("this is the last picture").wait_for()
    assert node(page, "press").is_visible()
    page.reload()
    page.wait_for_selector(".doc-tab")
    assert text_of(page).endswith("nodes: [")


def test_a_new_skill_out_of_selected_nodes_is_used_at_once(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, TOUR)
    node(page, "look").click()
    node(page, "press").click(modifiers=["Control"])
    page.get_by_role("button", name="Make a skill of them").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the new skill").fill("find_and_press")
    dialog.get_by_label("Level").select_option("motion_skill")
    picture(page, "new_skill")
    dialog.get_by_role("button", name="Make the skill").click()
    page.get_by_text("find_and_press is a new motion skill.").wait_for()
    settled(page)
    text = text_of(page)
    assert "find_and_press:" in text and "start: find_and_press" in text and "# it is spoken" in text
    assert robot.store.get("find_and_press").template is not None
    page.locator(".skill-item:has(.skill-name:text-is('find_and_press'))").wait_for()
    assert page.locator(".good-line, .mistakes summary").inner_text() in ("No mistakes.", "1 warning", "2 warnings")
    tab(page, "Run")
    page.get_by_role("button", name="Start tour").click()
    page.get_by_role("button", name="enough").click()
    run_state(page).get_by_text("Ended: done").wait_for()
    node(page, "find_and_press").dblclick()  # opens it: there the way of the run shows as well
    node(page, "look").wait_for()
    page.wait_for_selector(".node.was-success")
    picture(page, "inner_skill")
    # Rename it; its caller follows.
    page.locator(".doc-tab button").first.click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved tour as version 1").wait_for()
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name="Rename find_and_press").click()
    dialog.get_by_label("New name").fill("seek")
    picture(page, "rename")
    dialog.get_by_role("button", name="Rename").click()
    page.get_by_text("find_and_press is seek now").wait_for()
    assert "skill: seek" in text_of(page) and "skill: seek" in robot.store.get("tour").text
    assert robot.store.names().count("find_and_press") == 0


def test_copy_and_paste_between_tabs(come: Callable[..., Any]) -> None:
    page = come()
    open_text(page, TOUR)
    node(page, "tell").click()
    node(page, "question").click(modifiers=["Control"])
    page.keyboard.press("Control+c")
    other = come(context=page.context)
    other.wait_for_selector(".node")
    new(other, "second")
    other.locator(".react-flow__pane").click()
    other.keyboard.press("Control+v")
    settled(other)
    assert "  tell:  {say: nothing there, then: question}\n" in text_of(other)
    assert "then: [{on: enough, end: done}]}" in text_of(other)
    other.keyboard.press("Control+v")
    assert "  tell_2:  {say: nothing there, then: question_2}\n" in text_of(other)


def test_E12_two_people_save_the_same_file(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    ann = come("Ann")
    open_text(ann, LONG)
    ann.get_by_role("button", name="Save", exact=True).click()
    ann.get_by_text("Saved long as version 1").wait_for()
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    theirs = LONG.replace("the end", "of Ben")
    assert editor.post("save_skill", {"text": theirs, "based_on": 1}, cookie=cookie)[1]["success"]
    node(ann, "d").click()
    ann.get_by_label("Text").last.fill("of Ann")
    ann.get_by_role("button", name="Save", exact=True).click()
    ann.get_by_text("Somebody else saved long meanwhile").wait_for()
    assert ann.locator(".difference .removed").inner_text().strip() == "−   d: {say: of Ben}"
    picture(ann, "overtaken")
    ann.get_by_role("button", name="Save mine as the next version").click()
    ann.get_by_text("Saved long as version 3").wait_for()
    assert robot.store.get("long@2").text == theirs and "of Ann" in robot.store.get("long@3").text


def test_a_run_is_watched_paused_stepped_jumped_and_cancelled(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, LONG)
    node(page, "c").click(button="right")
    page.get_by_role("menuitem", name="Breakpoint before it").click()
    node(page, "c").locator(".breakpoint").wait_for()
    tab(page, "Run")
    page.get_by_role("button", name="Start long").click()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("button", name="Pause now").click()
    run_state(page).get_by_text("stands").wait_for()
    picture(page, "paused")
    page.get_by_role("button", name="Again", exact=True).click()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("button", name="Skip", exact=True).click()
    run_state(page).get_by_text("stands before").wait_for()  # the breakpoint
    page.get_by_role("button", name="Step", exact=True).click()
    run_state(page).get_by_text("stands after").wait_for()  # a jump before that would wait for a resume
    node(page, "b").click(button="right")
    picture(page, "node_menu")
    page.get_by_role("menuitem", name="Jump here after").click()
    tab(page, "Run")
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("button", name="Cancel").click()
    run_state(page).get_by_text("Ended: cancelled").wait_for()
    commands = [r["command"] for r in robot.runs[0].records if r["what"] == "command"]
    assert commands == ["Begin", "SetBreakpoints", "Pause", "Resume", "Skip", "Step", "Jump", "Cancel"]


def test_E8_a_page_reloaded_and_a_server_restarted_in_a_run(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    page = come(allow="api/")  # a request that is refused is written to the browser's console
    open_text(page, LONG)
    other = editor.enter(editor.server.keys.operate, "Ben")
    assert editor.post("run", {"skill": LONG}, cookie=other)[1]["success"]  # a run that was started elsewhere
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.reload()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.wait_for_selector(".react-flow__node[data-id=a] .was-success")
    robot.connected = False
    page.get_by_text("The blueprint executor is lost").wait_for()
    picture(page, "executor_lost")
    robot.connected = True
    page.wait_for_selector(".lost", state="detached")
    editor.server.keys._people.clear()  # as after a restart
    asyncio.run_coroutine_threadsafe(close_all(editor), editor.loop).result(10)
    page.get_by_text("open the link that the editor printed").wait_for()
    page.get_by_text("What was not saved is kept in this browser").wait_for()
    assert robot.runs[0].outcome is None
    go_to_again(page, editor)


def test_E6_people_take_over_and_all_may_stop(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    ann, ben, eve = come("Ann"), come("Ben"), come("Eve", watching=True)
    open_text(ann, LONG)
    ann.get_by_role("button", name="Operate", exact=True).click()
    ann.get_by_text("You operate").wait_for()
    ben.get_by_text("Ann operates").wait_for()
    ben.get_by_role("button", name="Take over").click()
    ben.get_by_role("dialog").get_by_role("button", name="Take over").click()
    ben.get_by_text("You operate", exact=True).wait_for()
    ann.get_by_text("Ben operates").wait_for()
    eve.get_by_text("This link may watch and stop").wait_for()
    eve.get_by_role("button", name="STOP").click()
    ann.get_by_role("button", name="STOPPED").wait_for()
    assert robot.stopped
    picture(ann, "protective_stop")
    ben.get_by_role("button", name="Release the protective stop").click()
    ann.get_by_role("button", name="STOP", exact=True).wait_for()
    assert not robot.stopped


def test_a_past_run_is_replayed_on_the_picture(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come()
    short = LONG.replace("60", "0.3")
    open_text(page, short)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved long as version 1").wait_for()
    tab(page, "Run")
    page.get_by_role("button", name="Start long").click()
    run_state(page).get_by_text("Ended: done").wait_for()
    page.get_by_role("tab", name="Runs").click()
    page.locator(".skill-item:has-text('long')").first.click()
    page.get_by_text("Replay of run-1").wait_for()
    slider = page.get_by_label("Moment of the replay")
    slider.fill("2")
    page.wait_for_selector(".react-flow__node[data-id=a] .is-runs")
    assert page.locator(".node.was-success").count() == 0
    slider.fill("6")
    page.wait_for_selector(".react-flow__node[data-id=a] .was-success")
    picture(page, "replay")


def test_a_program_is_edited_and_saved(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come()
    page.get_by_role("tab", name="Files").click()
    page.locator(".skill-item:has-text('move_until_contact')").click()
    page.wait_for_selector(".node")
    page.get_by_text("This version cannot be changed").wait_for()
    settled(page)
    assert overlaps(page) == []
    picture(page, "program_of_the_library")
    page.get_by_role("button", name="Make a copy to change").click()
    page.locator(".doc-tab.active", has_text="my_move_until_contact").wait_for()
    robot.program_states = [program_state("my_move_until_contact", "approach")]
    page.wait_for_selector(".react-flow__node[data-id=approach] .is-runs")
    robot.program_states = []
    hold = '{type: hold, parts: arm, reactions: [{when: "elapsed > 1", stop: true}]}'
    open_text(page, f"name: my_hold\nactions:\n  a: {hold}\n")
    page.get_by_role("tab", name="Skills").click()
    page.get_by_label(SEARCH).fill("stop")
    page.get_by_label(SEARCH).press("Enter")
    settled(page)
    assert "  stop: {type: stop, parts: arm}" in text_of(page)
    node(page, "a").click()
    page.get_by_label("Starts 1").select_option("stop")
    settled(page)
    assert "stop: true, start: stop" in text_of(page)


@pytest.mark.parametrize("what", ["empty", "picture", "text", "run", "dialog"])
def test_nothing_hinders_people_seriously(come: Callable[..., Any], what: str) -> None:
    page = come()
    if what != "empty":
        open_text(page, TOUR.replace("force: 5.0", "force: 5000"))
    if what == "picture":
        node(page, "press").click()
    if what == "text":
        page.get_by_role("button", name="Text", exact=True).click()
        page.wait_for_selector(".cm-content")
    if what == "run":
        open_text(page, TOUR)
        tab(page, "Run")
        page.get_by_role("button", name="Start tour").click()
        page.wait_for_selector(".question")
    if what == "dialog":
        page.locator(".react-flow__pane").click()
        page.keyboard.press("?")
        page.get_by_text("zoom to fit").wait_for()
    page.wait_for_timeout(300)
    assert serious(page) == []


def test_three_hundred_nodes(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    lines = [f"  n{i}: {{wait: 1, then: [{{when: n{i}.count < 2, go: n{(i * 7) % 300}}}, {{go: n{(i + 1) % 300}}}]}}"
             for i in range(300)]  # fmt: skip
    open_text(page, "name: large\nstart: n0\nnodes:\n" + "\n".join(lines) + "\n")
    page.wait_for_function("() => document.querySelectorAll('.react-flow__node').length > 20", timeout=20_000)
    settled(page)
    assert overlaps(page) == []
    picture(page, "three_hundred_nodes")
