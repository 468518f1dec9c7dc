"""STOP, wherever one looks: under dialogs, on a narrow page, in two editors at once, and when something is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from memory_robot import MemoryRobot
from pages import new, node, open_text, program_state, tab_to, until
from served_editor import Served, served

TOUR = "name: tour\nnodes:\n  a: {wait: 1, then: b}\n  b: {wait: 60}\n"


def stop(page: Any) -> Any:
    return page.get_by_role("button", name="STOP", exact=True)


def can_be_hit(page: Any) -> bool:
    """Whether STOP is the uppermost thing at its place, wholly on the page, and can have the focus."""
    found = page.evaluate(
        """() => {
            const it = [...document.querySelectorAll('button')].find((each) => each.textContent.startsWith('STOP'));
            const box = it.getBoundingClientRect();
            const points = [[box.left + 2, box.top + box.height / 2], [box.right - 2, box.top + box.height / 2],
                            [(box.left + box.right) / 2, box.top + 2], [(box.left + box.right) / 2, box.bottom - 2]];
            const before = document.activeElement;
            it.focus();
            const focused = document.activeElement === it;
            before?.focus();
            return focused && !it.disabled && box.left >= 0 && box.top >= 0 && box.right <= window.innerWidth
                && box.bottom <= window.innerHeight && points.every(([x, y]) => document.elementFromPoint(x, y) === it);
        }"""
    )
    return bool(found)


def press_and_release(page: Any, robot: MemoryRobot, press: Callable[[], object]) -> None:
    """Stop in some way, and take it back."""
    assert not robot.stopped
    press()
    until(page, lambda: robot.stopped)
    robot.latch("editor", "", stop=False)
    stop(page).wait_for()


def column(page: Any, name: str) -> Any:
    """Have it shown on a narrow page, which shows one column. Returns the page."""
    choice = page.get_by_role("navigation", name="What is shown").get_by_role("button", name=name)
    if choice.is_visible():
        choice.click()
    return page


DIALOGS = {
    "new": lambda page: page.get_by_role("button", name="New blueprint").last.click(),
    "new_program": lambda page: (column(page, "Skills and files").get_by_role("tab", name="Files").click(),
                                 page.get_by_role("button", name="New program").click()),
    "help": lambda page: page.get_by_role("button", name="Keys and help").click(),
    "name": lambda page: page.get_by_title("Your name, as others see it").click(),
    "extract": lambda page: (column(page, "Picture").locator(".react-flow__pane").click(position={"x": 8, "y": 8}),
                             page.keyboard.press("Control+a"), page.keyboard.press("Control+g")),
    "confirm": lambda page: page.get_by_role("button", name="Close tour").click(),
}  # fmt: skip


@pytest.mark.parametrize("width", [1280, 390])
def test_E15_stop_works_under_every_dialog(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any, width: int
) -> None:
    page = come()
    open_text(page, TOUR)
    page.set_viewport_size({"width": width, "height": 800})
    for kind, show in DIALOGS.items():
        show(page)
        dialog = page.locator(f"dialog[open][aria-label={kind}]")
        dialog.wait_for()
        assert can_be_hit(page), kind
        assert page.evaluate("() => document.querySelector('.app').inert"), "all else is under the dialog"
        press_and_release(page, robot, stop(page).click)
        press_and_release(page, robot, lambda: page.keyboard.press("Control+."))
        press_and_release(page, robot, lambda: page.keyboard.press("Pause"))
        tab_to(page, "STOP")
        press_and_release(page, robot, lambda: page.keyboard.press("Enter"))
        dialog.wait_for()
        picture(page, f"stop_under_{kind}_{width}")
        page.keyboard.press("Escape")  # also from STOP
        dialog.wait_for(state="detached")


def test_E15_stop_acts_before_a_finger_or_mouse_is_let_go(
    chromium: Any, come: Callable[..., Any], robot: MemoryRobot
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = come(context=context)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
    box = stop(page).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    finger = context.new_cdp_session(page)
    touch = "Input.dispatchTouchEvent"
    press_and_release(
        page, robot, lambda: finger.send(touch, {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    )
    finger.send(touch, {"type": "touchEnd", "touchPoints": []})
    page.mouse.move(x, y)
    press_and_release(page, robot, page.mouse.down)
    page.mouse.up()
    stop(page).focus()
    press_and_release(page, robot, lambda: page.keyboard.press("Enter"))
    page.keyboard.press("Control+.")
    until(page, lambda: robot.stopped)
    assert asked.count("protective_stop") == 4, "letting go is no second press"
    context.close()


def test_E15_stop_is_on_a_narrow_page_in_all_its_states(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = come("Eve, whose name is long", watching=True)
    for width, height in ((390, 844), (320, 560), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        assert can_be_hit(page), width
        robot.latch("door", "the door of the cell is open " * 5)
        page.get_by_text("the door of the cell is open").first.wait_for()
        assert can_be_hit(page), "somebody else's stop does not take STOP away"
        press = stop(page)
        press.click()
        page.get_by_role("button", name="STOPPED").wait_for()
        assert [each["source"] for each in robot.stops] == ["door", "editor"] and can_be_hit(page)
        assert "Eve" in robot.stops[-1]["who"], "who only watches is named as well"
        picture(page, f"narrow_{width}")
        for source in ("door", "editor"):
            robot.latch(source, "", stop=False)
        stop(page).wait_for()


def test_E15_latched_stops_are_listed_and_the_pages_own_is_released(
    come: Callable[..., Any], robot: MemoryRobot
) -> None:
    page = come()
    robot.latch("door", "door open", "cell")
    page.get_by_text("Nothing starts before it is released").wait_for()
    page.get_by_text("is released where it was made").wait_for()
    assert page.get_by_role("button", name="Release the protective stop").count() == 0
    stop(page).click()
    page.get_by_text("Nothing starts before all 2 are released").wait_for()
    page.get_by_role("button", name="Release the protective stop").click()
    stop(page).wait_for()
    assert [each["source"] for each in robot.stops] == ["door"]
    robot.latch("door", "", stop=False)
    page.locator(".stops").wait_for(state="detached")


def test_E19_a_suspended_session_is_shown_and_resumed(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page, watching = come(), come("Eve", watching=True)
    robot.latch("door", "door open")
    robot.program_states = [{**program_state("touch_down", "down"), "suspended": True}]
    resume = page.get_by_role("button", name="Resume s1")
    for each in (page, watching):
        each.get_by_text("nothing of this session starts until somebody resumes it").wait_for()
        assert each.get_by_role("button", name="Resume s1").count() == 0, "first the stop is released"
    robot.latch("door", "", stop=False)
    resume.wait_for()
    assert watching.get_by_role("button", name="Resume s1").count() == 0 and can_be_hit(page)
    picture(page, "suspended")
    resume.click()
    for each in (page, watching):
        each.locator(".stops").wait_for(state="detached")
    assert ("resume", {"session": "s1", "who": "editor: Ann"}) in robot.calls


def test_E15_two_editors_in_one_browser_both_stop(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, tmp_path: Any
) -> None:
    page = come()
    other_robot = MemoryRobot(tmp_path / "other", seconds=0.3)
    with served(other_robot) as other:
        second = page.context.new_page()
        second.goto(other.link)
        second.wait_for_selector(".app")
        page.bring_to_front()
        stop(page).click()
        until(page, lambda: robot.stopped)
        assert not other_robot.stopped
        stop(second).click()
        until(second, lambda: other_robot.stopped)
        page.reload()
        page.wait_for_selector(".app")
        second.close()
    other_robot.close()


def test_E15_stop_works_on_a_page_that_the_editor_does_not_know(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot, picture: Any
) -> None:
    page = come(allow="403|api/|ERR_(CONNECTION|EMPTY_RESPONSE)")
    new(page, "first")
    page.context.clear_cookies()  # the socket lives on
    stop(page).click()
    until(page, lambda: robot.stopped)
    robot.latch("editor", "", stop=False)
    page.reload()
    page.get_by_text("open the link that the editor printed").wait_for()
    assert can_be_hit(page)
    picture(page, "refused")
    press_and_release(page, robot, stop(page).click)
    press_and_release(page, robot, lambda: page.keyboard.press("Control+."))


def test_E15_a_stop_is_sent_until_the_editor_answers(
    come: Callable[..., Any], editor: Served, robot: MemoryRobot
) -> None:
    page = come(allow="403|api/|ERR_(CONNECTION|EMPTY_RESPONSE)")
    editor.end()
    page.get_by_text("This page has lost the editor").wait_for()
    assert can_be_hit(page)
    stop(page).click()
    page.get_by_text("STOP is not confirmed yet; it is sent again").wait_for()
    assert not robot.stopped
    with served(robot, editor.port):
        until(page, lambda: robot.stopped)  # of a page of the earlier start, whose cookie is worth nothing
        page.get_by_text("STOP is not confirmed yet").wait_for(state="detached")


def test_E15_stop_stays_if_the_page_fails(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = come(allow="broken on purpose")
    page.evaluate("() => { Number.prototype.toFixed = () => { throw new Error('broken on purpose'); } }")
    robot.silent = {"executor": 0.8}
    page.get_by_text("This part of the page failed; load the page again: broken on purpose").wait_for()
    assert page.locator(".app").count() == 0 and can_be_hit(page)
    picture(page, "stop_of_a_page_that_failed")
    stop(page).click()
    until(page, lambda: robot.stopped)


def test_E16_silence_is_shown_as_such_and_ends_with_the_next_word(
    come: Callable[..., Any], robot: MemoryRobot, editor: Served
) -> None:
    page = come()
    robot.silent = {"executor": 0.8}
    page.get_by_text("No word from the robot’s real-time executor for 0.8 s").wait_for()
    robot.silent = {"executor": 3.0, "blueprints": 2.0}
    page.get_by_text("No word from the blueprint executor for 2 s").wait_for()
    press_and_release(page, robot, stop(page).click)
    robot.silent = {}
    page.locator(".lost").wait_for(state="detached")
    # The editor itself says nothing: its loop hangs, and the connection stays.
    import threading

    goes_on, hangs = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        goes_on.wait(100)

    editor.loop.call_soon_threadsafe(hang)
    assert hangs.wait(60)
    try:
        page.get_by_text("No word from the editor for").wait_for()
    finally:
        goes_on.set()
    page.locator(".lost").wait_for(state="detached")
    assert node(page, "nothing").count() == 0
