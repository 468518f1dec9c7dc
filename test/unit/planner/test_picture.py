"""What RViz shows of a task and its plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.drawing.shape import GREEN, ShapeKind
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planner.picture import AXIS, FORCE, link_faces, plan_shapes, task_shapes
from robot_rt_control.planning.scene.contact_model import Face, box_faces

from .solvers import a_plan

FACES = box_faces((0.1, 0.1, 0.1))


@dataclass(frozen=True)
class Touching:
    """A pair with a face of the body, or of a fixed object."""

    face: Face
    fixed: tuple[np.ndarray, np.ndarray] | None = None

    def push(self, R_WB: np.ndarray) -> np.ndarray:
        return -R_WB @ self.face.axes[0] if self.fixed is None else self.fixed[1] @ self.face.axes[0]


BRICK = Touching(FACES["top"], (np.array([1.0, 0.0, 0.0]), np.eye(3)))
START = Pose(position=(0.13, 0, 0.05))
TARGET = Pose(position=(0.33, 0, 0.05), orientation=(0, 0, math.sqrt(0.5), math.sqrt(0.5)))


def test_target_and_faces_each_face_once() -> None:
    pairs = [Touching(FACES["back"]), Touching(FACES["left"]), Touching(FACES["back"])]
    axes, target, faces = task_shapes(START, TARGET, pairs)
    assert [axes.namespace, target.namespace, faces.namespace] == ["contact_target", "contact_target", "contact_faces"]
    assert axes.points[1] == pytest.approx((0.33, AXIS, 0.05))  # its x axis points along y
    assert len(faces.points) == len(target.points) == 2 * 4 * 2
    assert {round(x, 9) for x, _, _ in faces.points[:8]} == {0.08}  # the back
    assert {round(y, 9) for _, y, _ in target.points[:8]} == {-0.05}


def test_a_link_is_shown_at_its_target() -> None:
    humanoid = load_workcell(Path(__file__).parents[3] / "config" / "humanoid.yaml")
    urdf = next(part.urdf for part in humanoid.parts if part.urdf is not None)
    outline = link_faces(urdf, "torso")
    assert len(outline) == 6 and link_faces(urdf, "along_x") == []
    _, target, faces = task_shapes(START, TARGET, [BRICK], outline)
    assert target.color == GREEN and len(target.points) == 6 * 4 * 2 and len(faces.points) == 4 * 2
    corner = np.abs(np.array(target.points) - TARGET.position).max(axis=0)
    assert corner == pytest.approx((0.1, 0.08, 0.25))  # it is turned by a quarter


def test_the_box_around_shapes_that_are_moved(tmp_path: Path) -> None:
    shapes = '<sphere radius="0.1"/>', '<cylinder radius="0.05" length="0.4"/>'
    collisions = "".join(
        f'<collision><origin xyz="0 0 {z}"/><geometry>{shape}</geometry></collision>'
        for z, shape in zip((0.3, 0.0), shapes, strict=True)
    )
    (tmp_path / "a.urdf").write_text(f'<robot name="a"><link name="l">{collisions}</link></robot>')
    faces = {face.name: face for face in link_faces(read_urdf(tmp_path / "a.urdf"), "l")}
    assert faces["top"].center == pytest.approx((0, 0, 0.4)) and faces["bottom"].center == pytest.approx((0, 0, -0.2))
    assert faces["left"].half == pytest.approx((0.1, 0.3))


def test_the_way_and_the_virtual_forces_that_found_it() -> None:
    way, _, force = plan_shapes(a_plan(), [Touching(FACES["back"])])
    assert way.kind == ShapeKind.LINE_STRIP and [round(x, 9) for x, _, _ in way.points] == [0.13, 0.2, 0.33]
    assert force.kind == ShapeKind.ARROW and force.namespace == "virtual_force"
    tail, head = force.points
    assert head == pytest.approx((0.08, 0, 0.05))
    assert tail == pytest.approx((0.08 - FORCE, 0, 0.05))  # it pushes into the body


def test_faces_of_fixed_objects_stay_and_push_outward() -> None:
    _, faces = task_shapes(START, TARGET, [BRICK])
    assert {round(z, 9) for _, _, z in faces.points} == {0.05} and min(x for x, _, _ in faces.points) > 0.9
    *_, force = plan_shapes(a_plan(), [BRICK])
    assert force.points[0] == pytest.approx((1.0, 0.0, 0.05))
    assert force.points[1] == pytest.approx((1.0, 0.0, 0.05 + FORCE))
