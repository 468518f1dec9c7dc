"""Which joints are shown as near a limit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.drawing.shape import ORANGE, RED, Shape, ShapeKind
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.server.markers.limit_shapes import NEAR, limit_shapes

CONFIG = Path(__file__).parents[4] / "config"


@pytest.fixture(scope="module")
def cell() -> Workcell:
    return load_workcell(CONFIG / "arm7.yaml", "mock")


def shown(cell: Workcell, **values: dict[int, float]) -> list[Shape]:
    """What is shown of the arm, at rest in the middle of its ranges but for these values of joints."""
    arm = cell.part("arm")
    measured = arm.record
    measured.position[: arm.dof] = 0.5 * (measured.position_lower + measured.position_upper)[: arm.dof]
    measured.velocity[:] = 0.0
    for field, joints in values.items():
        for j, value in joints.items():
            measured[field][j] = value
    return limit_shapes(arm, cell.joint_frames()["arm"], measured)


def test_a_joint_near_the_end_of_its_range_has_a_ball_and_a_text(cell: Workcell) -> None:
    limits: Any = cell.part("arm").record
    low, high = limits.position_lower[1], limits.position_upper[1]
    assert shown(cell) == [] and shown(cell, position={1: high - 1.1 * NEAR * (high - low)}) == []
    ball, text = shown(cell, position={1: high - 0.9 * NEAR * (high - low)})
    assert {ball.namespace, text.namespace} == {"limits"} and {ball.frame, text.frame} == {"link_2"}
    assert (ball.kind, ball.color[:3], text.kind) == (ShapeKind.SPHERE, ORANGE[:3], ShapeKind.TEXT)
    assert text.text.startswith("joint_2: ") and text.text.endswith(f" of {high:.3f} rad")
    for beyond in (low, low - 0.1):
        ball, text = shown(cell, position={1: beyond})
        assert text.color == RED and text.text == f"joint_2: {beyond:.3f} of {low:.3f} rad"


def test_a_joint_at_its_limit_of_velocity_is_shown_in_either_direction(cell: Workcell) -> None:
    most = float(cell.part("arm").record.velocity_limit[2])
    assert shown(cell, velocity={2: 0.9 * most}) == []
    for velocity, color in ((0.97 * most, ORANGE), (-1.01 * most, RED)):
        _, text = shown(cell, velocity={2: velocity})
        assert (text.color, text.text) == (color, f"joint_3: {abs(velocity):.3f} of {most:.3f} rad/s")


def test_unknown_values_and_joints_without_a_frame_show_nothing(cell: Workcell) -> None:
    assert shown(cell, position={0: math.nan}, velocity={0: math.nan}) == []
    gripper = cell.part("gripper")
    frames = cell.joint_frames()["gripper"]
    assert frames == ("", ""), "its joints are in no URDF"
    assert limit_shapes(gripper, frames, gripper.record) == []


def test_frames_of_joints_are_links_of_robot_description() -> None:
    for name in ("two_arms", "panda", "six_arms"):
        cell = load_workcell(CONFIG / f"{name}.yaml", "mock")
        description = cell.robot_description()
        frames = [frame for part in cell.joint_frames().values() for frame in part]
        assert frames and len(set(frames)) == len(frames)
        assert all(f'<link name="{frame}"' in description for frame in frames)
