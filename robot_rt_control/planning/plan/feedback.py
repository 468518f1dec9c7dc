"""A plan's feedback: how far its tool is moved aside by where the body is measured, as `track_with_pose` takes it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BOUNDS = ("most", "speed", "acceleration")


@dataclass(frozen=True, kw_only=True, eq=False)
class Feedback:
    """Tables over the N control steps of a plan, by s = (displacement of the tool along x and y [m], its velocity, the
    body's deviation along x and y [m], and about z [rad])."""

    gains: Array
    """(N, 2, 7) acceleration of the displacement by -s, constant over each control step."""
    model: Array
    """(N, 3, 7) rates of the deviation by s."""
    lead: Array
    """(N + 1, 2, n) motion of the joints per displacement, without turning the tool."""
    bounds: Array
    """(3,) of the displacement along each axis: most [m], speed [m/s], acceleration [m/s^2]."""

    def misfit(self, steps: int, joints: int) -> str:
        """What is wrong with it for a plan of so many steps and joints; empty: nothing."""
        shapes = {"gains": (steps, 2, 7), "model": (steps, 3, 7), "lead": (steps + 1, 2, joints), "bounds": (3,)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape:
                return f"{name}: shape {array.shape} in place of {shape}"
            if not np.isfinite(array).all():
                return f"{name}: numbers that are not finite"
        return "" if (self.bounds >= 0.0).all() else "bounds: negative ones"

    def parameters(self, step: float, body: Array) -> dict[str, Any]:
        """Parameters of `track_with_pose`, beside those of the trajectory.

        Args:
            step: [s] of the plan.
            body: (N + 1, 3) planned x, y [m], turn about z [rad].
        """
        tables = {"body": body, "gains": self.gains, "model": self.model, "lead": self.lead}
        return {
            "step": step,
            **{name: table.ravel().tolist() for name, table in tables.items()},
            **dict(zip(BOUNDS, self.bounds.tolist(), strict=True)),
        }


NAMES = tuple(field.name for field in fields(Feedback))
