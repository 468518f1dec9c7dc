"""Traction: residual virtual stiffness says where, when and how much force is missing; geometries are drawn there.

As a part of the optimization: a cost on the distance of each pair with residual k, see cost.py. A geometry must be at
its face before the force is needed, so the residual is spread backwards in time. And as the document has it: forces in
a rollout, `drawn_inputs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.scvx import Limits
from robot_rt_control.planning.optimise.trajectory import Trajectory

if TYPE_CHECKING:  # settings are read without MuJoCo
    from robot_rt_control.planning.optimise.dynamics import Dynamics, Moment

Array = NDArray[np.float64]

DRAW = 3.0
"""κ of the greatest residual."""
_SPREAD = 0.2
"""Fraction of the horizon: this long before its use, κ has fallen to 1/e."""


def draw_of(stiffness: Array, *, weight: float = DRAW) -> Array:
    """(N + 1, pairs) κ for the residual, scaled stiffness (N, pairs); without any, zero."""
    steps, pairs = stiffness.shape
    greatest = float(np.max(stiffness, initial=0.0))
    draw = np.zeros((steps + 1, pairs))
    if greatest <= 0.0:
        return draw
    fade = np.exp(-1.0 / (_SPREAD * steps))
    draw[-1] = stiffness[-1] / greatest
    for i in reversed(range(steps)):
        # Both ends of a step with residual k belong to it.
        used = np.maximum(stiffness[i], stiffness[i - 1] if i > 0 else 0.0) / greatest
        draw[i] = np.maximum(used, fade * draw[i + 1])
    return weight * draw


@dataclass(frozen=True, kw_only=True)
class TractionSettings:
    """Settings of the traction controller and of the damping controller."""

    force: float = 2.0
    """[N] K, of a scaled k of 1."""
    behind: float = 0.02
    """[m] behind the face: where the force points at; it shrinks with k below 1."""
    damping: float = 10.0
    """[1/s] K_v"""
    inertia: float = 0.1
    """Added to the inertia of velocity-driven joints, per greatest one of all: else the wrist alone would move."""


def drawn_inputs(
    dynamics: Dynamics, trajectory: Trajectory, limits: Limits, settings: TractionSettings
) -> Trajectory:
    """A rollout in which each geometry with residual k is pulled to its face, and sudden motion is damped.

    Traction: force K k d̂ towards a point a little behind the face, through Jᵀ. Damping: K_v M (v_before - v), v_before
    of the trajectory as it was. A velocity-driven joint gets the acceleration that these efforts give to the robot
    alone (an admittance).

    Source: the document's figure 1C, claims 1, 5, 8.
    """
    n, driven = dynamics.n, dynamics.scene.actuated.velocity_driven
    stiffness = trajectory.inputs[:, n:]
    h = dynamics.task.control_step

    def adjust(i: int, now: Moment) -> Array:
        effort = settings.damping * now.inertia @ (trajectory.joint_velocity[i] - now.velocity)
        for p, k in enumerate(stiffness[i]):
            if k > 0.0 and now.phi[p] > 0.0:
                aim = now.points[p] + settings.behind * min(float(k), 1.0) * now.inward[p]
                way = aim - now.centers[p]
                effort += now.jacobians[p].T @ (settings.force * k * way / max(float(np.linalg.norm(way)), 1e-9))
        u = trajectory.inputs[i].copy()
        heavier = now.inertia + settings.inertia * now.inertia.diagonal().max() * np.eye(n)
        change = np.where(driven, np.linalg.solve(heavier, effort), effort) / dynamics.scale
        u[:n] = np.clip(u[:n] + change, -1.0, 1.0)
        # The commanded velocity stays within its limits.
        most = (limits.velocity - now.velocity) / (h * dynamics.scale)
        least = (-limits.velocity - now.velocity) / (h * dynamics.scale)
        u[:n] = np.where(driven, np.clip(u[:n], np.minimum(least, 0.0), np.maximum(most, 0.0)), u[:n])
        return u

    return dynamics.roll_out(trajectory.inputs, adjust)
