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
from pages import bring, serious, until
from PIL import Image
from served_editor import Served

PAGE = "view.html"
VIEW = "document.querySelector('.robot-scene')?.view"


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


def simulated(name: str, kind: str, *scale: float, at: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    """An object, as `Robot.objects` has it."""
    return {"name": name, "kind": kind, "position": list(at), "orientation": [0.0, 0.0, 0.0, 1.0], "triangles": [],
            "scale": list(scale), "color": [0.9, 0.5, 0.1, 1.0], "mesh": "", **more}  # fmt: skip


def object_pose(page: Any, number: int) -> list[float]:
    return [float(x) for x in page.evaluate(f"n => {VIEW}.objects.links[n].matrixWorld.toArray()", number)]


def test_an_object_that_is_pushed_is_drawn_elsewhere_and_nothing_else_changes(
    see: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    bring(robot, "iiwa")
    page = see()
    empty = pixels(page, robot)
    cube, ball = ((0.4, -0.1, 0.1), (-0.6, 0.4, 0.1))
    file = next(word for word in robot.description_text.split('"') if word.endswith(".obj"))
    profile = [[0.0, 0.6, 0.0], [0.2, 0.6, 0.0], [0.0, 0.6, 0.3]]
    robot.simulated = [
        simulated("cube", "box", 0.2, 0.2, 0.2, at=cube),
        simulated("ball", "sphere", 0.2, 0.2, 0.2, at=ball, color=[0.1, 0.4, 0.9, 1.0]),
        simulated("pipe", "cylinder", 0.1, 0.1, 0.4, at=(-0.6, -0.4, 0.2), orientation=[0.5**0.5, 0.0, 0.0, 0.5**0.5]),
        simulated("model", "mesh", 1.0, 1.0, 1.0, at=(0.6, 0.6, 0.0), mesh=file),
        simulated("edge", "triangles", 1.0, 1.0, 1.0, at=(0.0, 0.0, 0.0), triangles=profile),
        simulated("nowhere", "mesh", 1.0, 1.0, 1.0, at=(0.0, 0.0, 0.0), mesh="file:///no.stl"),
        simulated("not finite", "box", 1.0, 1.0, 1.0, at=(0.0, 0.0, float("nan"))),
    ]
    names = f"{VIEW}.objects?.scene.links.map(link => link.name).join()"
    page.wait_for_function(f"() => {names} === 'cube,ball,pipe,model,edge' && {VIEW}.objects.loading === 0")
    before = pixels(page, robot)
    picture(page, "view_objects")
    assert np.count_nonzero(np.abs(before - empty).max(axis=2) > 30) > 2000

    def where(point: tuple[float, float, float]) -> tuple[float, float]:
        """Row and column of a place of the world."""
        x, y = page.evaluate(
            f"point => {{ const view = {VIEW}; const canvas = view.canvas;"
            " const seen = view.robots.group.position.clone().fromArray(point).project(view.camera);"
            " return [(seen.x + 1) / 2 * canvas.clientWidth, (1 - seen.y) / 2 * canvas.clientHeight]; }",
            list(point),
        )
        return y, x

    pushed = (0.4, 0.2, 0.1)
    drawn = page.evaluate(f"() => {VIEW}.objects.group.uuid")
    robot.simulated = [{**robot.simulated[0], "position": list(pushed)}, *robot.simulated[1:]]
    page.wait_for_function(f"() => Math.abs({VIEW}.objects.links[0].matrixWorld.toArray()[13] - 0.2) < 1e-6")
    assert object_pose(page, 0)[12:15] == pytest.approx(pushed)
    assert page.evaluate(f"() => {VIEW}.objects.group.uuid") == drawn, "it is moved, not made anew"
    after = pixels(page, robot)
    rows, columns = np.nonzero(np.abs(before - after).max(axis=2) > 8)
    (r0, c0), (r1, c1) = where(cube), where(pushed)
    margin = 0.15 * before.shape[0]
    assert len(rows) > 500
    assert min(r0, r1) - margin < rows.min() and rows.max() < max(r0, r1) + margin
    assert min(c0, c1) - margin < columns.min() and columns.max() < max(c0, c1) + margin
    page.mouse.move(*[value + offset for value, offset in zip(reversed(where(pushed)), corner(page), strict=True)])
    page.locator(".robot-tools").get_by_text("cube", exact=True).wait_for()
    page.get_by_text("Drawn", exact=True).click()
    page.get_by_label("objects of simulators").uncheck()
    page.get_by_text("Drawn", exact=True).click()
    page.mouse.move(1, 1)
    assert np.array_equal(pixels(page, robot), empty)
    robot.simulated = []
    page.wait_for_function(f"() => {VIEW}.objects.links.length === 0")


def corner(page: Any) -> tuple[float, float]:
    """x and y of the picture in the page."""
    box = page.locator(".robot-scene").bounding_box()
    return box["x"], box["y"]


def test_a_film_of_the_picture_is_saved(see: Callable[..., Any], robot: MemoryRobot, tmp_path: Path) -> None:
    workcell = bring(robot, "iiwa")
    page = see(watching=True)
    joint = workcell.joint_state_names()["arm"][1]
    page.get_by_role("button", name="Film", exact=True).click()
    for _ in range(10):
        robot.positions[joint] += 0.05
        at(page, robot)
    with page.expect_download() as found:
        page.get_by_role("button", name="End film").click()
    assert found.value.suggested_filename.endswith(".webm")
    found.value.save_as(tmp_path / "film.webm")
    content = (tmp_path / "film.webm").read_bytes()
    assert content[:4] == b"\x1a\x45\xdf\xa3" and b"webm" in content[:64], "EBML, of the kind webm"
    assert len(content) > 10_000
    page.get_by_role("button", name="Film", exact=True).wait_for()
    with page.expect_download() as found:
        page.get_by_role("button", name="Picture").click()
    assert found.value.suggested_filename.endswith(".png")


def test_the_camera_by_fingers(chromium: Any, come: Callable[..., Any], robot: MemoryRobot) -> None:
    bring(robot, "iiwa")
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = come(page_name=PAGE, context=context)
    page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.loading === 0")
    session = context.new_cdp_session(page)

    def camera() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        found = page.evaluate(f"() => {VIEW}.stored")
        return np.array(found["eye"]), np.array(found["target"])

    def touch(*ways: tuple[tuple[float, float], tuple[float, float]]) -> None:
        """Each finger goes from one place to another, all at once."""
        for step in range(6):
            points = [{"x": a[0] + (b[0] - a[0]) * step / 5, "y": a[1] + (b[1] - a[1]) * step / 5, "id": n}
                      for n, (a, b) in enumerate(ways)]  # fmt: skip
            kind = "touchStart" if step == 0 else "touchMove"
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def distance() -> float:
        eye, target = camera()
        return float(np.linalg.norm(eye - target))

    (eye, target), far = camera(), distance()
    touch(((150, 500), (250, 540)))
    until(page, lambda: np.linalg.norm(camera()[0] - eye) > 0.1)
    assert np.allclose(camera()[1], target) and distance() == pytest.approx(far), "one finger turns"
    touch(((180, 500), (100, 500)), ((210, 500), (290, 500)))
    until(page, lambda: distance() < 0.7 * far)
    near = distance()
    touch(((150, 450), (150, 550)), ((250, 450), (250, 550)))
    until(page, lambda: np.linalg.norm(camera()[1] - target) > 0.02)
    assert distance() == pytest.approx(near, rel=0.05), "two fingers beside each other move"
    assert page.evaluate("() => visualViewport.scale") == 1 and page.evaluate("() => scrollY") == 0
    page.get_by_role("button", name="STOP", exact=True).tap()
    until(page, lambda: robot.stopped)
    context.close()


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
    page.get_by_role("tab", name="Files").wait_for()
    assert any("editor.js" in url for url in asked)
    assert not any(name in url for url in asked for name in ("three.js", "view.js"))
