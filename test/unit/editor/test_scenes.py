"""The scene that browsers draw, its meshes, and the joints' positions for it."""

from __future__ import annotations

import asyncio
import json
import math
import struct
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from memory_robot import CONFIG, MemoryRobot
from rclpy.serialization import serialize_message
from served_editor import Served

from robot_rt_control.drawing.shape import Shape, ShapeKind
from robot_rt_control.editor import scenes
from robot_rt_control.editor.ros_robot import marker_shapes
from robot_rt_control.editor.scenes import Scenes, fixed_axes, part_links
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.ros.marker_messages import markers_message
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError

AT_MOST = 120.0
"""[s] of waiting for what comes at once, except on a busy machine."""
ONE = ("SPHERE", "TEXT")
"""Kinds of shapes with one point."""
WORKCELL = load_workcell(CONFIG)
URDF = """<robot name="r"><link name="a"><visual><geometry><mesh filename="file://{mesh}"/></geometry></visual></link>
<link name="b"/><link name="c"/>
<joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="along" type="continuous"><parent link="b"/><child link="c"/><mimic joint="turn" multiplier="-2"
offset="1"/></joint></robot>"""


@pytest.fixture
def mesh(robot: MemoryRobot, tmp_path: Path) -> Path:
    """The robot has URDF, with this mesh."""
    file = tmp_path / "m.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    robot.description_text = URDF.format(mesh=file)
    robot.positions = {"turn": 0.5}
    robot.parts = lambda: [{"name": "arm", "joint_names": ["turn"]}]  # type: ignore[method-assign]
    return file


def test_a_scene_has_links_joints_and_the_links_of_each_part(editor: Served, robot: MemoryRobot, mesh: Path) -> None:
    cookie = editor.enter(editor.server.keys.watch)
    status, found = editor.post("scene", cookie=cookie)
    assert status == 200 and found["success"] and found["version"] == 1
    assert [link["name"] for link in found["links"]] == ["a", "b", "c"] and found["parts"] == []
    assert found["problems"] == [] and str(mesh) not in json.dumps(found)
    editor.loop.call_soon_threadsafe(editor.server._scenes.frame)  # as for a browser that follows joints
    assert until(lambda: editor.post("scene", cookie=cookie)[1]["version"] == 2)
    assert editor.post("scene", cookie=cookie)[1]["parts"] == [{"name": "arm", "links": [1, 2]}]
    robot.description_text = robot.description_text.replace('name="r"', 'name="other"')
    again = editor.post("scene", cookie=cookie)[1]
    assert (again["version"], again["name"]) == (3, "other")
    assert editor.post("scene", cookie=cookie)[1]["version"] == 3


def test_E20_a_mesh_is_named_by_the_scene_and_never_by_a_file(editor: Served, robot: MemoryRobot, mesh: Path) -> None:
    cookie = editor.enter(editor.server.keys.watch)

    def asked(*names: Any, cookie: str = cookie) -> tuple[int, bytes]:
        status, headers, body = editor.request("POST", "/api/meshes", json.dumps({"meshes": names}), cookie=cookie)
        assert status != 200 or headers["content-type"] == "application/octet-stream"
        return status, body

    wrong = [str(mesh), mesh.as_uri(), f"../{mesh.name}", "/etc/passwd", "", "0", 0, None, ["x"], {}, True, "x" * 9999]
    assert {asked(name)[0] for name in wrong} == {404}, "before there is a scene"
    (link, *_) = editor.post("scene", cookie=cookie)[1]["links"]
    (shape,) = link["shapes"]
    mesh.unlink()
    status, body = asked(shape["mesh"])
    assert status == 200 and struct.unpack_from("<I", body)[0] == len(body) - 4
    assert struct.unpack_from("<IIII", body, 4) == (1, 3, 1, 0), "as it was when the scene was made"
    assert {asked(name)[0] for name in wrong} == {asked(shape["mesh"], name)[0] for name in wrong} == {404}
    assert asked(shape["mesh"], shape["mesh"])[0] == 404, "each once: an answer is not larger than the scene"
    assert asked() == (200, b"")
    assert asked(shape["mesh"], cookie="")[0] == 403
    assert editor.request("POST", "/api/meshes", b"[]", cookie=cookie)[0] == 400
    assert editor.request("POST", "/api/meshes", b"{}", cookie=cookie)[0] == 404
    assert editor.request("POST", "/api/meshes", b"{}", cookie=cookie, Origin="http://evil.example")[0] == 403
    assert editor.request("GET", "/api/meshes", cookie=cookie)[0] == 404


def test_E20_only_triangles_of_meshes_leave_the_server(editor: Served, robot: MemoryRobot, tmp_path: Path) -> None:
    """Whoever publishes a robot_description chooses files: what is none of a mesh's kinds, or no mesh, stays here."""
    secret = "a line that nobody may read"
    cookie = editor.enter(editor.server.keys.operate)
    for name in ("id_rsa", "secret.obj", "secret.stl", "secret.dae", "solid.stl"):
        (tmp_path / name).write_text(("solid " if name == "solid.stl" else "") + secret)
        robot.description_text = URDF.format(mesh=tmp_path / name)
        found = editor.post("scene", cookie=cookie)[1]
        assert found["success"] and len(found["problems"]) == 1 and found["links"][0]["shapes"] == []
        assert secret not in json.dumps(found) and not editor.server._scenes._meshes


def test_what_cannot_be_drawn_is_said(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.watch)
    answer = editor.post("scene", cookie=cookie)[1]
    assert not answer["success"] and "no robot_description has come" in answer["message"]
    robot.description_text = "<robot"
    answer = editor.post("scene", cookie=cookie)[1]
    assert not answer["success"] and "expected well-formed XML" in answer["message"]
    robot.description_text = WORKCELL.robot_description()
    assert editor.post("scene", cookie=cookie)[1]["success"]


def test_a_process_that_ends_on_a_mesh_is_asked_without_meshes(
    robot: MemoryRobot, mesh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def call(module: str, question: Any, *, limit: float) -> Any:
        asked.append(question["with_meshes"])
        if question["with_meshes"]:
            raise RobotControlError("the process was ended by SIGKILL")
        return scene_call(module, question, limit=limit)

    scene_call = scenes.call
    monkeypatch.setattr(scenes, "call", call)
    found = asyncio.run(Scenes(robot).scene())
    assert asked == [True, False] and found["links"][0]["shapes"] == []
    assert "the process that reads meshes has ended on one of them" in found["problems"][0]


def test_what_fails_in_another_way_is_not_tried_again_at_each_picture(
    robot: MemoryRobot, mesh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def call(*_: Any, **__: Any) -> Any:
        asked.append(1)
        raise KeyError("links")

    monkeypatch.setattr(scenes, "call", call)

    async def work() -> None:
        made = Scenes(robot)
        with pytest.raises(RobotControlError, match="links"):
            await made.scene()
        for _ in range(5):
            made._looked = -math.inf
            made.frame()
            await asyncio.sleep(0.01)

    asyncio.run(work())
    assert asked == [1]


def test_a_frame_has_each_joint_and_those_that_mimic(robot: MemoryRobot, mesh: Path) -> None:
    async def work() -> None:
        made = Scenes(robot)
        assert struct.unpack("<I", made.frame()) == (0,), "no scene yet"
        await made.scene()

        def frame() -> tuple[float, ...]:
            made._looked = -math.inf
            return struct.unpack("<I2f", made.frame())

        assert frame() == (2, 0.5, 0.0), "the links of parts are told apart by the first joints: another scene"
        robot.positions["along"] = 3.0
        assert frame() == (2, 0.5, 3.0), "its own position, if it has one"
        robot.positions.clear()
        assert all(map(math.isnan, frame()[1:]))
        robot.positions["turn"] = 1.0
        before = made.frame()
        robot.positions["turn"] = 2.0
        assert made.frame() == before, "several browsers share what was read at this moment"

    asyncio.run(work())


def test_a_frame_is_of_one_look_at_the_joints(robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[int]()

    def joints() -> dict[str, float]:
        looks.append(1)
        return {"a": 0.5}

    monkeypatch.setattr(robot, "description", lambda: "")
    monkeypatch.setattr(robot, "joint_positions", joints)
    found = Scenes(robot)
    found._scene = {"joints": [{"name": "a"}]}
    assert struct.unpack("<If", found.frame()) == (0, 0.5) and len(looks) == 1


def test_the_links_of_robots_that_share_names_are_told_apart_by_the_order_of_joint_states() -> None:
    def link(name: str, parent: int, joint: int = -1) -> dict[str, Any]:
        return {"name": name, "parent": parent, "joint": joint}

    joints = ["b_j", "a_j", "a_finger", "b_finger", "b_thumb"]
    scene = {
        "links": [link("world", -1), *(link(name, 0, i) for i, name in enumerate(joints)), link("on_finger", 4)],
        "joints": [{"name": n, "follows": [3, 1.0, 0.0] if n == "b_thumb" else None} for n in joints],
    }
    names = {"a": ["j"], "b": ["j"], "hand": ["finger"], "other": ["finger"], "sensor": []}
    parts = [{"name": name, "joint_names": own} for name, own in names.items()]
    told = ["a_j", "b_j", "b_finger", "a_finger"]
    assert part_links(scene, parts, told) == [
        {"name": "a", "links": [2]},
        {"name": "b", "links": [1]},
        {"name": "hand", "links": [4, 5, 6]},
        {"name": "other", "links": [3]},
    ]
    assert part_links(scene, parts, ["elsewhere", *told]) == [], "another node's: better none than wrong ones"
    assert part_links(scene, [], told) == part_links(scene, parts, []) == []


def test_E21_each_browser_gets_joints_at_its_own_rate_and_nobody_follows_them_for_nobody(
    editor: Served, robot: MemoryRobot, mesh: Path
) -> None:
    cookie = editor.enter(editor.server.keys.watch)
    editor.post("scene", cookie=cookie)

    async def follow(rate: float, seconds: float) -> list[float]:
        """The first joint of each frame."""
        seen: list[float] = []
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            await live.send_json({"variables": [], "joints": rate})
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                message = await live.receive(timeout=AT_MOST)
                if message.type is aiohttp.WSMsgType.BINARY:
                    seen.append(struct.unpack("<I2f", message.data)[1])
            assert robot.joints_followed == (rate > 0)
        return seen

    async def moving() -> None:
        while True:
            robot.positions["turn"] += 0.001
            await asyncio.sleep(0.002)

    async def work() -> list[list[float]]:
        task = asyncio.create_task(moving())
        found = [await follow(30, 2.0), await follow(5, 2.0), await follow(0, 1.0)]
        task.cancel()
        return found

    fast, slow, none = asyncio.run(work())
    assert 5 <= len(slow) <= 14 and len(slow) < len(fast) <= 70 and none == []
    assert fast == sorted(set(fast)), "only what has changed is sent"
    assert until(lambda: not robot.joints_followed)


@pytest.mark.parametrize("rate", [61, -1, "30", True, None, 1e308 * 10])
def test_E21_a_rate_that_is_none_closes_the_socket(editor: Served, rate: Any) -> None:
    async def work() -> Any:
        cookie = editor.enter(editor.server.keys.watch)
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            await live.send_str(json.dumps({"variables": [], "joints": rate}))
            while (message := await live.receive(timeout=AT_MOST)).type is aiohttp.WSMsgType.TEXT:
                pass
            return message.data

    assert asyncio.run(work()) == aiohttp.WSCloseCode.POLICY_VIOLATION


def test_each_kind_of_shape_comes_back_from_its_marker() -> None:
    points = ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
    kinds = [kind for kind in ShapeKind if kind.name not in ("BOX", "CYLINDER", "MESH", "TRIANGLES")]
    shapes = [
        Shape(namespace=kind.name, frame="tool", kind=kind, points=points[: 1 if kind.name in ONE else 2], size=0.25,
              color=(0.5, 0.25, 0.0, 1.0), text="a" * (kind is ShapeKind.TEXT))
        for kind in kinds
    ]  # fmt: skip
    found = marker_shapes(serialize_message(markers_message(shapes)))
    assert [each["kind"].upper() for each in found] == [kind.name for kind in kinds]
    for shape, each in zip(shapes, found, strict=True):
        assert each == {
            "namespace": shape.namespace, "frame": "tool", "kind": each["kind"], "size": 0.25, "colors": [],
            "points": [list(point) for point in shape.points], "color": [0.5, 0.25, 0.0, 1.0], "text": shape.text,
        }  # fmt: skip


def test_a_shape_that_is_not_finite_is_left_out(robot: MemoryRobot) -> None:
    good = {"size": 1.0, "color": [0.0] * 4, "colors": [], "points": [[0.0, 0.0, 0.0]]}
    robot.drawn_shapes = [good, {**good, "points": [[0.0, math.nan, 0.0]]}, {**good, "size": math.inf}]
    assert json.loads(Scenes(robot).shapes()) == {"shapes": [good]}


def test_the_page_of_the_view_has_the_scene_made_at_once(editor: Served, robot: MemoryRobot, mesh: Path) -> None:
    assert editor.request("GET", "/")[0] == 200 and editor.server._scenes._version == 0
    status, headers, _ = editor.request("GET", "/view.html")
    assert status == 200 and "script-src 'self'" in headers["content-security-policy"]
    assert until(lambda: editor.server._scenes._version == 1)


def test_no_workcell_no_scene(robot: MemoryRobot) -> None:
    with pytest.raises(NoAnswer, match="Bring the workcell up"):
        asyncio.run(Scenes(robot).scene())


def until(holds: Any) -> bool:
    """Whether it came true in time."""
    end = time.monotonic() + AT_MOST
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(holds())


def test_the_axes_of_a_base_are_those_of_its_link_if_nothing_moves_it() -> None:
    turn = [0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 5.0, 6.0, 7.0, 1.0]  # x of the link is its y
    same = [float(i % 5 == 0) for i in range(16)]
    links = [
        {"motion": "fixed", "X": same, "parent": -1},
        {"motion": "fixed", "X": turn, "parent": 0},
        {"motion": "slide", "X": same, "parent": 0},
        {"motion": "fixed", "X": turn, "parent": 2},
    ]
    assert fixed_axes(links, 1) == [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert fixed_axes(links, 0) == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert fixed_axes(links, 3) is None, "it rides on a slide"
