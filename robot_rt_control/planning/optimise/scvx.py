"""Successive convexification: linearize, solve in the trust region, roll the changed inputs out, adapt the region.

With ρ = ΔJ / ΔL, actual per predicted change of the cost: a step with ρ ≤ 0 is rejected and the radius r halved; below
0.25 r is halved; from 0.9 on it grows by 3.2. It ends at a small |ΔL|, or after `iterations`. Only changes of the
inputs are applied: states come from the rollout alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.cost import Cost
from robot_rt_control.planning.optimise.subproblem import Bounds, Step, solve
from robot_rt_control.planning.optimise.trajectory import BODY_STATES, Linearization, Trajectory

Array = NDArray[np.float64]


class Model(Protocol):
    """What can be rolled out and linearized; `dynamics.Dynamics`."""

    def roll_out(self, inputs: Array) -> Trajectory: ...
    def linearize(self, about: Trajectory) -> Linearization: ...


@dataclass(frozen=True, kw_only=True)
class TrustRegion:
    """How the radius adapts."""

    radius: float = 0.5
    """At the start, in scaled inputs."""
    largest: float = 2.0
    """Greatest radius."""
    smallest: float = 1e-4
    """Below this radius it ends."""
    iterations: int = 50
    """At most."""
    tolerance: float = 1e-3
    """On |ΔL|, per cost of at least 1."""

    def next_radius(self, radius: float, ratio: float) -> float:
        """The radius after a step with this ρ."""
        if not ratio >= 0.25:  # also NaN
            return radius / 2.0
        return min(3.2 * radius, self.largest) if ratio >= 0.9 else radius


class JointMotion(Protocol):
    """What limits hold for: `Trajectory`, and a motion of the joints alone."""

    @property
    def inputs(self) -> Array: ...
    @property
    def joint_position(self) -> Array: ...
    @property
    def joint_velocity(self) -> Array: ...


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of the joints and of the inputs."""

    lower: Array  # (n,)
    upper: Array
    velocity: Array
    stiffness: float | Array = 5.0
    """Greatest k, scaled, of all pairs or of each; 0: no virtual forces."""

    def kept(self, inputs: Array) -> Array:
        """Inputs without what the solver's tolerance leaves beyond their limits: a k of 0 is exactly 0."""
        n = len(self.lower)
        return np.concatenate([np.clip(inputs[:, :n], -1.0, 1.0), np.clip(inputs[:, n:], 0.0, self.stiffness)], axis=1)

    def bounds(self, about: JointMotion, radius: float) -> Bounds:
        """Bounds of deviations about a trajectory; where that breaks a limit, it may stay and come back."""
        n, (steps, inputs) = len(self.lower), about.inputs.shape
        z_lower, z_upper = np.full((2, steps, 2 * n + BODY_STATES), np.inf)
        z_lower = -z_lower
        q, v = about.joint_position[1:], about.joint_velocity[1:]
        z_lower[:, :n], z_upper[:, :n] = np.minimum(self.lower - q, 0.0), np.maximum(self.upper - q, 0.0)
        z_lower[:, n : 2 * n] = np.minimum(-self.velocity - v, 0.0)
        z_upper[:, n : 2 * n] = np.maximum(self.velocity - v, 0.0)
        least = np.concatenate([-np.ones(n), np.zeros(inputs - n)])
        most = np.concatenate([np.ones(n), np.broadcast_to(self.stiffness, inputs - n)])
        u_lower = np.maximum(np.minimum(least - about.inputs, 0.0), -radius)
        u_upper = np.minimum(np.maximum(most - about.inputs, 0.0), radius)
        return Bounds(z_lower=z_lower, z_upper=z_upper, u_lower=u_lower, u_upper=u_upper)


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """One step, for progress."""

    iteration: int
    cost: float
    """J after it."""
    predicted: float
    """ΔL"""
    ratio: float
    """ρ"""
    radius: float
    """Radius of the next step."""
    accepted: bool
    trouble: str = ""
    """Why no cost could be computed: the simulation diverged (when), or the subproblem was not solved."""


@dataclass(frozen=True, kw_only=True)
class Solution:
    trajectory: Trajectory
    cost: float
    iterations: tuple[Iteration, ...]


def optimize(
    model: Model,
    cost: Cost,
    limits: Limits,
    start: Trajectory,
    region: TrustRegion,
    progress: Callable[[Iteration], None] = lambda _: None,
    improved: Callable[[Trajectory], None] = lambda _: None,
) -> Solution:
    """A local minimum of the cost near `start`.

    Args:
        progress: called after each iteration, in the calling thread; an exception from it ends the search.
        improved: called with each accepted trajectory, before `progress`.
    """
    current, J, radius = start, cost.value(start), region.radius
    found: list[Iteration] = []
    linear: Linearization | None = None
    for i in range(region.iterations):
        if linear is None:
            linear = model.linearize(current)
            quadratic = cost.quadratic(current, linear)
        step = solve(quadratic, linear, limits.bounds(current, radius))
        if step is not None and -step.change <= region.tolerance * max(1.0, abs(J)):
            break
        candidate, ratio, value, trouble = _try(model, cost, limits, current, J, step)
        radius = region.next_radius(radius, ratio)
        accepted = candidate is not None and ratio > 0.0
        if accepted:
            assert candidate is not None
            current, J, linear = candidate, value, None
            improved(current)
        predicted = step.change if step is not None else 0.0
        found.append(
            Iteration(
                iteration=i, cost=J, predicted=predicted, ratio=ratio, radius=radius, accepted=accepted, trouble=trouble
            )
        )
        progress(found[-1])
        if radius < region.smallest:
            break
    return Solution(trajectory=current, cost=J, iterations=tuple(found))


def _try(
    model: Model, cost: Cost, limits: Limits, current: Trajectory, J: float, step: Step | None
) -> tuple[Trajectory | None, float, float, str]:
    """The trajectory of a step, ρ, its cost, trouble; a failed subproblem and a diverged simulation count as ρ < 0."""
    if step is None:
        return None, -1.0, J, "the subproblem was not solved"
    candidate = model.roll_out(limits.kept(current.inputs + step.du))
    value = cost.value(candidate)
    if not np.isfinite(value):
        knot = int(np.argmin(np.isfinite(candidate.knots).all(axis=1)))
        return None, -1.0, J, f"the simulation diverged at {knot / (len(candidate.knots) - 1) * cost.time:.2f} s"
    return candidate, (value - J) / step.change, value, ""
