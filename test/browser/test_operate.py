"""Operating from the page of the view, in a real browser and on a loop that ticks."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cell_robot import CellRobot
from pages import until

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


def test_E22_a_held_button_moves_the_joint_and_a_killed_page_stops_it(
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
