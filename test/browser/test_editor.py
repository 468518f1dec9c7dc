"""A stranger's way through the editor, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_robot import MemoryRobot
from pages import (
    SEARCH,
    drag_skill,
    draw_link,
    large,
    new,
    node,
    open_text,
    overlaps,
    program_state,
    serious,
    settled,
    tab_to,
    text_of,
    until,
)
from served_editor import Served, served

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


def run_state(page: Any) -> Any:
    return page.get_by_test_id("run-state")


def compared(page: Any) -> None:
    """Both texts are there. With one of them, all lines are added or removed."""
    page.locator(".difference .same", has_text="name: ").wait_for()


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
    keys = page.keyboard
    tab_to(page, "New blueprint")
    keys.press("Enter")
    page.wait_for_function("() => document.activeElement.closest('dialog') !== null")
    keys.type("first")
    keys.press("Enter")
    page.locator(".doc-tab.active").wait_for()
    keys.press("/")
    page.wait_for_function("() => document.activeElement.classList.contains('search')")
    for what in ("wait", "move_until_contact", "say"):
        keys.press("Control+A")
        keys.type(what)
        keys.press("Enter")
        settled(page)
    assert "wait: {wait: 1, then: move_until_contact}" in text_of(page)
    assert "move_until_contact: {skill: move_until_contact, then: say}" in text_of(page)
    keys.press("Control+A")
    keys.press("Delete")
    tab_to(page, "Node wait: wait")
    keys.press("Enter")
    page.wait_for_selector(".react-flow__node[data-id=wait].selected")
    keys.press("Enter")  # its form
    page.wait_for_function("() => document.activeElement.closest('.inspector') !== null")
    tab_to(page, "Condition 1")
    keys.type("below.distance > 0.5")
    keys.press("Escape")
    settled(page)
    assert "wait: {wait: 1, then: [{when: below.distance > 0.5, go: move_until_contact}]}" in text_of(page)
    keys.press("Control+s")
    page.get_by_text("Saved first as version 1").wait_for()
    tab_to(page, "Properties", back=True)
    keys.press("ArrowRight")
    page.wait_for_selector(".start-button")
    keys.press("Control+Enter")
    run_state(page).get_by_text("Ended: done").wait_for()
    tab_to(page, "Node say: say", back=True)
    keys.press("Enter")
    page.wait_for_selector(".react-flow__node[data-id=say].selected")
    keys.press("m")
    page.wait_for_function("() => document.activeElement.role === 'menuitem'")
    keys.press("ArrowDown")  # from "Start here" to the breakpoint
    keys.press("Enter")
    node(page, "say").locator(".breakpoint").wait_for()
    assert [r.outcome.result for r in robot.runs if r.outcome] == ["done"]


def test_E1_moving_a_node_changes_one_line(come: Callable[..., Any], robot: MemoryRobot) -> None:
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
    # In the file: the second move of a node changes one line.
    page.get_by_role("button", name="Undo", exact=True).click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved tour as version 1").wait_for()
    settled(page)
    tell = node(page, "tell").bounding_box()
    node(page, "press").hover(position={"x": 40, "y": 14})
    page.mouse.down()
    page.mouse.move(tell["x"] + 60, tell["y"] + 20, steps=6)  # onto another one
    page.mouse.up()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved tour as version 2").wait_for()
    one, two = (robot.store.get(f"tour@{n}").text.splitlines() for n in (1, 2))
    assert [k for k, (a, b) in enumerate(zip(one, two, strict=True)) if a != b] == [len(one) - 1]
    assert overlaps(page) != []
    page.get_by_role("button", name="Arrange").click()
    settled(page)
    assert overlaps(page) == []


def test_E1_edits_undone_and_redone_to_the_very_bytes(come: Callable[..., Any]) -> None:
    page = come()
    open_text(page, TOUR)
    texts = [TOUR]
    for n in range(16):
        page.get_by_label(SEARCH).fill(("wait", "say", "log")[n % 3])
        page.get_by_label(SEARCH).press("Enter")
        texts.append(text_of(page))
        page.locator(".name-field").fill(f"step_{n}")
        page.locator(".name-field").press("Enter")
        texts.append(text_of(page))
        texts += clicks(page, ["Add what follows", "Remove 1"], 5)
        texts += clicks(page, ["Add what follows"], 1)
        page.get_by_label("Condition 1").fill(f"below.distance > {n}")
        texts.append(text_of(page))
    assert len(texts) > 200 and len(set(texts)) > 60
    assert clicks(page, ["Undo"], len(texts) - 1) == texts[-2::-1]
    assert page.get_by_role("button", name="Undo", exact=True).is_disabled()
    assert clicks(page, ["Redo"], len(texts) - 1) == texts[1:]


def clicks(page: Any, buttons: list[str], times: int) -> list[str]:
    """The text after each click on these buttons in turn, as often as given."""
    found: list[str] = page.evaluate(
        """async ([names, times]) => {
            const texts = [];
            for (let n = 0; n < times * names.length; n += 1) {
                const named = (e) => (e.getAttribute('aria-label') ?? e.textContent) === names[n % names.length];
                [...document.querySelectorAll('button')].find(named).click();
                await null; // the page has drawn it
                const tab = sessionStorage.getItem('robot_rt_control.tab');
                const kept = JSON.parse(localStorage.getItem('robot_rt_control.drafts.' + tab));
                texts.push(kept.docs[kept.active].text);
            }
            return texts;
        }""",
        [buttons, times],
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
    compared(page)
    changed = [line.strip() for line in page.locator(".difference .added").all_inner_texts()]
    assert changed == ["+   b: {wait: 60, then: log}", "+   log: {log: here, then: c}"]
    page.locator(".miniature .added").wait_for()
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
    until(page, lambda: len(robot.runs) == 2 and robot.runs[1].outcome)  # the first one has ended as well
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
    node(page, "press").locator(".mistake-sign").wait_for()
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
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
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
    # Rename it; its callers follow, one that is open and one that is not.
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    other = "name: other\nnodes:\n  seeks: {skill: find_and_press}   # as Ben wrote it\n"
    assert editor.post("save_skill", {"text": other}, cookie=cookie)[1]["success"]
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
    assert robot.store.get("other").text == other.replace("find_and_press", "seek")
    assert robot.store.names().count("find_and_press") == 0
    tab(page, "Run")
    page.get_by_role("button", name="Start tour").click()
    page.get_by_role("button", name="enough").click()
    until(page, lambda: len(robot.runs) == 2 and robot.runs[1].outcome)
    assert [run.outcome.result for run in robot.runs if run.outcome] == ["done", "done"]


def test_a_new_meta_skill_is_on_its_shelf_and_used_at_once(come: Callable[..., Any], robot: MemoryRobot) -> None:
    page = come()
    moves = "skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.05]}"
    open_text(page, f"name: nod\nnodes:\n  up: {{{moves}, then: down}}\n  down: {{{moves.replace('0.05', '-0.05')}}}\n")
    page.locator(".react-flow__pane").click(position={"x": 8, "y": 8})
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+g")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the new skill").fill("bow")
    dialog.get_by_label("Level").select_option("meta_skill")
    dialog.get_by_role("button", name="Make the skill").click()
    page.get_by_text("bow is a new meta skill.").wait_for()
    page.locator(".shelf:has(.shelf-title:has-text('meta skills')) .skill-name:text-is('bow')").wait_for()
    page.get_by_label(SEARCH).fill("bow")
    page.get_by_label(SEARCH).press("Enter")  # once more, after the first one
    settled(page)
    assert "skill: bow, then: bow_2}" in text_of(page).replace("\n", "") and "bow_2: {skill: bow}" in text_of(page)
    assert page.locator(".mistakes .bad").count() == 0
    tab(page, "Run")
    page.get_by_role("button", name="Start nod").click()
    run_state(page).get_by_text("Ended: done").wait_for()
    paths = [r["path"] for r in robot.runs[0].records if r["what"] == "node"]
    assert paths == ["bow", "bow/up", "bow/down", "bow_2", "bow_2/up", "bow_2/down"]


def test_copy_and_paste_between_tabs(come: Callable[..., Any]) -> None:
    page = come()
    open_text(page, TOUR)
    node(page, "tell").click()
    node(page, "question").click(modifiers=["Control"])
    page.keyboard.press("Control+c")
    other = come(context=page.context)
    new(other, "second")
    other.locator(".react-flow__pane").click()
    other.keyboard.press("Control+v")
    settled(other)
    assert "  tell:  {say: nothing there, then: question}\n" in text_of(other)
    assert "then: [{on: enough, end: done}]}" in text_of(other)
    other.keyboard.press("Control+v")
    assert "  tell_2:  {say: nothing there, then: question_2}\n" in text_of(other)


def test_E12_two_people_save_the_same_file(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    ann = come("Ann")
    open_text(ann, LONG)
    ann.get_by_role("button", name="Save", exact=True).click()
    ann.get_by_text("Saved long as version 1").wait_for()
    ben = come("Ben")
    ben.get_by_role("tab", name="Files").click()
    ben.locator(".skill-item:has(.skill-name:text-is('long'))").click()
    for page, who in ((ben, "Ben"), (ann, "Ann")):
        node(page, "d").click()
        page.get_by_label("Text").last.fill(f"of {who}")
        page.get_by_role("button", name="Save", exact=True).click()
        if who == "Ben":
            ben.get_by_text("Saved long as version 2").wait_for()
    ann.get_by_text("Somebody else saved long meanwhile").wait_for()
    assert ann.locator(".difference .removed").inner_text().strip() == "−   d: {say: of Ben}"
    picture(ann, "overtaken")
    ann.get_by_role("button", name="Save mine as the next version").click()
    ann.get_by_text("Saved long as version 3").wait_for()
    texts = [robot.store.get(f"long@{n}").text for n in (1, 2, 3)]
    assert texts == [LONG, LONG.replace("the end", "of Ben"), LONG.replace("the end", "of Ann")]


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
    run_state(page).get_by_text("stands: a node was stopped").wait_for()
    picture(page, "paused")
    page.get_by_role("button", name="Again", exact=True).click()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("button", name="Skip", exact=True).click()
    run_state(page).get_by_text("stands before a node").wait_for()  # the breakpoint
    page.get_by_role("button", name="Step", exact=True).click()
    # While the node runs, it "stands after this node": a jump would then wait for a resume.
    run_state(page).get_by_text("stands after a node").wait_for()
    node(page, "b").click(button="right")
    picture(page, "node_menu")
    page.get_by_role("menuitem", name="Jump here after").click()
    tab(page, "Run")
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("button", name="Pause", exact=True).click()  # after the node
    run_state(page).get_by_text("stands after this node").wait_for()
    node(page, "a").click(button="right")
    page.get_by_role("menuitem", name="Jump here, then come back").click()
    node(page, "a").locator(".jump-chip").wait_for()  # the jump that waits
    tab(page, "Run")
    page.get_by_role("button", name="Skip", exact=True).click()
    run_state(page).get_by_text("stands after a node").wait_for()
    page.get_by_role("button", name="Resume", exact=True).click()
    run_state(page).get_by_text("stands before a node").wait_for()  # the breakpoint at c, where it came back to
    node(page, "b").click(button="right")
    page.get_by_role("menuitem", name="Jump here now").click()
    tab(page, "Run")
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.get_by_role("button", name="Cancel").click()
    run_state(page).get_by_text("Ended: cancelled").wait_for()
    commands = [r["command"] for r in robot.runs[0].records if r["what"] == "command"]
    assert commands == ["Begin", "SetBreakpoints", "Pause", "Resume", "Skip", "Step", "Jump", "Pause", "Jump", "Skip",
                        "Resume", "Jump", "Cancel"]  # fmt: skip


def test_E8_a_page_reloaded_and_a_server_restarted_in_a_run(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    # What is refused or cannot be reached is written to the browser's console.
    page = come(allow="api/|403|ERR_(CONNECTION|EMPTY_RESPONSE)")
    open_text(page, LONG)
    assert robot.run({"skill": LONG, "source": "command line"})["success"]  # a run that was started elsewhere
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.reload()
    page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    page.wait_for_selector(".react-flow__node[data-id=a] .was-success")
    robot.connected = False
    page.get_by_text("The blueprint executor is lost").wait_for()
    picture(page, "executor_lost")
    robot.connected = True
    page.wait_for_selector(".lost", state="detached")
    editor.end()
    page.get_by_text("This page has lost the editor").wait_for()
    with served(robot, editor.port) as again:
        page.get_by_text("open the link that the editor printed").wait_for()
        page.get_by_text("What was not saved is kept in this browser").wait_for()
        assert robot.runs[0].outcome is None
        page.goto(again.link)  # changes the fragment alone
        page.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
        page.wait_for_selector(".react-flow__node[data-id=a] .was-success")
        assert text_of(page) == LONG


def test_E6_people_take_over_and_all_may_stop(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    ann, ben, eve = come("Ann"), come("Ben"), come("Eve", watching=True)
    open_text(ann, LONG)
    ann.get_by_role("button", name="Operate", exact=True).click()
    ann.get_by_text("You operate").wait_for()
    tab(ann, "Run")
    ann.get_by_role("button", name="Start long").click()
    ann.wait_for_selector(".react-flow__node[data-id=b] .is-runs")
    ben.get_by_text("Ann operates").wait_for()
    ben.get_by_role("button", name="Take over").click()
    ben.get_by_role("dialog").get_by_role("button", name="Take over").click()
    ben.get_by_text("You operate", exact=True).wait_for()
    ann.get_by_text("Ben operates").wait_for()
    ann.get_by_title("Ben operates instead of Ann").wait_for()  # the log
    eve.get_by_text("This link may watch and stop").wait_for()
    eve.get_by_role("button", name="STOP").click()
    ann.get_by_role("button", name="STOPPED").wait_for()
    assert robot.stopped
    ann.get_by_text("After the protective stop, say how to go on").wait_for()
    picture(ann, "protective_stop")
    ben.get_by_role("button", name="Release the protective stop").click()
    ann.get_by_role("button", name="STOP", exact=True).wait_for()
    until(ann, lambda: not robot.stopped)
    # The run stands until somebody who operates says how to go on.
    assert ann.locator(".is-runs").count() == 0
    ben.get_by_role("tab", name="Run").last.click()
    ben.get_by_role("button", name="Again", exact=True).click()
    ann.wait_for_selector(".react-flow__node[data-id=b] .is-runs")


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
    slider.fill("3")
    page.wait_for_selector(".react-flow__node[data-id=a] .is-runs")
    assert page.locator(".node.was-success").count() == 0
    slider.fill("7")
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


def test_nothing_hinders_people_seriously_on_any_page(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot
) -> None:
    page = come(allow="409")  # what another person operates is refused
    found: dict[str, list[str]] = {}
    seen: set[str] = set()

    def look(what: str, at: Any = page) -> None:
        """At one page, one dialog, one state of them."""
        settled(at)
        if mistakes := serious(at):
            found[what] = mistakes
        shown = "dialog[open], [role=tab][aria-selected=true]"
        seen.update(at.locator(shown).evaluate_all("all => all.map(each => each.ariaLabel ?? each.textContent)"))

    def press(name: str, at: Any = page) -> None:
        at.get_by_role("button", name=name, exact=True).last.click()

    def close() -> None:
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")

    look("empty")
    press("New blueprint")
    look("new blueprint")
    close()
    tab(page, "Files")
    press("New program")
    look("new program")
    close()
    page.locator(".skill-item:has-text('move_until_contact')").click()
    page.wait_for_selector(".node")
    node(page, "approach").click()
    look("program")
    open_text(page, TOUR.replace("force: 5.0", "force: 5000"))
    node(page, "press").click()
    node(page, "press").locator(".mistake-sign").wait_for()
    look("node with a mistake")
    node(page, "press").click(button="right")
    look("menu of a node")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+g")
    look("new skill")
    close()
    page.locator(".link-label").first.click()
    look("link")
    press("Text")
    page.wait_for_selector(".cm-lint-marker-error")
    look("text")
    press("Picture")
    page.locator(".react-flow__pane").click(position={"x": 8, "y": 8})
    look("blueprint")
    page.keyboard.press("?")
    look("help")
    close()
    page.get_by_title("Your name, as others see it").click()
    look("name")
    close()
    # Files, versions and runs.
    open_text(page, TOUR)
    press("Save")
    page.get_by_text("Saved tour as version 1").wait_for()
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    theirs = TOUR.replace("nothing there", "of Ben")
    assert editor.post("save_skill", {"text": theirs, "based_on": 1}, cookie=cookie)[1]["success"]
    node(page, "tell").click()
    page.get_by_label("Text").last.fill("of Ann")
    press("Save")
    page.get_by_text("Somebody else saved tour meanwhile").wait_for()
    look("overtaken")
    press("Save mine as the next version")
    page.get_by_text("Saved tour as version 3").wait_for()
    tab(page, "Files")
    press("Rename tour")
    look("rename")
    close()
    press("Delete tour")
    look("delete")
    close()
    page.get_by_text("Bin", exact=True).click()
    page.get_by_text("It is empty.").wait_for()
    look("bin")
    press("Compare versions of tour")
    compared(page)
    look("versions")
    close()
    press("Expand")
    page.locator(".tree li li").first.wait_for()
    look("expanded")
    close()
    # A run.
    tab(page, "Run")
    page.get_by_text("Commands").click()
    page.get_by_text("State variables").click()
    page.get_by_label("Watch a variable").fill("below.distance")
    page.locator(".variables li.row").wait_for()
    look("start")
    page.get_by_role("button", name="Start tour").click()
    page.wait_for_selector(".question")
    look("question")
    press("STOP")
    press("Release the protective stop")
    page.get_by_text("After the protective stop").wait_for()
    look("protective stop released")
    press("STOP")
    page.get_by_role("button", name="STOPPED").wait_for()
    look("protective stop")
    press("Release the protective stop")
    press("Cancel")
    run_state(page).get_by_text("Ended: cancelled").wait_for()
    tab(page, "Runs")
    page.locator(".skill-item:has-text('tour')").first.click()
    page.get_by_text("Replay of run-1").wait_for()
    look("replay")
    press("Close")
    assert editor.post("operate", {"take": True, "instead_of": "1"}, cookie=cookie)[1]["success"]
    press("Take over")
    look("take over")
    close()
    robot.connected = False
    page.get_by_text("The blueprint executor is lost").wait_for()
    look("executor lost")
    robot.connected = True
    page.wait_for_selector(".lost", state="detached")
    robot.latch("door", "door open")
    page.locator(".stops").wait_for()
    look("stopped by a door")
    robot.latch("door", "", stop=False)
    watching = come("Eve", watching=True, allow="403")
    look("watching", watching)
    watching.context.clear_cookies()
    watching.goto(editor.origin)
    watching.get_by_text("open the link that the editor printed").wait_for()
    look("refused", watching)
    assert found == {}
    dialogs = (Path(__file__).parents[2] / "web" / "src" / "view" / "dialogs" / "Dialogs.tsx").read_text()
    kinds = re.findall(r"^        case '(\w+)':", dialogs, re.MULTILINE)
    assert len(kinds) > 7 and seen >= {*kinds, "help", "Skills", "Files", "Runs", "Properties", "Run"}


def test_three_hundred_nodes(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    asked = []
    page.on("response", lambda response: asked.append(response) if response.url.endswith("/api/layout") else None)
    open_text(page, large(300))
    page.get_by_role("button", name="Fit", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.react-flow__node').length > 20")  # those that can be seen
    assert overlaps(page) == []
    request, answer = asked[-1].request.post_data_json, asked[-1].json()
    boxes = [(*answer["places"][id], width, height) for id, width, height in request["boxes"]]
    assert len(boxes) == 300 and not [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
    ]
    picture(page, "three_hundred_nodes")
