"""What RViz shows of a task and its plan."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planner.picture import AXIS, FORCE, plan_shapes, task_shapes
from robot_rt_control.planning.contact_model import box_faces
from robot_rt_control.server.markers.shape import ShapeKind

from .solvers import a_plan

FACES = box_faces((0.1, 0.1, 0.1))
START = Pose(position=(0.13, 0, 0.05))
TARGET = Pose(position=(0.33, 0, 0.05), orientation=(0, 0, math.sqrt(0.5), math.sqrt(0.5)))


def test_target_and_faces_each_face_once() -> None:
    axes, target, faces = task_shapes(START, TARGET, [FACES["back"], FACES["left"], FACES["back"]])
    assert [axes.namespace, target.namespace, faces.namespace] == ["contact_target", "contact_target", "contact_faces"]
    assert axes.points[1] == pytest.approx((0.33, AXIS, 0.05))  # its x axis points along y
    assert len(faces.points) == len(target.points) == 2 * 4 * 2
    assert {round(x, 9) for x, _, _ in faces.points[:8]} == {0.08}  # the back
    assert {round(y, 9) for _, y, _ in target.points[:8]} == {-0.05}


def test_the_way_and_the_virtual_forces_that_found_it() -> None:
    way, _, force = plan_shapes(a_plan(), [FACES["back"]])
    assert way.kind == ShapeKind.LINE_STRIP and [round(x, 9) for x, _, _ in way.points] == [0.13, 0.2, 0.33]
    assert force.kind == ShapeKind.ARROW and force.namespace == "virtual_force"
    tail, head = force.points
    assert head == pytest.approx((0.08, 0, 0.05))
    assert tail == pytest.approx((0.08 - FORCE, 0, 0.05))  # it pushes into the body
