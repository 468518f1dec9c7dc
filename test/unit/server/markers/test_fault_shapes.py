"""What is drawn of a faulted part."""

from __future__ import annotations

from robot_rt_control.drawing.shape import RED, ShapeKind
from robot_rt_control.server.markers.fault_shapes import fault_shapes


def test_a_faulted_part_has_a_ball_and_its_fault_as_a_text() -> None:
    assert fault_shapes("arm", "arm_tool", "") == []
    ball, text = fault_shapes("arm", "arm_tool", "its values are too old")
    assert {(each.namespace, each.frame) for each in (ball, text)} == {("faults", "arm_tool")}
    assert (ball.kind, text.kind, text.color) == (ShapeKind.SPHERE, ShapeKind.TEXT, RED)
    assert text.text == "arm: its values are too old"
