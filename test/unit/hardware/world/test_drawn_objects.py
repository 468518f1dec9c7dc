"""What is drawn of a simulated world beside robots: each shape where the simulator has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.drawing.shape import Shape, ShapeKind
from robot_rt_control.hardware.drawable import drawn_objects
from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.model.pose import Pose
from robot_rt_control.vocabulary.enums import PartKind

DOOR = """<robot name="door">
  <material name="green"><color rgba="0 1 0 1"/></material>
  <link name="frame"><inertial><mass value="5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 0.5"/><geometry><box size="0.1 0.1 1"/></geometry><material name="green"/></visual>
  </link>
  <joint name="hinge" type="revolute"><parent link="frame"/><child link="leaf"/><origin xyz="0 0.1 0"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
  <link name="leaf"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><origin xyz="0 0.3 0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision></link>
</robot>
"""
TURNED = (0.0, 0.0, 0.5**0.5, 0.5**0.5)
"""By a quarter about z."""


@pytest.fixture
def plugin(start: Callable[..., HardwareLifecycle], tmp_path: Path) -> Any:
    (tmp_path / "door.urdf").write_text(DOOR)
    objects = [
        {"name": "floor", "plane": True},
        {"name": "cube", "box": {"size": [0.1, 0.2, 0.3]}, "pose": {"position": [1, 0, 0.15]}, "mass": 1.0,
         "color": [1, 0, 0]},
        {"name": "ball", "sphere": {"radius": 0.05}, "pose": {"position": [0, 0, 1]}, "mass": 0.5},
        {"name": "pipe", "cylinder": {"radius": 0.1, "height": 0.4}, "pose": {"position": [2, 0, 0.2]}, "fixed": True},
        {"name": "ramp", "profile": {"points": [[0, 0.1], [0.2, 0.3]], "width": 0.2},
         "pose": {"position": [0, 3, 0], "orientation": list(TURNED)}},
        {"name": "door", "urdf": str(tmp_path / "door.urdf"), "fixed": True,
         "pose": {"position": [0, -1, 0], "orientation": list(TURNED)}},
    ]  # fmt: skip
    part = HardwarePart(name="io", index=0, kind=PartKind.IO)
    return start(part, world={"objects": objects}).plugin


def shapes(plugin: Any) -> dict[str, list[Shape]]:
    found: dict[str, list[Shape]] = {}
    for shape in drawn_objects([plugin]):
        assert shape.frame == "world"
        found.setdefault(shape.text, []).append(shape)
    return found


def test_each_object_is_drawn_with_its_shape_color_and_pose(plugin: Any) -> None:
    found = shapes(plugin)
    assert list(found) == ["cube", "ball", "pipe", "ramp", "door"], "the ground is drawn by others"
    (cube,), (ball,), (pipe,), (ramp,) = (found[name] for name in ("cube", "ball", "pipe", "ramp"))
    assert (cube.kind, cube.points, cube.edges) == (ShapeKind.BOX, ((1.0, 0.0, 0.15),), (0.1, 0.2, 0.3))
    assert cube.color == (1.0, 0.0, 0.0, 1.0) and cube.orientation == pytest.approx((0, 0, 0, 1))
    assert (ball.kind, ball.size) == (ShapeKind.SPHERE, 0.1)
    assert (pipe.kind, pipe.edges) == (ShapeKind.CYLINDER, (0.2, 0.2, 0.4))
    corners = np.array(ramp.points)
    assert ramp.kind == ShapeKind.TRIANGLES and len(corners) % 3 == 0
    assert corners.min(axis=0) == pytest.approx([-0.1, 3.0, 0.0], abs=1e-4), "its x points along the world's y"
    assert corners.max(axis=0) == pytest.approx([0.1, 3.2, 0.3], abs=1e-4)


def test_links_of_an_object_are_drawn_where_its_joints_are(plugin: Any) -> None:
    frame, leaf = shapes(plugin)["door"]
    assert (frame.kind, frame.color, leaf.kind) == (ShapeKind.BOX, (0.0, 1.0, 0.0, 1.0), ShapeKind.CYLINDER)
    assert np.allclose(frame.points, [[0, -1, 0.5]], atol=1e-3)
    assert np.allclose(leaf.points, [[-0.4, -1, 0.5]], atol=1e-3), "the door's y points along the world's -x"
    plugin.world.object_joint("door", "hinge", "test").place(np.pi / 2)
    _, leaf = shapes(plugin)["door"]
    assert np.allclose(leaf.points, [[-0.1, -1.3, 0.5]], atol=1e-3)


def test_what_moves_is_drawn_elsewhere_and_what_rests_is_the_same_shape(plugin: Any) -> None:
    before = shapes(plugin)
    again = shapes(plugin)
    assert all(a is b for name in before for a, b in zip(before[name], again[name], strict=True))
    plugin.move_object("cube", Pose(position=(1.5, 0.2, 0.15), orientation=TURNED))
    plugin.world.push("ball", (0.0, 0.0, 200.0), (0.0, 0.0, 1.0))
    for _ in range(20):
        plugin.write(0.0, 0.001)
        plugin.read(0.0, 0.001)
    after = shapes(plugin)
    assert np.allclose(after["cube"][0].points, [[1.5, 0.2, 0.15]], atol=1e-3)
    assert np.allclose(np.abs(after["cube"][0].orientation), TURNED, atol=1e-3)
    assert after["ball"][0].points[0] == pytest.approx(plugin.object_pose("ball").position, abs=1e-4)
    assert after["ball"][0].points[0][2] > 1.001
    assert all(after[name][0] is before[name][0] for name in ("pipe", "ramp"))


def test_a_plugin_without_a_world_has_none() -> None:
    assert drawn_objects([object()]) == []  # type: ignore[list-item]
