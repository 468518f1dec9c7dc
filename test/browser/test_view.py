"""The view of the workcell in a real browser: robots where their joints say, and pictures that show it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from memory_robot import MemoryRobot
from pages import serious, until
from PIL import Image
from served_editor import Served

from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell

PAGE = "view.html"
VIEW = "document.querySelector('.robot-scene')?.view"


def bring(robot: MemoryRobot, name: str) -> Workcell:
    """The robot is this workcell, all its joints at 0.1."""
    workcell = load_workcell(find_workcell(name))
    robot.description_text = workcell.robot_description()
    robot.positions = {joint: 0.1 for joints in workcell.joint_state_names().values() for joint in joints}
    parts = [{"name": part.name, "joint_names": list(part.joint_names)} for part in workcell.parts]
    robot.parts = lambda: parts  # type: ignore[method-assign]
    return workcell


@pytest.fixture
def see(come: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the view, and waits until the joints are drawn: `see(name="Ann", watching=True)`."""

    def seeing(name: str = "Ann", **options: Any) -> Any:
        page = come(name, page_name=PAGE, **options)
        whole = f"{VIEW}.robots.loading === 0 && {VIEW}.robots.scene.parts.length > 0"
        page.wait_for_function(f"() => {VIEW}?.shown && {whole}")
        return page

    return seeing


def at(page: Any, robot: MemoryRobot) -> None:
    """Wait until the page shows the robot's positions."""
    ordered = page.evaluate(f"() => {VIEW}.joints")
    wanted = [robot.positions.get(name) for name in ordered]
    holds = "q[i] === null || Math.abs(value - q[i]) < 1e-6"
    page.wait_for_function(f"q => {VIEW}.shown && {VIEW}.positions.every((value, i) => {holds})", arg=wanted)


def pixels(page: Any, robot: MemoryRobot) -> np.ndarray[Any, Any]:
    """(height, width, 3) of the scene, once it shows the robot's positions."""
    at(page, robot)
    page.evaluate(f"() => {VIEW}.paint()")
    shown = page.locator(".robot-scene").screenshot()
    return np.asarray(Image.open(io.BytesIO(shown)).convert("RGB")).astype(int)


def pose(page: Any, link: str) -> np.ndarray[Any, Any]:
    found = page.evaluate(f"link => {VIEW}.pose(link)", link)
    return np.reshape(found, (4, 4)).T


@pytest.mark.parametrize("name", ["iiwa", "two_arms", "humanoid", "mobile_base"])
def test_each_link_is_where_forward_kinematics_says(see: Callable[..., Any], robot: MemoryRobot, name: str) -> None:
    """Pinocchio reads the same description by itself."""
    bring(robot, name)
    page = see()
    model = pin.buildModelFromXML(robot.description_text)
    data, random = model.createData(), np.random.default_rng(1)
    for _ in range(3):
        robot.positions = {joint: random.uniform(-1.5, 1.5) for joint in robot.positions}
        at(page, robot)
        q = pin.neutral(model)
        for joint, position in page.evaluate(f"() => {VIEW}.joints.map((name, i) => [name, {VIEW}.positions[i]])"):
            value = robot.positions.get(joint, position)  # of one that mimics another, or is in no message
            if np.isfinite(value):
                found = model.joints[model.getJointId(joint)]
                q[found.idx_q : found.idx_q + found.nq] = [np.cos(value), np.sin(value)] if found.nq == 2 else value
        pin.framesForwardKinematics(model, data, q)
        links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
        assert len(links) > 5
        for frame in links:
            X, wanted = pose(page, frame.name), data.oMf[model.getFrameId(frame.name)].homogeneous
            assert np.linalg.norm(X[:3, 3] - wanted[:3, 3]) < 1e-4, (frame.name, "[m]")
            assert np.abs(X[:3, :3] - wanted[:3, :3]).max() < 1e-5


def test_the_picture_differs_where_the_robot_moved(
    see: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    workcell = bring(robot, "iiwa")
    page = see()
    before = pixels(page, robot)
    assert np.array_equal(before, pixels(page, robot)), "a robot at rest is drawn alike"
    picture(page, "view_iiwa")
    last = workcell.joint_state_names()["arm"][-2]
    robot.positions[last] += 0.5
    after = pixels(page, robot)
    rows, columns = np.nonzero(np.abs(before - after).max(axis=2) > 30)
    height, width, _ = before.shape
    assert len(rows) > 200, "the wrist moved"
    assert rows.max() < 0.5 * height, "its upper half alone"
    assert 0.3 * width < columns.min() and columns.max() < 0.75 * width
    robot.positions[last] -= 0.5
    assert np.array_equal(before, pixels(page, robot))


def test_a_faulted_part_is_red_and_no_other(see: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    workcell = bring(robot, "two_arms")
    first, second = [part.name for part in workcell.parts if part.dof][:2]
    page = see(watching=True)
    links = {part["name"]: part["links"] for part in page.evaluate(f"() => {VIEW}.robots.scene.parts")}
    names = [link["name"] for link in page.evaluate(f"() => {VIEW}.robots.scene.links")]

    def colors(part: str) -> list[list[float]]:
        found = [page.evaluate(f"link => {VIEW}.colorOf(link)", names[n]) for n in links[part]]
        return [color for color in found if color is not None]

    healthy = {part: colors(part) for part in (first, second)}
    before = pixels(page, robot)
    robot.faults = {second: "joint 3: following error"}
    page.get_by_text("is faulted: joint 3: following error").wait_for()
    assert colors(first) == healthy[first]
    assert all(red > 0.4 and green < 0.25 and blue < 0.25 for red, green, blue in colors(second))
    picture(page, "view_fault")
    robot.faults = {}
    page.get_by_text("is faulted").wait_for(state="detached")
    assert colors(second) == healthy[second]
    assert np.array_equal(before, pixels(page, robot))


def test_what_is_missing_is_named_and_the_rest_is_drawn(
    see: Callable[..., Any], robot: MemoryRobot, tmp_path: Path, picture: Any
) -> None:
    bring(robot, "iiwa")
    large = tmp_path / "large.obj"
    with large.open("wb") as file:
        file.truncate(200 << 20)
    first, second = sorted({word for word in robot.description_text.split('"') if word.endswith(".obj")})[:2]
    robot.description_text = robot.description_text.replace(first, large.as_uri()).replace(second, "file:///no.stl")
    page = see()
    page.get_by_text("2 things are not drawn as described").click()
    page.get_by_text("large.obj has 200 MB; expected at most 16 MB for .obj").wait_for()
    page.get_by_text("nothing at /no.stl").wait_for()
    at(page, robot)
    picture(page, "view_missing")


def test_a_description_without_shapes_and_one_that_is_none(
    see: Callable[..., Any], come: Callable[..., Any], robot: MemoryRobot
) -> None:
    page = come(page_name=PAGE)
    page.get_by_text("no robot_description has come").wait_for()
    robot.description_text = "<robot"
    page.get_by_text("expected well-formed XML").wait_for()
    robot.description_text = (
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>'
    )
    robot.positions = {"j": 0.5}
    page.wait_for_function(f"() => {VIEW}?.shown")
    at(page, robot)
    assert np.allclose(pose(page, "b")[:3, :2], [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)], [0, 0]])


def test_another_tool_is_another_scene(see: Callable[..., Any], robot: MemoryRobot) -> None:
    bring(robot, "iiwa")
    page = see()
    robot.description_text = robot.description_text.replace('name="iiwa', 'name="changed_iiwa', 1)
    page.wait_for_function(f"() => {VIEW}.robots.scene.name.startsWith('changed_')")
    at(page, robot)


def test_the_camera_by_mouse_and_keys_and_views_that_are_stored(
    see: Callable[..., Any], robot: MemoryRobot
) -> None:
    bring(robot, "iiwa")
    page = see()

    def camera() -> list[float]:
        found = page.evaluate(f"() => {VIEW}.stored")
        return [*found["eye"], *found["target"], found["orthographic"]]

    begin = camera()
    page.mouse.move(640, 400)
    page.mouse.down()
    page.mouse.move(740, 430, steps=3)
    page.mouse.up()
    turned = camera()
    assert not np.allclose(turned[:3], begin[:3], atol=0.1) and np.allclose(turned[3:], begin[3:])
    page.locator(".robot-view").focus()
    page.keyboard.press("Shift+Digit2")
    page.mouse.wheel(0, 400)
    until(page, lambda: not np.allclose(camera(), turned, atol=0.1))
    page.keyboard.press("Digit2")
    until(page, lambda: np.allclose(camera(), turned))
    page.get_by_label("Parallel").check()
    assert np.allclose(camera(), [*turned[:6], True])
    page.reload()
    page.wait_for_function(f"() => {VIEW}?.shown")
    page.get_by_role("button", name="2", exact=True).click()
    until(page, lambda: np.allclose(camera(), turned))
    page.get_by_role("button", name="Top", exact=True).click()
    until(page, lambda: np.allclose(camera()[:2], camera()[3:5], atol=0.01) and camera()[2] > camera()[5] + 1)


def test_the_view_has_stop_and_is_read_by_all(see: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    bring(robot, "iiwa")
    page = see("Eve", watching=True)
    assert serious(page) == []
    page.get_by_role("button", name="STOP", exact=True).click()
    until(page, lambda: robot.stopped)
    page.get_by_role("button", name="STOPPED").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    at(page, robot)
    picture(page, "view_390")
    robot.latch("editor", "", stop=False)
    page.keyboard.press("Control+.")
    until(page, lambda: robot.stopped)


def test_what_the_control_server_draws_follows_its_frame(
    see: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    bring(robot, "iiwa")
    page = see()
    robot.positions = dict.fromkeys(robot.positions, 0.6)
    before = pixels(page, robot)

    def shape(kind: str, frame: str, *points: list[float], **more: Any) -> dict[str, Any]:
        return {"namespace": "goal", "frame": frame, "kind": kind, "points": list(points), "size": 0.05,
                "color": [0.9, 0.1, 0.1, 1.0], "colors": [], "text": "", **more}  # fmt: skip

    robot.drawn_shapes = [
        shape("sphere", "arm_tool", [0, 0, 0.1]),
        shape("arrow", "arm_tool", [0, 0, 0.2], [0, 0, 0.4], namespace="contact_force"),
        shape("lines", "world", [0, 0, 0], [0.5, 0, 0], [0, 0, 0], [0, 0.5, 0], colors=[[1, 0, 0, 1]] * 4),
        shape("line_strip", "world", [0.5, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0.5], namespace="path"),
        shape("text", "world", [0.5, 0.5, 0.6], text="joint 4", size=0.1, namespace="limits"),
        shape("sphere", "no_such_link", [0, 0, 0]),
        shape("lines", "world"),
        shape("arrow", "world", [0, 0, 0], [0, 0, 0]),
        shape("unknown", "world", [0, 0, 0]),
    ]
    drawn = f"{VIEW}.shapes.drawn"
    page.wait_for_function(f"() => {drawn}.length === 5")
    after = pixels(page, robot)
    picture(page, "view_shapes")
    assert np.count_nonzero(np.abs(after - before).max(axis=2) > 60) > 500
    place = f"() => {drawn}[0].getWorldPosition({VIEW}.stored && {drawn}[0].position.clone()).toArray()"
    for q in (0.6, 0.2):
        robot.positions = dict.fromkeys(robot.positions, q)
        at(page, robot)
        assert np.allclose(page.evaluate(place), (pose(page, "arm_tool") @ [0, 0, 0.1, 1])[:3], atol=1e-6)
    page.get_by_text("Drawn", exact=True).click()
    page.get_by_label("goals").uncheck()
    assert page.evaluate(f"() => {drawn}.map(each => each.userData.namespace)") == ["contact_force", "path", "limits"]
    robot.drawn_shapes = []
    page.wait_for_function(f"() => {drawn}.length === 0")


def test_a_followed_part_stays_in_the_middle(see: Callable[..., Any], robot: MemoryRobot) -> None:
    workcell = bring(robot, "iiwa")
    page = see()
    before = page.evaluate(f"() => {VIEW}.stored.target")
    page.get_by_label("Follow").select_option("arm")
    robot.positions[workcell.joint_state_names()["arm"][1]] += 0.5
    at(page, robot)
    after = page.evaluate(f"() => {VIEW}.stored.target")
    last = page.evaluate(f"() => {VIEW}.robots.scene.parts[0].links.at(-1)")
    name = page.evaluate(f"n => {VIEW}.robots.scene.links[n].name", last)
    assert np.linalg.norm(np.subtract(after, before)) > 0.1 and np.allclose(after, pose(page, name)[:3, 3])


def test_the_view_is_a_tab_of_the_editor(come: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    bring(robot, "iiwa")
    page = come()
    page.get_by_role("button", name="Robot", exact=True).click()
    page.wait_for_function(f"() => {VIEW}?.shown")
    at(page, robot)
    picture(page, "view_tab")
    assert robot.joints_followed
    page.get_by_role("button", name="Robot", exact=True).click()
    until(page, lambda: not robot.joints_followed)


def test_the_editor_is_served_beside_it(come: Callable[..., Any], editor: Served, robot: MemoryRobot) -> None:
    """The editor's first page loads nothing of the view."""
    asked: list[str] = []
    page = come(watching=True)
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.get_by_role("button", name="New blueprint").last.wait_for()
    assert any("editor.js" in url for url in asked)
    assert not any(name in url for url in asked for name in ("three.js", "view.js"))
