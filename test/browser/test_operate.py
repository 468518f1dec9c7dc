"""Operating from the page of the view, in a real browser and on a loop that ticks."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cell_robot import CellRobot
from fed_ticks import LAST, Cell
from pages import node, open_text, serious, text_of, until
from served_editor import Served

from robot_rt_control.editor.installed import PAGE as INSTALLED
from robot_rt_control.vocabulary.enums import CommandMode

PAGE = "view.html"


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[CellRobot]:
    made = CellRobot(tmp_path / "skills")
    yield made
    made.close()


@pytest.fixture
def operate(come: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the view with its panel: `operate("Ann", watching=True)`."""

    def opened(name: str = "Ann", **options: Any) -> Any:
        page = come(name, page_name=PAGE, **options)
        page.get_by_role("button", name="States" if options.get("watching") else "Operate").first.click()
        page.get_by_label("Joints of arm").wait_for()
        return page

    return opened


def button(page: Any, label: str) -> Any:
    return page.get_by_role("button", name=label, exact=True)


def press(page: Any, label: str) -> None:
    """Put the mouse on a button, and hold it."""
    found = button(page, label)
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()


def hold(page: Any, robot: CellRobot, label: str, joint: int) -> None:
    """Hold a button until the joint moves: a page that stalls has to press again."""
    begun = robot.q[joint]

    def moves() -> bool:
        if button(page, label).get_attribute("aria-pressed") == "false":
            page.mouse.up()
            press(page, label)
        return robot.q[joint] != begun

    until(page, moves)


def renderers(chromium: Any) -> set[int]:
    """Processes of the browser that run pages."""
    found = chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return {process["id"] for process in found if process["type"] == "renderer"}


def rests(robot: CellRobot) -> bool:
    before, begun = robot.q, robot.client.cell.tick
    while robot.client.cell.tick < begun + 50:
        time.sleep(0.005)
    return robot.q == before


def take_over(page: Any) -> None:
    page.get_by_label("Operate the robot").get_by_role("button", name="Operate", exact=True).click()
    page.get_by_text("You operate", exact=True).wait_for()


def test_E26_a_held_button_moves_the_joint_and_a_killed_page_stops_it(
    operate: Callable[..., Any], robot: CellRobot, picture: Any, chromium: Any
) -> None:
    other, before = operate("Ben"), renderers(chromium)
    page = operate()
    take_over(page)
    hold(page, robot, "joint_4 +", 3)
    picture(page, "operate")
    page.mouse.up()
    until(page, lambda: rests(robot))
    hold(page, robot, "joint_4 −", 3)
    for process in renderers(chromium) - before:
        os.kill(process, signal.SIGKILL)
    until(other, lambda: rests(robot))
    assert button(other, "joint_4 +").is_disabled(), "who does not operate jogs nothing"


def test_E26_lost_focus_a_key_that_goes_up_and_stop_end_the_motion(
    operate: Callable[..., Any], robot: CellRobot
) -> None:
    page = operate()
    take_over(page)
    hold(page, robot, "joint_1 +", 0)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    until(page, lambda: rests(robot))
    assert button(page, "joint_1 +").get_attribute("aria-pressed") == "false", "held by the mouse alone"
    page.mouse.up()

    begun = robot.q[0]
    button(page, "joint_1 −").focus()

    def moved_by_key() -> bool:
        if button(page, "joint_1 −").get_attribute("aria-pressed") == "false":
            page.keyboard.up(" ")
            page.keyboard.down(" ")
        return robot.q[0] < begun

    until(page, moved_by_key)
    page.keyboard.up(" ")
    until(page, lambda: rests(robot))

    hold(page, robot, "z +", 3)
    page.keyboard.press("Control+.")
    page.get_by_role("button", name="STOPPED").wait_for()
    until(page, lambda: rests(robot))
    page.get_by_text("A protective stop is latched.").wait_for()
    assert button(page, "z +").is_disabled()
    page.mouse.up()
    page.get_by_role("button", name="Release the protective stop").click()
    hold(page, robot, "z +", 3)
    page.mouse.up()
    until(page, lambda: rests(robot))


def test_E27_who_only_watches_sees_states_and_is_offered_nothing_but_stop(
    operate: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    page = operate("Eve", watching=True, allow="403")
    panel = page.get_by_label("Operate the robot")
    page.get_by_label("Parts").get_by_text("enabled").first.wait_for()
    page.get_by_text("1.5708").wait_for()
    assert panel.get_by_role("button").all_inner_texts() == ["Copy the joints", "Copy the tool’s pose"]
    assert panel.get_by_role("slider").count() == 0
    answers = page.evaluate(
        """async () => Promise.all(['jog', 'set_motion', 'start_action', 'end_action', 'speed'].map(async (name) => (
            await fetch(`/api/${name}`, {method: 'POST', headers: {'Content-Type': 'application/json'},
                body: JSON.stringify({hold: 'a', part: 'arm', joint: 0, direction: 1, speed: 0.1, command: 'disable'})})
        ).status))"""
    )
    assert answers == [403] * 5
    assert serious(page) == []
    picture(page, "operate_watching")


def test_E27_parts_are_disabled_and_enabled_by_who_operates(
    operate: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    page = operate()
    disable = button(page, "Disable: arm")
    assert disable.is_disabled() and button(page, "joint_1 +").is_disabled(), "who does not operate"
    take_over(page)
    disable.click()
    page.get_by_text("arm is disabled: it can be jogged once it is enabled.").wait_for()
    assert button(page, "joint_1 +").is_disabled()
    button(page, "Enable: arm").click()
    disable.wait_for()
    assert serious(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    button(page, "joint_1 +").scroll_into_view_if_needed()
    picture(page, "operate_narrow")


def test_E28_an_action_is_started_by_its_form_refused_at_its_field_and_ended(
    operate: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    page = operate()
    take_over(page)
    page.get_by_label("Action", exact=True).select_option("move_linear")
    offset = page.get_by_label("offset [m]")
    offset.fill("0, 0")
    start = page.get_by_role("button", name="▶ Start move_linear")
    start.click()
    page.locator(".field:has(input[aria-invalid=true])", has_text="offset").get_by_role("alert").wait_for()
    picture(page, "operate_refused")
    offset.fill("0, 0, 0.03")
    with robot.turn:
        begun = robot.client.value("arm.tool.z")
    start.click()
    page.get_by_label("Started here").get_by_text("done", exact=True).wait_for()
    with robot.turn:
        assert abs(robot.client.value("arm.tool.z") - begun - 0.03) < 1e-3
    page.get_by_label("Action", exact=True).select_option("hold")
    page.get_by_label("Until").fill("arm.position[0] > 3")
    page.get_by_role("button", name="▶ Start hold").click()
    page.get_by_role("button", name="End hold").click()
    page.get_by_label("Started here").get_by_text("cancelled", exact=True).wait_for()
    picture(page, "operate_started")


def test_E26_a_finger_holds_a_button_and_the_lost_operator_lets_it_go(
    chromium: Any, come: Callable[..., Any], robot: CellRobot, editor: Served
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = come(context=context, page_name=PAGE, allow="409")
    page.get_by_role("button", name="Operate").first.click()
    page.get_by_label("Joints of arm").wait_for()
    take_over(page)
    found = button(page, "joint_2 +")
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    fingers = context.new_cdp_session(page)
    begun = robot.q[1]
    touch = lambda kind, *points: fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})  # noqa: E731
    touch("touchStart", place)

    def moves() -> bool:
        if found.get_attribute("aria-pressed") == "false":
            touch("touchEnd")
            touch("touchStart", place)
        return robot.q[1] > begun

    until(page, moves)
    ben = editor.enter(editor.server.keys.operate, "Ben")
    operator = editor.server.people.operator
    assert operator is not None
    assert editor.post("operate", {"take": True, "instead_of": operator.id}, cookie=ben)[1]["success"]
    until(page, lambda: rests(robot))
    page.get_by_text("Ben operates, but has no page open").wait_for()
    assert found.is_disabled() and found.get_attribute("aria-pressed") == "false"
    context.close()


def test_the_editor_takes_the_present_pose_and_has_the_panel_in_its_tab(
    come: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    page = come()
    open_text(page, "name: teach\nnodes:\n  a: {skill: move_joint}\n  b: {skill: move_linear}\n")
    node(page, "a").click()
    page.get_by_role("button", name="Take the present joints of arm").click()
    until(page, lambda: "position: [0, 0.5236, 0, 1.5708, 0, 1.0472, 0]" in text_of(page))
    page.get_by_role("button", name="Take the present position of arm").click()
    until(page, lambda: "tool_position: [0.556" in text_of(page))
    picture(page, "operate_take")
    node(page, "b").click()
    page.get_by_label("offset [m]").fill("0, 0, 0.06")
    until(page, lambda: "offset: [0, 0, 0.06]" in text_of(page))
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_label("The robot").get_by_role("button", name="Operate", exact=True).click()
    page.get_by_label("Joints of arm").wait_for()
    assert page.get_by_label("Operate the robot").get_by_text("Nobody operates").count() == 0, "it stands above all"
    picture(page, "operate_tab")


def test_E32_an_arm_is_guided_by_hand_while_its_button_is_held(
    operate: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    page = operate()
    guide = button(page, "Guide arm by hand")
    assert guide.is_disabled(), "who does not operate"
    take_over(page)

    def carries_itself() -> bool:
        with robot.turn:
            return int(robot.client.cell.part("arm").command_mode) == int(CommandMode.EFFORT)

    press(page, "Guide arm by hand")

    def guided() -> bool:
        if guide.get_attribute("aria-pressed") == "false":  # a page that stalls has to press again
            page.mouse.up()
            press(page, "Guide arm by hand")
        return carries_itself()

    until(page, guided)
    picture(page, "operate_guided")
    page.mouse.up()
    until(page, lambda: not carries_itself())
    page.get_by_label("Part", exact=True).select_option("gripper")
    assert button(page, "Guide gripper by hand").count() == 0, "it has no tool"


def test_H16_stop_is_live_and_nothing_is_jogged_while_the_past_is_shown(
    operate: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    names = robot.client.cell.workcell.joint_state_names()["arm"]
    cell = Cell(robot, names)
    page = operate()
    take_over(page)
    button(page, "Back in time").click()
    cell.feed(1, LAST)
    page.wait_for_function("last => document.querySelector('[aria-label=Moment]')?.max === String(last)", arg=LAST)
    hold(page, robot, "joint_4 +", 3)
    page.evaluate("() => document.querySelector('[aria-label=\"A tick back\"]').click()")
    page.get_by_text("The picture shows the past").wait_for()
    until(page, lambda: rests(robot))
    page.mouse.up()
    assert all(found.is_disabled() for found in page.locator(".jog .held-button").all())
    page.get_by_label("Moment").fill("2000")
    page.get_by_text(re.compile(r"\d+\.\d s before now")).wait_for()  # it grows: no further tick comes
    page.wait_for_function("() => document.querySelector('[aria-label=Moment]')?.value === '2000'")
    picture(page, "look_back_operate")
    button(page, "STOP").click()
    until(page, lambda: robot.stopped)
    button(page, "STOPPED").wait_for()
    assert page.get_by_text("THE PAST", exact=True).count() == 1
    page.get_by_role("status").get_by_role("button", name="Now").click()
    page.get_by_text("The picture shows the past").wait_for(state="detached")


def test_E15_stop_stays_if_a_part_of_the_page_cannot_be_loaded(
    chromium: Any, come: Callable[..., Any], robot: CellRobot, picture: Any
) -> None:
    at_first = re.findall(r"part-\w+\.js", (INSTALLED / "view.html").read_text())
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.route(
        re.compile(r"/part-\w+\.js$"),
        lambda route: route.continue_() if route.request.url.rsplit("/", 1)[-1] in at_first else route.abort(),
    )
    context.route(re.compile(r"/timeline\.js$"), lambda route: route.abort())
    page = come(page_name=PAGE, context=context, allow="part-|timeline|Failed to load")
    page.get_by_role("button", name="Operate").first.click()
    page.get_by_text("This part of the page failed").wait_for()
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.get_by_text("The timeline cannot be loaded").wait_for()
    picture(page, "view_without_a_part")
    page.get_by_role("button", name="STOP", exact=True).click()
    until(page, lambda: robot.stopped)
    context.close()
