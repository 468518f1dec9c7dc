"""Shooting: a few smooth changes of the geometries' paths, differentiated over the whole horizon by millimetres.

Derivatives of single intervals see an impact, or do not: at a point of a trajectory where the body is about to be
touched they foretell nothing. Whole rollouts with steps of millimetres average over that. Without virtual forces they
are cheap: all of them run in one call of the engine. Gauss-Newton on the body's final pose and motion, with several
dampings tried at a time; or one of the differences' own steps, if that is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.cost import CLEAR, Cost
from robot_rt_control.planning.optimise.scvx import Limits
from robot_rt_control.planning.optimise.trajectory import Trajectory

if TYPE_CHECKING:  # settings are read without MuJoCo
    from robot_rt_control.planning.optimise.dynamics import Dynamics, Ends

Array = NDArray[np.float64]

_DAMPINGS = 10.0 ** np.arange(-2.0, 5.1, 1.0)
_INPUTS = 1e-3
"""Weight of the squared inputs beside the residuals: among equals, the calmest."""

_LIMIT = 1e-3
"""[rad or m] A joint that efforts drive, or a servo, may pass a limit by so much between two control steps."""


@dataclass(frozen=True, kw_only=True)
class ShootingSettings:
    """How it searches."""

    step: float = 0.004
    """[m] of the differences at first;"""
    least: float = 0.0002
    """it ends below."""
    greatest: float = 0.016
    """[m] It grows up to that while single steps do better than what the derivatives foretell."""
    bumps: int = 6
    """Changes over time of each direction."""
    enough: float = 0.02
    """It ends below this sum of squared residuals: 0.4 % of the way."""
    iterations: int = 20
    """At most."""


def shoot(
    dynamics: Dynamics,
    cost: Cost,
    limits: Limits,
    start: Trajectory,
    settings: ShootingSettings,
) -> Array:
    """(N, inputs) better inputs than those of a trajectory without virtual forces, or the same."""
    inputs, n = start.inputs.copy(), dynamics.n
    basis = _basis(dynamics, start, settings.bumps)
    if not len(basis):
        return inputs
    now = inputs[None, :, :n]
    best, step = float(value(cost, dynamics.ends(now), now, limits, dynamics)[0]), settings.step
    for _ in range(settings.iterations):
        now = inputs[None, :, :n]
        tried = within(dynamics, limits, np.concatenate([now + step * basis, now - step * basis, now]))
        ends = dynamics.ends(tried)
        values, r = value(cost, ends, tried, limits, dynamics), cost.residuals(ends)
        i = int(np.argmin(values))
        better, its, own = tried[i], float(values[i]), True
        if np.isfinite(r).all():
            rates = (r[: len(basis)] - r[len(basis) : -1]).T / 2.0  # per step
            square, slope = rates.T @ rates, rates.T @ r[-1]
            changes = [np.linalg.solve(square + d * np.eye(len(basis)), -slope) for d in _DAMPINGS]
            tried = within(dynamics, limits, now + step * np.tensordot(np.array(changes), basis, 1))
            values = value(cost, dynamics.ends(tried), tried, limits, dynamics)
            i = int(np.argmin(values))
            if values[i] < its:
                better, its, own = tried[i], float(values[i]), False
        if its > 0.9 * best:
            step /= 2.0
        elif own:
            step = min(2.0 * step, settings.greatest)
        if its < best:
            inputs[:, :n], best = better, its
        if step < settings.least or best < settings.enough:
            break
    return inputs


def value(cost: Cost, ends: Ends, inputs: Array, limits: Limits, dynamics: Dynamics) -> Array:
    """(B,) values; infinite where a limit of the joints is broken."""
    r = cost.residuals(ends)
    values = np.sum(r * r, axis=1) + CLEAR * ends.missing + _INPUTS * np.mean(np.sum(inputs**2, axis=2), axis=1)
    free = ~dynamics.scene.actuated.velocity_driven
    broken = (ends.speed > 1.001 * limits.velocity)[:, free].any(axis=1)
    broken |= ((ends.lower < limits.lower - _LIMIT) | (ends.upper > limits.upper + _LIMIT)).any(axis=1)
    return np.where(np.isfinite(values) & ~broken, values, np.inf)


def _basis(dynamics: Dynamics, about: Trajectory, bumps: int) -> Array:
    """(M, N, n) changes of the scaled inputs that move a geometry by 1 m, in one direction and about one time."""
    steps, t = len(about.inputs), dynamics.task.control_step
    bumps = min(bumps, steps)
    found = []
    times = np.arange(steps + 1) / steps
    for geom in sorted({pair.geom for pair in dynamics.scene.pairs}):
        moves = dynamics.moves(geom, about.joint_position)
        for direction in moves:
            for j in range(bumps):
                distance = np.abs(times - (j + 1) / bumps) * bumps / 1.5
                bump = np.where(distance < 1.0, 0.5 * (1.0 + np.cos(np.pi * distance)), 0.0)
                bump[0] = 0.0
                q = direction * bump[:, None]
                before = np.concatenate([q[:1], q[:-1]])
                acceleration = (q[1:] - q[:-1] - (q[:-1] - before[:-1])) / t**2
                if np.abs(acceleration).max() > 1e-6:
                    found.append(dynamics.scaled_inputs(about.joint_position, acceleration))
    return np.array(found)


def within(dynamics: Dynamics, limits: Limits, inputs: Array) -> Array:
    """(B, N, n) the inputs next to these that keep the limits of inputs and of commanded velocities."""
    actuated, t = dynamics.scene.actuated, dynamics.task.control_step
    inputs = np.clip(inputs, -1.0, 1.0)
    driven, scale = actuated.velocity_driven, actuated.acceleration
    v = np.zeros((len(inputs), inputs.shape[2]))
    for i in range(inputs.shape[1]):
        after = np.clip(v + inputs[:, i] * scale * t, -limits.velocity, limits.velocity)
        inputs[:, i] = np.where(driven, (after - v) / (scale * t), inputs[:, i])
        v = after
    return inputs
