"""Rule E31 of docs/semantics/editor.md: a goal as a ghost in the scene, dragged with handles, keys and sliders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cell_robot import CellRobot
from pages import node, open_text, serious, text_of, until

from robot_rt_control.model.workcell.part_facts import PartFacts

Q = [0.3, 0.6, 0.1, 1.4, 0.0, 1.1, 0.2]
P, DOWN = [0.5, 0.1, 0.45], [1.0, 0.0, 0.0, 0.0]
TEXT = f"""name: teach
nodes:
  a: {{skill: move_joint, with: {{position: {Q}}}}}
  b: {{skill: move_linear, with: {{position: {P}, orientation: {DOWN}}}}}
  c: {{wait: 1}}
"""
VIEW = "document.querySelector('.robot-scene')?.view"
Array = np.ndarray[Any, Any]


@pytest.fixture
def robot(tmp_path: Path) -> Iterator[CellRobot]:
    made = CellRobot(tmp_path / "skills")
    yield made
    made.close()


@pytest.fixture
def arm(robot: CellRobot) -> PartFacts:
    return PartFacts(robot.client.cell.workcell.part("arm"))


@pytest.fixture
def show(come: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the scene beside the form of a node: `show("a", watching=True)`."""

    def shown(id: str, **options: Any) -> Any:
        page = come(**options)
        open_text(page, TEXT)
        node(page, id).click()
        page.get_by_role("button", name="Robot", exact=True).click()
        page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.loading === 0 && {VIEW}.goal")
        return page

    return shown


def pose(page: Any) -> Array:
    """(4, 4) of the ghost's tool, as it is drawn."""
    return np.reshape(page.evaluate(f"() => {VIEW}.goalPose('arm_tool')"), (4, 4)).T


def off(page: Any, arm: PartFacts, q: list[float]) -> float:
    """[m, or of an axis] How far the ghost's tool is from where forward kinematics has it."""
    X, (p, o) = pose(page), arm.forward(q)
    x, y, z, w = o
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    return float(max(np.linalg.norm(X[:3, 3] - p), np.abs(X[:3, :3] - R).max()))


def numbers(page: Any, name: str, after: str = "nodes:") -> list[float]:
    """The values of the first such field in the text."""
    found = re.search(rf"{name}: \[([^\]]*)\]", text_of(page).partition(after)[2])
    assert found
    return [float(each) for each in found[1].split(",")]


def take_handle(page: Any, axis: str) -> tuple[float, float, Array]:
    """Put the mouse on the arrow of an axis of the handles: where that is, and the way along the arrow [pixels]."""
    along = np.array([float(axis == each) for each in "XYZ"])
    begin = np.array(page.evaluate(f"() => {VIEW}.placeOfHandle([0, 0, 0])"))
    for length in np.arange(0.03, 0.4, 0.01):
        x, y = page.evaluate(f"at => {VIEW}.placeOfHandle(at)", (length * along).tolist())
        page.mouse.move(x, y)
        if page.evaluate(f"() => {VIEW}.goal.controls.axis") == axis:
            way = np.array([x, y]) - begin
            return x, y, way / np.linalg.norm(way)
    raise AssertionError(f"no arrow {axis}")


def drag(page: Any, axis: str, pixels: float) -> None:
    """Drag the handles along an axis, and hold the button."""
    x, y, way = take_handle(page, axis)
    page.mouse.down()
    page.mouse.move(x + pixels * way[0], y + pixels * way[1], steps=6)


def state(page: Any) -> Any:
    return page.get_by_label("Whether it can be reached")


def test_E31_the_ghost_is_where_forward_kinematics_says_and_is_dragged_by_its_tool(
    show: Callable[..., Any], robot: CellRobot, arm: PartFacts, picture: Any
) -> None:
    page = show("a")
    state(page).get_by_text("The robot can be there.").wait_for()
    assert off(page, arm, Q) < 1e-4
    picture(page, "goal_joints")
    before, first = text_of(page), pose(page)
    drag(page, "Z", 50)
    until(page, lambda: abs(pose(page)[2, 3] - first[2, 3]) > 0.01)
    assert text_of(page) == before, "nothing is written while it is dragged"
    picture(page, "goal_dragged")
    page.mouse.up()
    until(page, lambda: text_of(page) != before)
    q = numbers(page, "position")
    until(page, lambda: off(page, arm, q) < 1e-4)
    moved = pose(page) - first
    assert moved[2, 3] < -0.02, "the tool's z axis points down, and so does the arrow that is taken"
    assert np.abs(np.delete(moved.ravel(), 11)).max() < 1e-3, "along z alone"
    page.get_by_role("button", name="Undo", exact=True).click()
    until(page, lambda: text_of(page) == before)
    until(page, lambda: off(page, arm, Q) < 1e-4)


def test_E31_a_goal_out_of_reach_says_by_how_much_and_is_not_written(
    show: Callable[..., Any], robot: CellRobot, arm: PartFacts, picture: Any
) -> None:
    page = show("b")
    state(page).get_by_text("The robot can be there.").wait_for()
    until(page, lambda: np.linalg.norm(pose(page)[:3, 3] - P) < 1e-4)
    before = text_of(page)
    drag(page, "X", 400)
    state(page).get_by_text(re.compile(r"^out of reach by \d+ mm")).wait_for()
    red = f"() => {VIEW}.goal.robots.painted.some(({{material: {{color}}}}) => color.r > 0.4 && color.g < 0.3)"
    assert page.evaluate(red)
    picture(page, "goal_out_of_reach")
    page.mouse.up()
    state(page).get_by_text(re.compile(r"^Not taken: out of reach by \d+ mm")).wait_for()
    until(page, lambda: np.linalg.norm(pose(page)[:3, 3] - P) < 1e-4)
    assert text_of(page) == before and not page.evaluate(red)
    limits = arm.limits("position_upper")
    page.get_by_role("toolbar", name="Edit").get_by_role("button", name="Picture").click()
    node(page, "a").click()
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_role("combobox", name="position", exact=True).fill(", ".join(str(each) for each in [0.0, 9.0, *Q[2:]]))
    state(page).get_by_text(f"joint_2 at 9.0000 rad, at most {limits[1]:.4f} rad is allowed").wait_for()


def test_E31_keys_buttons_and_sliders_drag_it_too(
    show: Callable[..., Any], robot: CellRobot, arm: PartFacts, picture: Any
) -> None:
    page = show("b")
    state(page).get_by_text("The robot can be there.").wait_for()
    page.get_by_label("The robot", exact=True).focus()
    page.keyboard.press("ArrowRight")
    until(page, lambda: numbers(page, "position", "b:")[0] == pytest.approx(P[0] + 0.01))
    page.get_by_label("The robot", exact=True).focus()
    page.keyboard.press("PageDown")
    until(page, lambda: numbers(page, "position", "b:")[2] == pytest.approx(P[2] - 0.01))
    assert numbers(page, "orientation") == DOWN, "it was not turned"
    page.get_by_role("button", name="Turn", exact=True).click()
    page.get_by_role("button", name="Turn about z +").click()
    until(page, lambda: numbers(page, "orientation")[1] == pytest.approx(np.sin(np.radians(2.5)), abs=1e-6))
    assert serious(page) == []
    page.get_by_role("toolbar", name="Edit").get_by_role("button", name="Picture").click()
    node(page, "a").click()
    page.get_by_role("button", name="Robot", exact=True).click()
    slider = page.get_by_label(re.compile("^joint_1 "))
    slider.focus()
    page.keyboard.press("ArrowRight")
    until(page, lambda: numbers(page, "position")[0] == pytest.approx(0.301, abs=1e-6))
    until(page, lambda: off(page, arm, [0.301, *Q[1:]]) < 1e-4)
    page.get_by_role("toolbar", name="Edit").get_by_role("button", name="Picture").click()
    node(page, "c").click()
    page.get_by_role("button", name="Robot", exact=True).click()
    page.wait_for_function(f"() => {VIEW}?.shown")
    assert page.get_by_label("The goal in the scene").count() == 0
    assert page.evaluate(f"() => {VIEW}.goal") is None


def test_E31_who_only_watches_sees_the_ghost_without_handles(
    show: Callable[..., Any], robot: CellRobot, arm: PartFacts, picture: Any
) -> None:
    page = show("a", watching=True, allow="403")
    state(page).get_by_text("The robot can be there.").wait_for()
    assert off(page, arm, Q) < 1e-4
    assert page.evaluate(f"() => {VIEW}.goal.controls") is None
    panel = page.get_by_label("The goal in the scene")
    assert panel.get_by_role("button").count() == 0
    assert all(each.is_disabled() for each in panel.get_by_role("slider").all())
    assert panel.get_by_role("slider").count() == 7
    picture(page, "goal_watching")
