"""The contact planner's rival: a sampling-based shooter, the cross-entropy method on the planner's own scene, rollouts
and cost, without virtual forces.

It samples the commanded velocities of velocity-driven joints, and the efforts of others, at a few knots over the
horizon, and draws mean and spread towards the best samples. Once it gets no better it begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.planning import Budget
from robot_rt_control.planning.guess.guides import guides_of
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.shooting import value, within

Array = NDArray[np.float64]

_KNOTS = 8
_SAMPLES, _ELITES = 80, 10
_FIRST = 0.3
"""Standard deviation, of the greatest velocity or effort; begun at a guess,"""
_NARROW = 0.1
"""of that; each new beginning doubles it."""
_SMOOTHING = 0.3
"""Of the last mean and spread, is kept."""
_PATIENCE = 12
"""Generations without gain, before it begins anew."""


@dataclass(kw_only=True)
class Found:
    """The best motion, and how it came to it."""

    inputs: Array
    """(N, n + pairs)"""
    error: float = 1.0
    """Per way of the task."""
    good: bool = False
    curve: list[tuple[float, float]] = field(default_factory=list)
    """[s] of processor time, error of the best one by cost, at each gain."""
    rollouts: int = 0
    processor: float = 0.0
    """[s]"""


def shoot(problem: Problem, seconds: float, *, guess: Array | None = None, threads: int = 1) -> Found:
    """Search until the result is accepted, or so many seconds of processor time are over.

    Args:
        guess: (N, n + pairs) inputs about which it samples, instead of standing still.
    """
    budget, n, steps = Budget(seconds), problem.n, problem.task.steps
    dynamics, cost = problem.dynamics(threads), problem.cost.with_penalty(0.0)
    actuated, limits = dynamics.scene.actuated, problem.limits
    base = np.zeros((steps, dynamics.inputs)) if guess is None else guess
    first = _FIRST if guess is None else _NARROW * _FIRST
    random, found, best = np.random.default_rng(0), Found(inputs=base), np.inf
    knots = min(_KNOTS, steps)
    # Knots to the ends of the control steps; at the beginning all stands still.
    spread_out = np.array([np.interp(np.arange(steps + 1) / steps * knots, np.arange(knots + 1), row)
                           for row in np.eye(knots + 1)[1:]])  # fmt: skip
    per_velocity = limits.velocity / (actuated.acceleration * problem.task.control_step)

    def inputs_of(samples: Array) -> Array:
        """(B, knots, n) → (B, N, n)"""
        shapes = np.einsum("bkn,ki->bin", samples, spread_out)
        change = np.where(actuated.velocity_driven, np.diff(shapes, axis=1) * per_velocity, shapes[:, 1:])
        return within(dynamics, limits, base[:, :n] + change)

    def over() -> bool:
        return budget.is_set() or found.good

    try:
        while not over():
            mean, deviation, reached, idle = np.zeros((knots, n)), np.full((knots, n), first), np.inf, 0
            first = min(2.0 * first, _FIRST)
            while idle < _PATIENCE and not over():
                samples = mean + deviation * random.standard_normal((_SAMPLES, knots, n))
                samples[0] = mean
                tried = inputs_of(samples)
                ends = dynamics.ends(tried)
                values = value(cost, ends, tried, limits, dynamics)
                found.rollouts += _SAMPLES
                order = np.argsort(values, kind="stable")
                elite = samples[order[:_ELITES]]
                mean = _SMOOTHING * mean + (1.0 - _SMOOTHING) * elite.mean(axis=0)
                deviation = _SMOOTHING * deviation + (1.0 - _SMOOTHING) * elite.std(axis=0)
                i = int(order[0])
                idle, reached = (0, values[i]) if values[i] < 0.999 * reached else (idle + 1, reached)
                if values[i] < best:
                    best = values[i]
                    found.inputs = np.concatenate([tried[i], np.zeros((steps, dynamics.pairs))], axis=1)
                    found.error = float(np.linalg.norm(cost.position_error(ends, i)) / cost.distance)
                    found.good = found.error < 1.0 and problem.good(dynamics.roll_out(found.inputs))
                    found.curve.append((budget.used, found.error))
        found.processor = budget.used
    finally:
        dynamics.close()
    return found


def guided(problem: Problem) -> Array | None:
    """The inputs of the planner's first guide; None: it has none for this task."""
    guides = guides_of(problem) if problem.settings.guides else []
    if not guides:
        return None
    dynamics = problem.dynamics(1)
    try:
        return guides[0][1](dynamics, 0.9)
    finally:
        dynamics.close()
