"""Joints that are near a limit of position, or move at their limit of velocity."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.drawing.shape import ORANGE, RED, Shape, ShapeKind
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.part_kinds import quantity_units

NEAR = 0.03
"""Fraction of a joint's range: nearer to its end, the joint is shown."""
AT = 0.002
"""Likewise: it is at the limit."""
FAST = 0.95
"""Fraction of the velocity limit: a faster joint is shown."""
_BESIDE = 0.08
"""[m] from the joint to its text, along z of the joint's frame."""


def limit_shapes(part: PartDescription, frames: Sequence[str], measured: np.record) -> list[Shape]:
    """A ball at each joint that is near a limit, with a text; red: at the limit or beyond it.

    Compared are the measured values with the limits that actions plan with.

    Args:
        frames: of each joint; empty: it has none, and nothing is shown.
        measured: `layout.measured_dtype` of the part. Joints with unknown values are not shown.
    """
    limits, found = part.initial_record, []
    for j, (name, frame) in enumerate(zip(part.joint_names, frames, strict=True)):
        if not frame:
            continue
        units = quantity_units(part.units[j])
        q, v = float(measured.position[j]), abs(float(measured.velocity[j]))
        low, high, most = (float(limits[k][j]) for k in ("position_lower", "position_upper", "velocity_limit"))
        texts, is_at = [], False
        if math.isfinite(high - low) and math.isfinite(q):
            limit = high if q > 0.5 * (low + high) else low
            left = abs(limit - q) if low <= q <= high else 0.0
            if left <= NEAR * (high - low):
                texts.append(f"{q:.3f} of {limit:.3f} {units['position']}")
                is_at = left <= AT * (high - low)
        if v >= FAST * most:
            texts.append(f"{v:.3f} of {most:.3f} {units['velocity']}")
            is_at = is_at or v >= most
        if texts:
            found += _marked(frame, f"{name}: {', '.join(texts)}", is_at)
    return found


def _marked(frame: str, text: str, is_at: bool) -> list[Shape]:
    color = RED if is_at else ORANGE
    return [
        Shape(
            namespace="limits", frame=frame, kind=ShapeKind.SPHERE, points=((0.0, 0.0, 0.0),), size=0.1,
            color=(*color[:3], 0.5),
        ),
        Shape(
            namespace="limits", frame=frame, kind=ShapeKind.TEXT, points=((0.0, 0.0, _BESIDE),), size=0.03,
            color=color, text=text,
        ),
    ]  # fmt: skip
