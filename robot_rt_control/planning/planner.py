"""The contact planner: from a task to a plan whose virtual forces are gone.

    penalty loop:  SCVX with k that costs more and more; residual k draws the geometries near (traction.py)
    after each accepted iterate:  SCVX with k = 0, first with the draw, then without it
    the result:    the best of those, rolled out without virtual forces

The loop ends as soon as such a rollout is good enough.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning import penalty_loop, scvx
from robot_rt_control.planning.cost import Cost, PoseError, needed_stiffness
from robot_rt_control.planning.engines import require_engines
from robot_rt_control.planning.hill_climb import climb
from robot_rt_control.planning.penalty_loop import Iterate
from robot_rt_control.planning.plan import FORMAT, LIMITS, Plan
from robot_rt_control.planning.scvx import Iteration, Limits
from robot_rt_control.planning.settings import Settings
from robot_rt_control.planning.task import Task
from robot_rt_control.planning.traction import draw_of
from robot_rt_control.planning.trajectory import Trajectory
from robot_rt_control.vocabulary.errors import DefinitionError

if TYPE_CHECKING:  # settings are read without MuJoCo
    from robot_rt_control.planning.scene import Scene

Array = NDArray[np.float64]

_FIRST_STIFFNESS = 1.5
"""Scaled k of the first guess, of a pair that pushes towards the target: below 1 it may not overcome friction, and
then has no gradient."""


class Cancel(Protocol):
    """Such as threading.Event."""

    def is_set(self) -> bool: ...


class _Cancelled(Exception):
    pass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is reported, in the thread that plans; the optimizer waits for it."""

    phase: str
    """`penalty` or `physical`: with virtual forces or without."""
    iterate: Iterate | None
    """The last one of the penalty loop."""
    iteration: Iteration | None
    """The last one of SCVX; None: an iterate has ended."""
    best: PoseError | None
    """Without virtual forces."""
    best_plan: Plan | None = None
    """The plan that `best` is of; the same object until there is a better one."""
    elapsed: float = 0.0
    """[s] since planning began."""
    share: float = float("nan")
    """Of the work that is done, 0 to 1, as far as known; NaN: unknown."""


@dataclass(frozen=True, kw_only=True)
class Result:
    success: bool
    message: str
    plan: Plan | None
    """The best one without virtual forces; None: cancelled before there was one."""
    error: PoseError | None
    """Of it."""
    iterates: tuple[Iterate, ...]


def plan(
    task: Task,
    settings: Settings | None = None,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    cancel: Cancel | None = None,
    start_from: Plan | None = None,
    time_limit: float | None = None,
) -> Result:
    """Plan.

    Args:
        progress: called in the calling thread.
        cancel: set from any thread; then the best plan so far is returned within one SCVX iteration.

    Raises:
        DefinitionError: the task does not fit its workcell, or the robot's geometry starts inside the body.
        RobotControlError: MuJoCo or PIQP is not installed.
    """
    require_engines()
    from robot_rt_control.planning.scene import build_scene

    settings = settings or Settings()
    run = _Run(task, settings, build_scene(task), progress, cancel)
    try:
        return run.result()
    finally:
        run.dynamics.close()


class _Run:
    def __init__(
        self,
        task: Task,
        settings: Settings,
        scene: Scene,
        progress: Callable[[Progress], None],
        cancel: Cancel | None,
    ) -> None:
        from robot_rt_control.planning.dynamics import Dynamics

        self.task, self.settings, self.scene, self._progress, self._cancel = task, settings, scene, progress, cancel
        actuated = scene.actuated
        self.n = len(actuated.names)
        self.dynamics = Dynamics(scene, task, np.ones(len(scene.pairs)), threads=settings.threads)
        still = self.dynamics.roll_out(np.zeros((1, self.dynamics.inputs)))
        self._refuse_penetration(still)
        target = task.target.matrix
        self.cost = Cost.of_task(
            (still.body_position[0], still.body_rotation[0]),
            (target[:3, 3], target[:3, :3]),
            time=task.time,
            velocity_limits=actuated.velocity,
            at_rest=task.at_rest,
            weights=settings.weights,
        )
        self.dynamics.stiffness = needed_stiffness(
            mass=scene.body_mass,
            friction=scene.body_friction,
            gravity=scene.gravity,
            distance=self.cost.distance,
            time=task.time,
            curvature=np.array([pair.curvature for pair in scene.pairs]),
            phi=still.phi[0],
        )
        self.limits = Limits(lower=actuated.lower, upper=actuated.upper, velocity=actuated.velocity)
        self.start = self.dynamics.roll_out(self._first_inputs(still))
        self.best: Trajectory | None = None
        self.best_virtual: Trajectory = self.start
        """What the best one was made from."""
        self.best_cost = np.inf
        self.best_plan: Plan | None = None
        self.iterates: list[Iterate] = []

    def _refuse_penetration(self, still: Trajectory) -> None:
        for i, pair in enumerate(self.scene.pairs):
            if still.phi[0, i] < 0.0:
                got = f"{1e3 * still.phi[0, i]:.1f} mm"
                raise DefinitionError(f"start, pair {pair.name!r}", expected="a distance of at least 0 mm", got=got)

    def _first_inputs(self, still: Trajectory) -> Array:
        """Joints at rest; each pair pushes as far as its face pushes towards the target."""
        way = self.cost.target_position - still.body_position[0]
        way = way / max(float(np.linalg.norm(way)), 1e-9)
        inputs = np.zeros((self.task.steps, self.dynamics.inputs))
        for i, pair in enumerate(self.scene.pairs):
            push = float(pair.push(still.body_rotation[0]) @ way)
            inputs[:, self.n + i] = _FIRST_STIFFNESS * max(push, 0.0)
        return inputs

    def result(self) -> Result:
        message = ""
        try:
            penalty_loop.run(
                self._solve,
                self.cost.error,
                self._stiffness,
                self.start,
                self.settings.penalty,
                process=self._climb if self.settings.hill_climbing else lambda found: found,
                progress=self._iterated,
                done=self._physical,
            )
        except _Cancelled:
            message = "cancelled"
        if self.best is None:
            return Result(
                success=False,
                message=message or "no motion with virtual forces reaches the target: a longer horizon, or more pairs",
                plan=None,
                error=None,
                iterates=tuple(self.iterates),
            )
        error = self.cost.error(self.best)
        success = self._good(error)
        left = f"{100 * error.normalized:.1f} % of the way and {error.orientation:.3f} rad are left"
        return Result(
            success=success,
            message=message or ("" if success else f"{left}: a longer horizon, or another start"),
            plan=self._plan(self.best, error, success),
            error=error,
            iterates=tuple(self.iterates),
        )

    def _stiffness(self, trajectory: Trajectory) -> Array:
        return trajectory.inputs[:, self.n :]

    def _good(self, error: PoseError) -> bool:
        settings = self.settings
        return error.normalized <= settings.accept_position and error.orientation <= settings.accept_orientation

    def _iterated(self, iterate: Iterate) -> None:
        self.iterates.append(iterate)
        self._report("penalty", None)

    def _report(self, phase: str, iteration: Iteration | None) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise _Cancelled
        best = None if self.best is None else self.cost.error(self.best)
        last = self.iterates[-1] if self.iterates else None
        self._progress(Progress(phase=phase, iterate=last, iteration=iteration, best=best, best_plan=self.best_plan))

    def _solve(self, penalty: float, start: Trajectory) -> Trajectory:
        draw = None
        if start is not self.start:
            weight = max(self.settings.draw_per_penalty * penalty, self.settings.least_draw)
            draw = draw_of(self._stiffness(start), weight=weight)
        cost = self.cost.with_penalty(penalty, draw)
        return self._optimize("penalty", cost, self.limits, start).trajectory

    def _climb(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory with excessive k taken away."""

        def with_stiffness(k: Array) -> Trajectory:
            return self.dynamics.roll_out(np.concatenate([trajectory.inputs[:, : self.n], k], axis=1))

        def cost(k: Array) -> float:
            found = with_stiffness(k)
            if not found.finite:
                return np.inf
            error = self.cost.error(found)
            return error.normalized + error.orientation / self.cost.angle

        return with_stiffness(climb(self._stiffness(trajectory), cost))

    def _physical(self, trajectory: Trajectory) -> bool:
        """Solve without virtual forces, near a trajectory with them; whether the result is good enough."""
        inputs = trajectory.inputs.copy()
        inputs[:, self.n :] = 0.0
        limits = replace(self.limits, stiffness=0.0)
        draw = draw_of(self._stiffness(trajectory), weight=self.settings.final_draw)
        found = self.dynamics.roll_out(inputs)
        for its in (draw, None):
            solution = self._optimize("physical", self.cost.with_penalty(0.0, its), limits, found)
            found = solution.trajectory
        # The solver keeps k = 0 within its tolerance; what is left is 1e-12 N, and other bits than without it.
        inputs = found.inputs.copy()
        inputs[:, self.n :] = 0.0
        found = self.dynamics.roll_out(inputs)
        if solution.cost < self.best_cost:
            self.best, self.best_cost, self.best_virtual = found, solution.cost, trajectory
            error = self.cost.error(found)
            self.best_plan = self._plan(found, error, self._good(error))
        return self._good(self.cost.error(found))

    def _optimize(self, phase: str, cost: Cost, limits: Limits, start: Trajectory) -> scvx.Solution:
        return scvx.optimize(
            self.dynamics, cost, limits, start, self.settings.region, lambda found: self._report(phase, found)
        )

    def _plan(self, best: Trajectory, error: PoseError, success: bool) -> Plan:
        actuated = self.scene.actuated
        return Plan(
            header={
                "format": FORMAT,
                "workcell": self.scene.digest,
                "task": task_digest(self.task),
                "body": self.task.body,
                "joints": list(actuated.names),
                "velocity_driven": [bool(driven) for driven in actuated.velocity_driven],
                "limits": {name: getattr(actuated, name).tolist() for name in LIMITS},
                "pairs": [pair.name for pair in self.scene.pairs],
                "time": self.task.time,
                "steps": self.task.steps,
                "success": success,
                "position_error": error.position,
                "normalized_error": error.normalized,
                "orientation_error": error.orientation,
                "target": [list(self.task.target.position), list(self.task.target.orientation)],
                "free": sorted(self.task.free),
                "convergence": [_convergence(iterate) for iterate in self.iterates],
                "versions": versions(),
            },
            position=best.joint_position,
            velocity=best.joint_velocity,
            inputs=best.inputs[:, : self.n] * self.dynamics.scale,
            body_position=best.body_position,
            body_rotation=best.body_rotation,
            distance=best.phi,
            stiffness=self._stiffness(self.best_virtual) * self.dynamics.stiffness,
            virtual_force=self.best_virtual.gamma,
            virtual_distance=self.best_virtual.phi,
        )


def task_digest(task: Task) -> str:
    """Of all that the task says, without its workcell's content."""
    values = {
        "body": task.body,
        "target": task.target.model_dump(mode="json"),
        "pairs": [[group.robot, list(group.faces), group.curvature] for group in task.pairs],
        "controls": dict(sorted(task.controls.items())),
        "start": [
            {part: list(q) for part, q in sorted(task.start.joints.items())},
            task.start.body.model_dump(mode="json") if task.start.body else None,
        ],
        "free": sorted(task.free),
        "horizon": [task.time, task.steps, task.at_rest],
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Of what a plan's bits depend on."""
    return {name: metadata.version(name) for name in ("mujoco", "piqp", "numpy")}


def _convergence(iterate: Iterate) -> dict[str, Any]:
    return {
        "penalty": iterate.penalty,
        "normalized_error": iterate.error.normalized,
        "orientation_error": iterate.error.orientation,
        "stiffness_average": iterate.average,
        "stiffness_greatest": iterate.greatest,
        "accepted": iterate.accepted,
    }
