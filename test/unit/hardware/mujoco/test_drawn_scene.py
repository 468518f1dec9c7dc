"""What is drawn of an MJCF's scene beside robots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.drawing.shape import ShapeKind
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lockstep_host import LockstepHost
from robot_rt_control.hardware.mujoco.plugin import MujocoPlugin
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.workcell import load_workcell

MORE = """
    <geom name="post" type="capsule" pos="1 0 0.5" size="0.05 0.4"/>
    <geom name="unseen" type="box" size="1 1 1" rgba="1 0 0 0" contype="0" conaffinity="0"/>
    <body name="wedge" pos="1 1 0"><freejoint/><geom type="mesh" mesh="wedge" mass="1"/></body>
  </worldbody>
  <asset><mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
"""


def test_X14_objects_of_a_scene_are_drawn_where_the_simulator_has_them(tmp_path: Path) -> None:
    workcell = find_workcell("table_arm")
    scene = (workcell.parent / "scenes" / "table_arm.xml").read_text()
    (tmp_path / "scene.xml").write_text(scene.replace("  </worldbody>", MORE))
    text = workcell.read_text().replace("scenes/table_arm.xml", str(tmp_path / "scene.xml"))
    (workcell_file := tmp_path / "cell.yaml").write_text(text)
    loaded = load_workcell(workcell_file, "mujoco")
    (device,) = loaded.devices
    host = LockstepHost("mujoco", hardware_info(loaded, device))
    host.activate()
    plugin: MujocoPlugin = host.plugin  # type: ignore[assignment]
    found: dict[str, list[Any]] = {}
    for shape in plugin.drawn_objects():
        assert shape.namespace == device.name
        found.setdefault(shape.text, []).append((shape.kind, np.mean(shape.points, axis=0).tolist()))
    assert set(found) == {"", "ball", "table", "box", "wedge"}, "no robot, and no ground"
    (table,), (box,), (wedge,) = found["table"], found["box"], found["wedge"]
    assert table == (ShapeKind.BOX, pytest.approx([0.45, 0, 0.1], abs=1e-3))
    assert box == (ShapeKind.BOX, pytest.approx([0.3, 0, 0.225], abs=2e-3))
    assert wedge == (ShapeKind.TRIANGLES, pytest.approx([1.25, 1.25, 0.25], abs=2e-3)), "each corner in three triangles"
    assert found[""] == [
        (ShapeKind.CYLINDER, pytest.approx([1, 0, 0.5])),
        (ShapeKind.SPHERE, pytest.approx([1, 0, 0.1])),
        (ShapeKind.SPHERE, pytest.approx([1, 0, 0.9])),
    ]
    plugin.close()
