"""The guides of a problem: start guesses that go a way which a person would try first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.guess.gripping import Gripping
from robot_rt_control.planning.guess.pushing import LEAST_STEPS, Pushing
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.problem import Problem

Array = NDArray[np.float64]

_HASTE = 1.3
"""Factor of the horizon: a line that needs longer is no slow push any more."""


def lines_of(problem: Problem) -> list[tuple[str, Callable[[Dynamics, float], Array]]]:
    """Name and inputs of each straight push that is slow enough for friction to hold the body; see `Pushing.line`."""
    if problem.task.steps < LEAST_STEPS or not problem.scene.actuated.velocity_driven.all():
        return []
    pushing = Pushing(problem)
    if pushing.needed_time(slow=True) > _HASTE * problem.task.time:
        return []
    return [(name, partial(pushing.line, geom=geom, row=row)) for name, geom, row in pushing.pushes()]


def guides_of(problem: Problem) -> list[tuple[str, Callable[[Dynamics, float], Array]]]:
    """Name and inputs of each guide, for a share of the horizon; the most promising one first."""
    if problem.task.steps < LEAST_STEPS:
        return []
    pushing, gripping = Pushing(problem), Gripping(problem)
    pushed = [(name, partial(pushing.inputs, geom=geom, row=row)) for name, geom, row in pushing.pushes()]
    gripped = gripping.guides()
    return gripped if gripped and gripping.lifted else [*pushed, *gripped]  # a push lifts nothing
