"""Programs in the editor: states, reactions and declarations, by mouse and keyboard; kept, and seen live."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memory_robot import MemoryRobot
from pages import SEARCH, draw_link, node, open_text, overlaps, program_state, serious, settled, text_of
from served_editor import Served

from robot_rt_control.program.file import ProgramTemplate

USES = """name: tour
start: touch
actions:
  touch:   # until there is something
    use: move_until_contact
    parts: {arm: arm, wrist: wrist}
    exits: {contact: rest, not_found: rest, failed: rest}
  rest: {type: hold, parts: arm, final: true, reactions: [{when: elapsed > 1, stop: true, event: rested}]}
"""


def add_action(page: Any, name: str) -> None:
    page.get_by_role("tab", name="Skills").click()
    page.get_by_label(SEARCH).fill(name)
    page.get_by_label(SEARCH).press("Enter")
    page.get_by_label(SEARCH).fill("")
    settled(page)


def nothing_selected(page: Any) -> None:
    page.locator(".react-flow__pane").click(position={"x": 8, "y": 8})
    page.get_by_label("Description").first.wait_for()


def test_a_program_is_drawn_kept_and_seen_live(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come()
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name="New program").click()
    page.get_by_role("dialog").get_by_label("Name").fill("touch_down")
    page.get_by_role("button", name="Make it").click()
    nothing_selected(page)
    page.get_by_label("New role").fill("robot")
    page.get_by_label("New role").press("Enter")
    page.get_by_label("New parameter").fill("limit")
    page.get_by_label("New parameter").press("Enter")
    page.get_by_label("Default").fill("0.2")
    page.get_by_label("Unit").fill("m")
    page.get_by_label("At least").fill("0.1")

    add_action(page, "velocity_move")
    page.get_by_label("Name of the state").fill("down")
    page.get_by_label("Name of the state").press("Enter")
    page.get_by_label("linear [m/s]").fill("[0, 0, -0.05]")
    page.keyboard.press("Escape")
    nothing_selected(page)
    add_action(page, "hold")
    draw_link(page, "down", "success", "hold")
    page.locator(".candidate.chosen").wait_for()  # the new reaction

    # Its condition, with completion of the workcell's and the states' variables.
    condition = page.locator(".candidate.chosen").get_by_label("Condition 1")
    condition.fill("below.dis")
    page.get_by_role("option", name="below.distance").wait_for()
    picture(page, "program_condition")
    # As on a slow machine, a frame comes late.
    page.evaluate("() => { window.requestAnimationFrame = later => setTimeout(later, 100); }")
    condition.press("Enter")
    condition.press_sequentially(" < $lim", delay=40)
    condition.press("Enter")
    assert condition.input_value() == "below.distance < $limit"
    page.locator(".candidate.chosen").get_by_label("Event", exact=True).fill("near")
    node(page, "hold").click()
    page.get_by_label("The program may end here").check()
    page.get_by_role("button", name="Add a reaction").click()
    page.get_by_label("Condition 1").fill("elapsed > nothing.known")
    page.get_by_label("Event", exact=True).fill("rested")
    settled(page)
    # A mistake at its reaction, and at its state.
    page.locator(".candidate .bad-hint").wait_for()
    assert node(page, "hold").locator(".has-mistake").count() == 1
    picture(page, "program_mistake")
    page.get_by_label("Condition 1").fill("elapsed > 1")
    settled(page)
    page.locator(".candidate .bad-hint").wait_for(state="detached")
    assert page.locator(".good-line, .mistakes .warning").count()
    assert overlaps(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved touch_down").wait_for()
    kept = robot.own_programs["touch_down"]
    assert kept == [text_of(page)]
    assert ProgramTemplate(kept[0]).sample().definition.start == ("down",)

    # Seen live, with the governing strategy.
    robot.program_states = [program_state("touch_down", "down", strategies=(("down", "z", "approach"),))]
    node(page, "down").locator(".is-runs").wait_for()
    assert "z: approach" in node(page, "down").inner_text()
    picture(page, "program_live")
    robot.program_states = [program_state("touch_down", "hold")]
    node(page, "hold").locator(".is-runs").wait_for()
    assert node(page, "down").locator(".is-runs").count() == 0
    robot.program_states = []
    assert serious(page) == []

    # Renamed, and undone to the very bytes.
    before = text_of(page)
    page.get_by_label("Name of the state").fill("stay")
    page.get_by_label("Name of the state").press("Enter")
    assert "start: stay" in text_of(page) and "hold:" not in text_of(page)
    page.get_by_role("button", name="Undo").click()
    assert text_of(page) == before

    # The index finds it by words, and deletes it.
    page.get_by_role("tab", name="Files").click()
    page.get_by_label("Find a program").fill("touch down")
    assert page.locator(".files .skill-item:has-text('touch_down')").count() <= 1
    page.get_by_label("Find a program").fill("touch_down")
    page.get_by_role("button", name="Delete touch_down").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("None has these words").wait_for()
    assert robot.own_programs == {}
    page.get_by_role("button", name="Undo", exact=True).last.click()
    page.get_by_text("touch_down is back: its last version as a new one.").wait_for()
    assert list(robot.own_programs) == ["touch_down"]


def test_a_program_as_a_state_and_a_blueprint_open_the_program_that_runs(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come()
    open_text(page, USES)
    settled(page)
    assert page.locator(".good-line").inner_text() == "No mistakes."
    node(page, "touch").click()
    page.get_by_label("After not_found", exact=True).select_option("touch")
    assert "not_found: touch" in text_of(page) and "# until there is something" in text_of(page)
    robot.program_states = [program_state("tour", "touch__approach", "touch__watch")]
    node(page, "touch").locator(".is-runs").wait_for()
    picture(page, "program_uses")

    # The program that it uses, down to its active states: they are lit there as well. A blueprint may run the user.
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved tour").wait_for()
    node(page, "touch").dblclick()
    node(page, "approach").locator(".is-runs").wait_for()
    assert page.locator(".is-runs").count() == 2
    robot.program_states = []
    page.locator(".is-runs").first.wait_for(state="detached")

    # A blueprint's node opens the program that it runs, down to the active states.
    robot.seconds = 30.0
    open_text(page, "name: walk\nstart: a\nnodes:\n  a: {skill: move_until_contact}\n")
    page.get_by_role("button", name="Operate").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved walk").wait_for()
    page.get_by_role("tab", name="Run", exact=True).click()
    page.get_by_role("button", name="Start walk").click()
    node(page, "a").locator(".is-runs").wait_for()
    robot.program_states = [program_state("", "n1__approach", "n1__watch")]
    node(page, "a").dblclick()
    node(page, "approach").locator(".is-runs").wait_for()
    assert page.locator(".is-runs").count() == 2
    picture(page, "program_of_a_run")
    # Another program that happens to have a state of this name does not look as if it ran.
    page.get_by_role("tab", name="Files").click()
    page.locator(".skill-item:has(.skill-name:text-is('act_on_object'))").click()
    node(page, "approach").wait_for()
    page.wait_for_timeout(500)
    assert page.locator(".is-runs").count() == 0


def test_the_index_says_where_a_program_comes_from_and_who_uses_it(
    come: Callable[..., Any], editor: Served, picture: Any
) -> None:
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    described = USES.replace("start: touch", "description: Touches, then rests.\ntags: [demo]\nstart: touch")
    for text in (USES, described):
        assert editor.post("save_program", {"text": text}, cookie=cookie)[1]["success"]
    walk = "name: walk\nstart: a\nnodes:\n  a: {skill: move_until_contact}\n"
    assert editor.post("save_skill", {"text": walk}, cookie=cookie)[1]["success"]
    page = come()
    page.get_by_role("tab", name="Files").click()

    def row(name: str) -> list[str]:
        item = page.locator(f".skill-item:has(.skill-name:text-is('{name}'))")
        item.wait_for()
        return [str(line) for line in item.locator("span").all_inner_texts()]

    page.get_by_text("used by").first.wait_for()
    assert row("tour") == ["tour", "version 2, kept: demo", "Touches, then rests."]
    contact = row("move_until_contact")
    assert contact[1].startswith("of the library: ") and contact[-1] == "used by tour, walk", contact
    picture(page, "program_index")
    assert serious(page) == []


def test_N48_a_moved_state_changes_one_line_and_stays(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, USES)
    settled(page)
    before, box = text_of(page), node(page, "touch").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 44, steps=6)
    page.mouse.up()
    after = text_of(page)
    added = after.removeprefix(before)
    assert added.startswith("view:\n  touch: [") and after.startswith(before), after
    settled(page)
    assert page.locator(".good-line").inner_text() == "No mistakes."
    # Again, by the keyboard: the same line.
    node(page, "touch").focus()
    page.keyboard.press("ArrowRight")
    assert len(text_of(page).splitlines()) == len(after.splitlines()) and text_of(page) != after
    kept = text_of(page)
    page.reload()
    page.wait_for_selector(".node")
    settled(page)
    assert text_of(page) == kept and overlaps(page) == []
    picture(page, "program_moved")
    assert ProgramTemplate(kept).sample().definition == ProgramTemplate(USES).sample().definition
    page.get_by_role("button", name="Arrange").click()
    assert text_of(page) == before


def test_E12_two_people_save_the_same_program(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    ann = come("Ann")
    open_text(ann, USES)
    ann.get_by_role("button", name="Save", exact=True).click()
    ann.get_by_text("Saved tour as version 1").wait_for()
    cookie = editor.enter(editor.server.keys.operate, "Ben")
    theirs = USES.replace("elapsed > 1", "elapsed > 2")
    assert editor.post("save_program", {"text": theirs, "based_on": 1}, cookie=cookie)[1]["success"]
    node(ann, "rest").click()
    ann.get_by_label("Condition 1").fill("elapsed > 3")
    ann.get_by_role("button", name="Save", exact=True).click()
    ann.get_by_text("Somebody else saved tour meanwhile").wait_for()
    assert "elapsed > 2" in ann.locator(".difference .removed").inner_text()
    assert "elapsed > 3" in ann.locator(".difference .added").inner_text()
    picture(ann, "program_overtaken")
    ann.get_by_role("button", name="Save mine as the next version").click()
    ann.get_by_text("Saved tour as version 3").wait_for()
    first, second, third = robot.own_programs["tour"]
    assert (first, second) == (USES, theirs) and "elapsed > 3" in third
    # All versions were deleted meanwhile: that can be saved over as well.
    assert editor.post("delete_program", {"name": "tour"}, cookie=cookie)[1]["success"]
    ann.get_by_label("Condition 1").fill("elapsed > 4")
    ann.get_by_role("button", name="Save", exact=True).click()
    ann.get_by_text("Somebody else saved tour meanwhile").wait_for()
    ann.get_by_role("button", name="Save mine as the next version").click()
    ann.get_by_text("Saved tour as version 1").wait_for()


def test_motion_commands_and_strategies_have_forms(come: Callable[..., Any], picture: Any) -> None:
    page = come()
    open_text(page, "name: swing\nstart: stay\nactions:\n  stay: {type: hold, parts: arm}   # to begin with\n")
    add_action(page, "motion_group")
    command = page.get_by_role("group", name="Command 1")
    assert command.get_by_label("Command 1: part").input_value() == "arm"
    zeros = "[0, 0, 0, 0, 0, 0, 0]"
    assert command.get_by_label("position [rad or m]").input_value() == zeros
    page.get_by_role("button", name="Add a motion command").click()
    second = page.get_by_role("group", name="Command 2")
    second.get_by_label("It goes to").select_option("velocity")
    second.get_by_label("time [s]").fill("2.5")
    second.locator("summary").click()
    second.get_by_label("speed", exact=True).fill("fast")
    page.keyboard.press("Escape")
    settled(page)
    # The mistake is at its command, and goes.
    wrong = second.locator(".bad-hint")
    wrong.first.wait_for()
    assert command.locator(".bad-hint").count() == 0
    second.get_by_label("speed", exact=True).fill("0.5")
    settled(page)
    wrong.first.wait_for(state="detached")
    second.get_by_role("button", name="Command 2 earlier").click()
    assert page.get_by_role("group", name="Command 1").get_by_label("It goes to").input_value() == "velocity"
    page.get_by_role("button", name="Remove command 1").click()
    page.get_by_role("group", name="Command 2").wait_for(state="detached")
    settled(page)
    picture(page, "program_commands")
    assert serious(page) == []

    # A law for each degree of freedom: forms of what the law declares.
    add_action(page, "govern_tool")
    page.get_by_label("Degree of freedom").select_option("z")
    page.get_by_role("button", name="Govern it").click()
    slow = page.get_by_role("group", name="Strategy 1 of z")
    slow.get_by_label("Name of strategy 1 of z").fill("slow")
    slow.get_by_label("Name of strategy 1 of z").press("Enter")
    page.get_by_role("button", name="Add a strategy of z").click()
    press = page.get_by_role("group", name="Strategy 1 of z")
    press.get_by_label("Law 1 of z").select_option("force")
    settled(page)
    invalid = press.locator(".field:has(input[aria-invalid]) label")
    assert invalid.all_inner_texts() == ["Input force [effort]", "force [effort]"]
    picture(page, "program_strategy_mistakes")
    press.get_by_label("Input force [effort]", exact=True).fill("below.dis")
    page.get_by_role("option", name="below.distance").click()
    press.get_by_label("force [effort]", exact=True).fill("-5")
    press.get_by_label("Condition of strategy 1 of z").fill("below.distance < 0.1")
    page.keyboard.press("Escape")
    last = page.get_by_role("group", name="Strategy 2 of z")
    last.get_by_label("velocity [joint/s]").fill("-0.01")
    settled(page)
    picture(page, "program_strategies")
    written = ProgramTemplate(text_of(page)).sample().definition.actions[-1].strategies
    assert [(a.axis, [(s.name, s.law, s.when) for s in a.strategies]) for a in written] == [
        ("z", [("force", "force", "below.distance < 0.1"), ("slow", "velocity", "")])]
    assert "# to begin with" in text_of(page)
    assert serious(page) == []
    page.get_by_role("button", name="Remove strategy 1 of z").click()
    page.get_by_role("button", name="Remove strategy 1 of z").click()
    assert "strategies" not in text_of(page)


def test_programs_are_no_skills_while_their_list_is_awaited(come: Callable[..., Any]) -> None:
    """The executor of blueprints lists the library's programs as skills: opened as one, nothing would be drawn."""
    page, held, is_held = come(), list[Any](), True
    page.route("**/api/list_programs", lambda route: held.append(route) if is_held else route.continue_())
    page.reload()
    page.wait_for_selector(".skill-item")  # on the tab of skills: they have come
    page.get_by_role("tab", name="Files").click()
    page.get_by_text("Reading what is kept").wait_for()
    assert page.locator(".skill-item").count() == page.locator(".examples .skill-item").count()
    is_held = False
    for route in held:
        route.continue_()
    page.locator(".skill-item:has(.skill-name:text-is('move_to_corner'))").click()
    page.wait_for_selector(".node")


def test_the_library_is_drawn(come: Callable[..., Any], picture: Any) -> None:
    page, found = come(), {}
    page.get_by_role("tab", name="Files").click()
    for name in ("act_on_object", "move_object", "move_to_corner", "peg_in_hole", "trace_edge"):
        page.locator(f".skill-item:has(.skill-name:text-is('{name}'))").click()
        page.locator(".doc-tab.active", has_text=name).wait_for()
        page.wait_for_selector(".node")
        settled(page)
        if wrong := [*overlaps(page), *page.locator(".mistakes .bad").all_inner_texts()]:
            found[name] = wrong
        picture(page, f"program_{name}")
    assert found == {}
