"""Parts that are faulted, and why."""

from __future__ import annotations

from robot_rt_control.drawing.shape import RED, Shape, ShapeKind

_ABOVE = 0.15
"""[m] from the frame to the text, along its z."""


def fault_shapes(part: str, frame: str, fault: str) -> list[Shape]:
    """A ball at a faulted part, with its name and fault as a text; none if it is not faulted.

    Args:
        frame: a link of the part.
        fault: in words; empty: none.
    """
    if not fault:
        return []
    ball = Shape(
        namespace="faults", frame=frame, kind=ShapeKind.SPHERE, points=((0.0, 0.0, 0.0),), size=0.15,
        color=(*RED[:3], 0.5),
    )  # fmt: skip
    text = Shape(
        namespace="faults", frame=frame, kind=ShapeKind.TEXT, points=((0.0, 0.0, _ABOVE),), size=0.04, color=RED,
        text=f"{part}: {fault}",
    )  # fmt: skip
    return [ball, text]
