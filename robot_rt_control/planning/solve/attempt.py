"""One start of a search: the penalty loop and the solution without virtual forces, or the latter alone.

    penalty loop:  SCVX with k that costs more and more; residual k draws the geometries near (traction.py)
    after each accepted iterate:  SCVX with k = 0, first with the draw, then without it
    the result:    the best trajectory without virtual forces; the loop ends as soon as it is good enough
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.optimise import penalty_loop, scvx
from robot_rt_control.planning.optimise.cost import Cost
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.hill_climb import climb
from robot_rt_control.planning.optimise.linearization import Differences, Model
from robot_rt_control.planning.optimise.penalty_loop import Iterate
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.scvx import Iteration, Limits
from robot_rt_control.planning.optimise.shooting import shoot
from robot_rt_control.planning.optimise.traction import draw_of, drawn_inputs
from robot_rt_control.planning.optimise.trajectory import Trajectory

Array = NDArray[np.float64]


_CLOSE = 0.25
"""Fraction of the accepted errors: closer, there is nothing to shoot for."""
_GOOD_RADIUS = 0.01
"""A result that is good enough is polished until the trust region is as small."""
_ROUNDS = 3
"""Rounds of shooting and SCVX in turn."""


class Stopped(Exception):
    """Raised by the watch of an attempt to end it."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """A start."""

    name: str
    inputs: Callable[[Dynamics], Array]
    """(N, inputs)"""
    virtual: bool
    """Whether virtual forces help at first: the penalty loop."""
    only: int | None = None
    """The only pair with virtual forces; None: all."""
    differences: Differences = field(default_factory=Differences)
    curvature: float = 1.0
    """Curvature of the virtual forces, per that of the pairs: below 1 they reach farther."""
    polished: bool = True
    """Whether it is improved; else it is a result as it is, or none."""


@dataclass(kw_only=True)
class Attempt:
    """What came of a start; it grows while that is worked on."""

    name: str
    best: Trajectory | None = None
    """Without virtual forces."""
    best_cost: float = np.inf
    source: Trajectory | None = None
    """What the best one was made from: with virtual forces, or the guess."""
    iterates: list[Iterate] = field(default_factory=list)
    good: bool = False
    stiffness: Array = field(default_factory=lambda: np.zeros(0))
    """(pairs,) [N] k of a scaled input of 1."""
    trouble: str = ""
    """What failed last, where steps were rejected as nothing could be computed."""
    share: float = 0.0


def attempt(
    problem: Problem, guess: Guess, threads: int, watch: Callable[[Attempt, str, Iteration | None], None]
) -> Attempt:
    """Work on a start.

    Args:
        watch: called after each iteration, and with None for it after each iterate, and often in between with an
            empty phase; where it raises Stopped, the attempt ends with what it has.
    """
    run = _Run(problem, guess, watch)
    run.dynamics = problem.dynamics(threads, guess.curvature)
    run.found.stiffness = run.dynamics.stiffness
    run.dynamics.check = lambda: watch(run.found, "", None)
    try:
        run.work()
    except Stopped:
        pass
    finally:
        run.dynamics.close()
        run.found.share = 1.0
    return run.found


class _Run:
    dynamics: Dynamics

    def __init__(
        self, problem: Problem, guess: Guess, watch: Callable[[Attempt, str, Iteration | None], None]
    ) -> None:
        self.problem, self.guess, self._watch = problem, guess, watch
        self.n, self.settings = problem.n, problem.settings
        self.found = Attempt(name=guess.name)
        self._plain = problem.cost.with_penalty(0.0)
        self._physical_limits = replace(problem.limits, stiffness=0.0)

    def work(self) -> None:
        self.start = self.dynamics.roll_out(self.guess.inputs(self.dynamics))
        if not self.guess.polished:
            self._offer(self.start, self.start)
            return
        if not self.guess.virtual:
            self._polish(self.start, self.start, (None,))
            return
        penalty_loop.run(
            self._solve,
            self.problem.error,
            self._stiffness,
            self.start,
            self.settings.penalty,
            process=self._process,
            progress=self._iterated,
            done=self._physical,
        )

    def _stiffness(self, trajectory: Trajectory) -> Array:
        return trajectory.inputs[:, self.n :]

    def _iterated(self, iterate: Iterate) -> None:
        self.found.iterates.append(iterate)
        self.found.share = len(self.found.iterates) / self.settings.penalty.iterations
        self._watch(self.found, "penalty", None)

    def _solve(self, penalty: float, start: Trajectory) -> Trajectory:
        draw = None
        if start is not self.start and self.settings.draw:
            weight = max(self.settings.draw_per_penalty * penalty, self.settings.least_draw)
            draw = draw_of(self._stiffness(start), weight=weight)
        cost = self.problem.cost.with_penalty(penalty, draw)
        limits = self.problem.limits_of(self.guess.only)
        return self._optimize("penalty", cost, limits, start, lambda _: None).trajectory

    def _process(self, trajectory: Trajectory) -> Trajectory:
        """Post-processing: geometries drawn to their faces, then excessive k taken away."""
        post, average = self.settings.post, float(np.mean(self._stiffness(trajectory)))
        if not post.above <= average <= post.below:
            return trajectory
        if post.traction is not None:
            trajectory = drawn_inputs(self.dynamics, trajectory, self.problem.limits, post.traction)
        return self._climb(trajectory) if post.hill_climbing and trajectory.finite else trajectory

    def _climb(self, trajectory: Trajectory) -> Trajectory:
        def with_stiffness(k: Array) -> Trajectory:
            return self.dynamics.roll_out(np.concatenate([trajectory.inputs[:, : self.n], k], axis=1))

        def cost(k: Array) -> float:
            found = with_stiffness(k)
            if not found.finite:
                return np.inf
            error = self.problem.error(found)
            return error.normalized + error.orientation / self.problem.cost.angle

        return with_stiffness(climb(self._stiffness(trajectory), cost))

    def _physical(self, trajectory: Trajectory) -> bool:
        """Solve without virtual forces, near a trajectory with them; whether the result is good enough."""
        inputs = trajectory.inputs.copy()
        inputs[:, self.n :] = 0.0
        draw = draw_of(self._stiffness(trajectory), weight=self.settings.final_draw)
        draws = (draw, None) if self.settings.draw else (None,)
        self._polish(self.dynamics.roll_out(inputs), trajectory, draws)
        return self.found.good

    def _polish(self, start: Trajectory, source: Trajectory, draws: tuple[Array | None, ...]) -> None:
        self._offer(start, source)
        for draw in draws:
            start = self._shot(start, source) if draw is None else start
            cost = self.problem.cost.with_penalty(0.0, draw)
            solution = self._optimize(
                "physical", cost, self._physical_limits, start, lambda found: self._offer(found, source)
            )
            start = solution.trajectory
        for _ in range(_ROUNDS):
            if self.found.good or self.settings.shooting is None:
                break
            before = self.found.best_cost
            start = self._shot(start, source)
            if self.found.good or self.found.best_cost > 0.9 * before:
                break
            start = self._optimize(
                "physical", self._plain, self._physical_limits, start, lambda found: self._offer(found, source)
            ).trajectory

    def _shot(self, start: Trajectory, source: Trajectory) -> Trajectory:
        """Improved by whole rollouts, if that is wanted."""
        settings = self.settings.shooting
        if settings is None or self.problem.good(start, _CLOSE):
            return start
        inputs = shoot(self.dynamics, self._plain, self._physical_limits, start, settings)
        found = self.dynamics.roll_out(inputs)
        self._offer(found, source)
        return found if self._plain.value(found) < self._plain.value(start) else start

    def _offer(self, trajectory: Trajectory, source: Trajectory) -> None:
        """A trajectory without virtual forces: each one is a result if it is the best so far."""
        value = self._plain.value(trajectory)
        if value < self.found.best_cost:
            good = self.problem.good(trajectory)
            if self.found.good and not good and self.problem.touch(trajectory) is not None:
                return
            self.found.best, self.found.best_cost, self.found.source = trajectory, value, source
            self.found.good = good

    def _optimize(
        self, phase: str, cost: Cost, limits: Limits, start: Trajectory, accepted: Callable[[Trajectory], None]
    ) -> scvx.Solution:
        region = self.settings.region
        if phase == "physical" and self.found.good and self.settings.shooting is not None:
            region = replace(region, smallest=max(region.smallest, _GOOD_RADIUS))

        def progress(iteration: Iteration) -> None:
            self.found.trouble = iteration.trouble
            self._watch(self.found, phase, iteration)

        virtual = limits is not self._physical_limits
        model = Model(dynamics=self.dynamics, differences=self.guess.differences, virtual=virtual)
        return scvx.optimize(model, cost, limits, start, region, progress, accepted)
