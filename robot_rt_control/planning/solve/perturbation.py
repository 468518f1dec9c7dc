"""A plan's spread: where the body ends if friction, its mass and the contacts' stiffness are not as the scene says.

A blow and a slide differ much between such scenes, a push that keeps contact does not: the spread foretells how a plan
fares in another engine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.trajectory import Trajectory
from robot_rt_control.planning.scene.perturbed_scene import Perturbation, perturbed

Array = NDArray[np.float64]

PERTURBATIONS = (
    Perturbation(name="friction -30 %", friction=0.7),
    Perturbation(name="friction +30 %", friction=1.3),
    Perturbation(name="mass -20 %", mass=0.8),
    Perturbation(name="mass +20 %", mass=1.2),
    Perturbation(name="contact stiffness x 0.5", stiffness=0.5),
    Perturbation(name="contact stiffness x 2", stiffness=2.0),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Where the body ends in a perturbed scene."""

    name: str
    position: float
    """[m] from where it ends in the scene as it is; infinite: the simulation diverged."""
    error: float
    """Position error to the target, per way of the task."""
    orientation: float
    """[rad] error to the target."""


def perturbed_rollouts(problem: Problem, nominal: Trajectory) -> list[Outcome]:
    """The inputs of a trajectory without virtual forces, in each perturbed scene."""
    found = []
    for perturbation in PERTURBATIONS:
        scene = perturbed(problem.scene, perturbation)
        dynamics = Dynamics(scene, problem.task, problem.stiffness)
        try:
            its = dynamics.ends(nominal.inputs[None, :, : problem.n])
        finally:
            dynamics.close()
        if not np.isfinite(its.body_position).all():
            found.append(Outcome(name=perturbation.name, position=np.inf, error=np.inf, orientation=np.inf))
            continue
        error = problem.cost.error(its)
        moved = float(np.linalg.norm(its.body_position[-1] - nominal.body_position[-1]))
        found.append(
            Outcome(name=perturbation.name, position=moved, error=error.normalized, orientation=error.orientation)
        )
    return found


def spread(problem: Problem, nominal: Trajectory | None) -> float:
    """The largest deviation of the end over the perturbed rollouts, per way of the task; without a trajectory, inf."""
    if nominal is None:
        return float(np.inf)
    return max(outcome.position for outcome in perturbed_rollouts(problem, nominal)) / problem.cost.distance
