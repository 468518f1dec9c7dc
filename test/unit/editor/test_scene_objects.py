"""What simulators have beside robots, as browsers draw it: from the message to the mesh."""

from __future__ import annotations

import asyncio
import json
import math
import struct
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory_robot import MemoryRobot
from rclpy.serialization import serialize_message
from served_editor import Served
from visualization_msgs.msg import MarkerArray

from robot_rt_control.drawing.shape import RED, Shape, ShapeKind
from robot_rt_control.editor.ros_robot import take_objects
from robot_rt_control.editor.scene_objects import SceneObjects
from robot_rt_control.ros.marker_messages import marker_message

AT_MOST = 60.0
TURNED = (0.5**0.5, 0.0, 0.0, 0.5**0.5)
"""By a quarter about x."""
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def shape(kind: ShapeKind, **more: Any) -> Shape:
    at = Shape(namespace="sim", frame="world", kind=kind, points=((1.0, 2.0, 3.0),), size=0.0, color=RED)
    return replace(at, text=kind.name, **more)


def objects_of(*shapes: Shape) -> list[dict[str, Any]]:
    """As the editor's server gets them."""
    found: dict[tuple[str, int], Any] = {}
    markers = [marker_message(i, each) for i, each in enumerate(shapes)]
    take_objects(found, serialize_message(MarkerArray(markers=markers)))
    return list(found.values())


def links(objects: SceneObjects) -> list[dict[str, Any]]:
    objects._looked = -math.inf
    return list(json.loads(objects.text())["objects"])


def test_each_kind_of_object_is_a_link_that_stands_in_the_world(robot: MemoryRobot) -> None:
    robot.simulated = objects_of(
        shape(ShapeKind.BOX, edges=(0.1, 0.2, 0.3), orientation=TURNED),
        shape(ShapeKind.SPHERE, size=0.5),
        shape(ShapeKind.CYLINDER, edges=(0.2, 0.2, 0.7)),
        shape(ShapeKind.TRIANGLES, points=CORNERS),
        shape(ShapeKind.TEXT, size=0.1),
    )
    objects = SceneObjects(robot)
    found = links(objects)
    assert [link["name"] for link in found] == ["BOX", "SPHERE", "CYLINDER", "TRIANGLES"]
    assert all((link["parent"], link["motion"], link["joint"]) == (-1, "fixed", -1) for link in found)
    shown = [link["shapes"][0] for link in found]
    assert [each["kind"] for each in shown] == ["box", "sphere", "cylinder", "mesh"]
    assert [each["size"] for each in shown] == [[0.1, 0.2, 0.3], [0.25], [0.1, 0.7], [1.0, 1.0, 1.0]]
    X = np.reshape(found[0]["X"], (4, 4)).T
    assert np.allclose(X, [[1, 0, 0, 1], [0, 0, -1, 2], [0, 1, 0, 3], [0, 0, 0, 1]])
    content = objects.mesh(shown[3]["mesh"])
    assert content is not None and struct.unpack_from("<IIII", content) == (1, 3, 1, 0)
    assert struct.unpack_from("<9f", content, 28) == tuple(x for corner in CORNERS for x in corner)
    assert struct.unpack_from("<3I", content, 64) == (0, 1, 2) and len(content) == 76
    robot.simulated = []
    assert links(objects) == [] and objects.mesh(shown[3]["mesh"]) is None


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e9])
def test_what_has_no_place_or_size_is_left_out(robot: MemoryRobot, wrong: float) -> None:
    box = shape(ShapeKind.BOX, edges=(1.0, 1.0, 1.0))
    robot.simulated = objects_of(
        shape(ShapeKind.BOX, points=((wrong, 0.0, 0.0),)), shape(ShapeKind.BOX, edges=(wrong, 1.0, 1.0)), box
    )
    assert len(links(SceneObjects(robot))) == 1


def test_several_simulators_have_objects_of_their_own_and_take_them_away() -> None:
    found: dict[tuple[str, int], Any] = {}

    def take(namespace: str, action: int, *numbers: int) -> list[tuple[str, int]]:
        markers = [marker_message(n, shape(ShapeKind.BOX, namespace=namespace)) for n in numbers]
        for marker in markers:
            marker.action = action
        take_objects(found, serialize_message(MarkerArray(markers=markers)))
        return list(found)

    assert take("a", 0, 0, 1) == [("a", 0), ("a", 1)]
    assert take("b", 0, 0) == [("a", 0), ("a", 1), ("b", 0)]
    assert take("a", 2, 0, 1) == [("b", 0)]


def test_E20_the_mesh_of_an_object_is_read_beside_the_server_and_named_by_it(
    editor: Served, robot: MemoryRobot, tmp_path: Path
) -> None:
    good, secret = tmp_path / "a b.obj", tmp_path / "secret.obj"
    good.write_text(TRIANGLE)
    secret.write_text("password: 12345\n")
    given = [good.as_uri(), secret.as_uri(), "file:///etc/passwd", "http://evil.example/a.obj", str(good), ""]
    robot.simulated = objects_of(*(shape(ShapeKind.MESH, mesh=uri, edges=(2.0, 2.0, 2.0)) for uri in given))
    objects = editor.server._scenes.objects
    cookie = editor.enter(editor.server.keys.watch)

    async def look() -> list[dict[str, Any]]:
        assert objects.text(), "there is one while it is written anew"
        return links(objects)

    def looked() -> list[dict[str, Any]]:
        return asyncio.run_coroutine_threadsafe(look(), editor.loop).result(AT_MOST)

    assert looked() == [], "nothing waits for it"
    end = time.monotonic() + AT_MOST
    while not (found := looked()) and time.monotonic() < end:
        time.sleep(0.05)
    (link,) = found
    assert str(tmp_path) not in json.dumps(found)
    (drawn,) = link["shapes"]
    body = json.dumps({"meshes": [drawn["mesh"]]})
    status, _, content = editor.request("POST", "/api/meshes", body, cookie=cookie)
    assert status == 200 and struct.unpack_from("<IIII", content, 4) == (1, 3, 1, 0)
    status = editor.request("POST", "/api/meshes", json.dumps({"meshes": [str(good)]}), cookie=cookie)[0]
    assert status == 404 and set(objects._of_file) == {str(good), str(secret), "/etc/passwd"}
