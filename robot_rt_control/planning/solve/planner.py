"""The contact planner: from a task to a plan whose virtual forces are gone.

Several starts are worked on in rounds (search.py), each by an attempt (attempt.py): guides made of geometry, then the
document's algorithm, then variations of it. Settings(search="single") is the document's algorithm alone.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any, Protocol

from robot_rt_control.planning.solve import needed_engines  # noqa: F401  its line comes before an ImportError

# isort: split
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.guess.guides import guides_of, lines_of
from robot_rt_control.planning.guess.pushing import Pushing
from robot_rt_control.planning.optimise.cost import PoseError
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.linearization import Differences
from robot_rt_control.planning.optimise.penalty_loop import Iterate
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.scvx import Iteration
from robot_rt_control.planning.optimise.settings import PostProcessing, Settings
from robot_rt_control.planning.optimise.trajectory import Trajectory
from robot_rt_control.planning.plan.plan import FORMAT, LIMITS, Plan
from robot_rt_control.planning.scene.scene import Scene, build_scene
from robot_rt_control.planning.solve import search
from robot_rt_control.planning.solve.attempt import Attempt, Guess, Stopped, attempt
from robot_rt_control.planning.solve.perturbation import spread
from robot_rt_control.planning.task import Task
from robot_rt_control.vocabulary.errors import RobotControlError

__all__ = ["Cancel", "PostProcessing", "Progress", "Result", "Settings", "plan", "task_digest", "versions"]

Array = NDArray[np.float64]

PREVIOUS, LINE = "previous plan", "line"
"""Names of starts: the motion of a previous plan; the first word of a straight push."""
_PUSHES = 0.1
"""Cosine between a face's inward normal and the way, above which the face pushes that way."""
_SHARES = 0.9, 0.75
"""Fractions of the horizon in which a guide does all."""
_LINE = 0.95
"""Fraction of the horizon in which a line does all; in the rest, contacts settle."""
_EASE = 1.3
"""Factor of the time that a slow push needs, where the task leaves it open: the spare time makes touches softer."""
_FARTHER = 0.5
"""Per curvature of the pairs: virtual forces of a later round, which reach farther."""


class Cancel(Protocol):
    """Such as threading.Event."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is reported, in the thread that plans."""

    start: str
    """Name of the start that is worked on."""
    phase: str
    """`penalty` or `physical`: with virtual forces or without."""
    iterate: Iterate | None
    """The last one of the penalty loop."""
    iteration: Iteration | None
    """The last one of SCVX; None: an iterate has ended."""
    best: PoseError | None
    """Without virtual forces, of all starts so far."""
    best_plan: Plan | None
    """The plan that `best` is of; the same object until there is a better one."""
    elapsed: float
    """[s]"""
    share: float
    """0 to 1 of the work, as far as it is known: most tasks are done long before 1."""


@dataclass(frozen=True, kw_only=True)
class Result:
    success: bool
    """Of `plan`: the plan reaches the target in the planner's engine. Of `verified.solve`: in another one, too."""
    message: str
    """Why not; or a remark."""
    plan: Plan | None
    """The best one without virtual forces; None: stopped before there was one."""
    error: PoseError | None
    """Error of that plan."""
    iterates: tuple[Iterate, ...]
    """Iterates of the start that the plan is from."""
    start: str = ""
    """Its name."""
    elapsed: float = 0.0
    """[s]"""
    starts: tuple[str, ...] = ()
    """All that were worked on."""

    def solved(self) -> Plan:
        """The plan, which reaches the target.

        Raises:
            RobotControlError: it does not, or there is none.
        """
        if self.plan is None or not self.success:
            raise RobotControlError("the task is not solved", got=self.message or "no plan")
        return self.plan


def plan(
    task: Task,
    settings: Settings | None = None,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    cancel: Cancel | None = None,
    start_from: Plan | None = None,
    only: str = "",
    time_limit: float | None = None,
    scene: Scene | None = None,
) -> Result:
    """Plan: what reaches the target in the planner's engine. `verified.solve` also has another one play it.

    Args:
        progress: called in the calling thread; an exception from it ends the planning and is raised.
        cancel: set from any thread; then the best plan so far is returned within 0.5 s.
        start_from: a previous plan, of the same joints: its inputs, from the first one on, are one more start.
        only: name of the only start that is tried, such as "previous plan"; empty: all. Without such a start there is
            no plan.
        scene: of the task, if it is at hand.
        time_limit: [s] after which it is as if it were cancelled.

    Raises:
        DefinitionError: the task does not fit its workcell, or the robot's geometry starts inside the body.
    """
    settings = settings or Settings()
    scene = scene or build_scene(task)
    problem = Problem(task, settings, scene)
    if task.at_most is not None and (longer := with_time(problem)) is not task:
        problem = Problem(longer, settings, scene)
    return _Planning(problem, progress, cancel, start_from, time_limit, only=only).result()


def cancelled_result(last: Progress | None) -> Result:
    """What there is of a planning that was left before it ended: the best plan of its last progress, if any."""
    if last is None:
        return Result(success=False, message="cancelled", plan=None, error=None, iterates=())
    return Result(
        success=False,
        message="cancelled",
        plan=last.best_plan,
        error=None if last.best_plan is None else last.best,
        iterates=(),
        elapsed=last.elapsed,
        starts=(last.start,),
    )


def with_time(problem: Problem) -> Task:
    """The task with the time that its way needs, as far as it allows; see `Pushing.needed_time`."""
    slow = problem.settings.slow and bool(problem.scene.actuated.velocity_driven.all())
    return problem.task.lasting((_EASE if slow else 1.0) * Pushing(problem).needed_time(slow=slow))


class _Planning:
    def __init__(
        self,
        problem: Problem,
        progress: Callable[[Progress], None],
        cancel: Cancel | None,
        start_from: Plan | None,
        time_limit: float | None,
        *,
        only: str,
    ) -> None:
        self.problem, self.settings = problem, problem.settings
        self._progress, self._cancel, self._time_limit = progress, cancel, time_limit
        self._previous, self._only = start_from, only
        self._begin = time.monotonic()
        self._stopped = ""
        self._failed = threading.Event()
        self._reports: queue.SimpleQueue[tuple[Attempt, str, Iteration | None]] = queue.SimpleQueue()
        self._caller = threading.current_thread()
        self._begun: list[Attempt] = []
        self._share = 0.0
        self._best_trajectory: Trajectory | None = None
        self._best_plan: Plan | None = None

    # --- starts ---------------------------------------------------------------------------------

    def _virtual(self, name: str = "", differences: Differences | None = None, curvature: float = 1.0) -> Guess:
        problem = self.problem
        return Guess(
            name=", ".join(filter(None, ["virtual forces", name])),
            inputs=lambda _: problem.virtual_inputs(),
            virtual=True,
            differences=differences or Differences(),
            curvature=curvature,
        )

    def _guide(self, name: str, inputs: Callable[[Dynamics, float], Array], share: float) -> Guess:
        return Guess(name=f"guide {name}, {share:.0%}", inputs=lambda dynamics: inputs(dynamics, share), virtual=False)

    def _line(self, name: str, inputs: Callable[[Dynamics, float], Array]) -> Guess:
        return Guess(
            name=f"{LINE} {name}", inputs=lambda dynamics: inputs(dynamics, _LINE), virtual=False, polished=False
        )

    def _single(self, pair: int) -> Guess:
        problem = self.problem
        name = f"virtual forces, {problem.scene.pairs[pair].name}"
        return Guess(name=name, inputs=lambda _: problem.virtual_inputs(pair), virtual=True, only=pair)

    def _guess_rounds(self) -> list[list[Guess]]:
        problem, rounds = self.problem, list[list[Guess]]()
        first: list[Guess] = []
        if self._previous is not None:
            inputs = problem.inputs_of(self._previous)
            first.append(Guess(name=PREVIOUS, inputs=lambda _: inputs, virtual=False))
        if first and self._only == first[0].name:
            return [first]
        if self.settings.search == "single":
            return [[*first, self._virtual()]]
        guides = guides_of(problem) if self.settings.guides else []
        lines = lines_of(problem) if self.settings.guides and self.settings.slow else []
        if lines:
            rounds.append([*first, *(self._line(*its) for its in lines)])
            first = []
        if self._only:
            named = [guess for some in rounds for guess in some if guess.name == self._only]
            return [named] if named else []
        # Two starts at least, for two cores and for a choice; the others wait for their turn.
        shares = [_SHARES] if len(guides) == 1 else [(share,) for share in _SHARES]
        for some in shares if guides else []:
            rounds.append([*first, *(self._guide(*its, share) for its in guides for share in some)])
            first = []
        if not self.settings.virtual_forces:
            return rounds or ([first] if first else [])
        pushing = [i for i, share in enumerate(problem.pushing()) if share > _PUSHES]
        single = [self._single(i) for i in pushing] if len(problem.scene.pairs) > 1 else []
        steps, far = Differences(over="time steps"), f"curvature x {_FARTHER:g}"
        rounds.append([*first, self._virtual(), *single[:1]])
        rounds.append([self._virtual("by time steps", steps), self._virtual(far, curvature=_FARTHER)])
        rounds.append([self._virtual("one-sided differences", Differences(sides="one")), *single[1:]])
        return rounds

    def _rounds(self) -> Iterator[Sequence[Callable[[], Attempt]]]:
        rounds = self._guess_rounds()
        self._total = sum(map(len, rounds))
        for guesses in rounds:
            self._stop_if_wanted()
            if self._stopped:
                return
            workers = min(self.settings.threads, len(guesses))
            threads = max(1, self.settings.threads // workers)
            yield [partial(self._attempt, guess, threads) for guess in guesses]

    # --- work -----------------------------------------------------------------------------------

    def _attempt(self, guess: Guess, threads: int) -> Attempt:
        """In any thread."""
        return attempt(self.problem, guess, threads, self._watched)

    def _watched(self, found: Attempt, phase: str, iteration: Iteration | None) -> None:
        """In the thread of an attempt."""
        if threading.current_thread() is self._caller:
            self._stop_if_wanted()
            if phase:
                self._report(found, phase, iteration)
        elif phase:
            self._reports.put((found, phase, iteration))
        if self._stopped or self._failed.is_set():
            raise Stopped

    def _stop_if_wanted(self) -> None:
        if self._cancel is not None and self._cancel.is_set():
            self._stopped = self._stopped or "cancelled"
        elif self._time_limit is not None and self._elapsed > self._time_limit:
            self._stopped = self._stopped or f"stopped after {self._time_limit:g} s"

    def _watch(self) -> None:
        """In the calling thread, while others work."""
        try:
            self._stop_if_wanted()
            while not self._reports.empty():
                self._report(*self._reports.get())
        except BaseException:
            self._failed.set()
            raise

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._begin

    def _report(self, found: Attempt, phase: str, iteration: Iteration | None) -> None:
        if all(found is not other for other in self._begun):
            self._begun.append(found)
        best = self._best_so_far()
        self._share = max(self._share, sum(other.share for other in self._begun) / self._total)
        self._progress(
            Progress(
                start=found.name,
                phase=phase,
                iterate=found.iterates[-1] if found.iterates else None,
                iteration=iteration,
                best=best,
                best_plan=self._best_plan,
                elapsed=self._elapsed,
                share=min(self._share, 1.0),
            )
        )

    def _best_so_far(self) -> PoseError | None:
        """The error without virtual forces that is least; `_best_plan` is its plan."""
        # Attempts go on in other threads: what they have found is read once.
        found = [(self.problem.error(best), best, its) for its in self._begun if (best := its.best) is not None]
        if not found:
            return None
        error, best, its = min(found, key=lambda row: row[0].normalized)
        if best is not self._best_trajectory:
            self._best_trajectory, self._best_plan = best, self._plan(its, error)
        return error

    def result(self) -> Result:
        found = search.run(
            self._rounds(), good=lambda its: its.good, workers=self.settings.threads, watch=self._watch
        )
        with_plan = [its for its in found if its.best is not None]
        starts = tuple(its.name for its in found)
        if not with_plan:
            message = "no motion with virtual forces reaches the target: a longer horizon, or more pairs"
            if not found:
                message = "nothing to start from: no guide fits this task, and virtual forces are switched off"
                if self._only:
                    message = f"this task has no start {self._only!r}"
            message = self._stopped or message
            iterates = tuple(found[-1].iterates) if found else ()
            return Result(
                success=False, message=message, plan=None, error=None, iterates=iterates, starts=starts,
                elapsed=self._elapsed,
            )  # fmt: skip
        best = self._best(with_plan)
        assert best.best is not None
        error = self.problem.error(best.best)
        message = self._stopped
        if not best.good:
            message = "; ".join(filter(None, [self._stopped, self._left(best, error)]))
        elif unknown := self.problem.scene.unchecked:
            remark = f"whether {', '.join(unknown)} would touch anything is not known: a shape that cannot be read"
            message = "; ".join(filter(None, [message, remark]))
        return Result(
            success=best.good,
            message=message,
            plan=self._plan(best, error),
            error=error,
            iterates=tuple(best.iterates),
            start=best.name,
            starts=starts,
            elapsed=self._elapsed,
        )

    def _best(self, found: list[Attempt]) -> Attempt:
        good = [its for its in found if its.good]
        if len(good) > 1 and self.settings.robust and not self._stopped:
            return search.best(good, lambda its: (spread(self.problem, its.best), its.best_cost))
        return search.best(found, lambda its: (not its.good, self._touches(its), its.best_cost))

    def _touches(self, its: Attempt) -> bool:
        return its.best is not None and self.problem.touch(its.best) is not None

    def _left(self, its: Attempt, error: PoseError) -> str:
        """What is missing, by pair, time and distance, and what to do."""
        problem, best, source = self.problem, its.best, its.source
        assert best is not None and source is not None
        parts = [str(what) for what in (problem.touch(best), problem.excess(best)) if what]
        if problem.pushing().max(initial=0.0) < _PUSHES:
            parts.append("no face of a pair is pushed that way")
        parts += [f"{100 * error.normalized:.1f} % of the way and {error.orientation:.3f} rad are left"]
        if problem.task.at_rest and problem.speed(best) > problem.accept_speed:
            parts.append(f"the body still moves by {problem.speed(best):.3f} m/s at the end")
        k = source.inputs[:, problem.n :]
        if k.max(initial=0.0) > self.settings.penalty.stiffness:
            i, p = divmod(int(np.argmax(k)), k.shape[1])
            parts.append(
                f"k {k[i, p]:.1f} at {i * problem.task.control_step:.2f} s on {problem.scene.pairs[p].name}: "
                f"without it, that pair comes no nearer than {max(float(best.phi[:, p].min()), 0.0):.3f} m"
            )
        elif best.phi.size:
            p = int(np.argmax(problem.pushing()))
            i = int(np.argmin(best.phi[:, p]))
            parts.append(
                f"{problem.scene.pairs[p].name} is nearest at {i * problem.task.control_step:.2f} s: "
                f"{max(float(best.phi[i, p]), 0.0):.3f} m"
            )
        if its.trouble:
            parts.append(f"{its.trouble} ({its.name}, body {problem.task.body!r})")
        return "; ".join(parts) + ": a longer horizon, or another start"

    def _plan(self, its: Attempt, error: PoseError) -> Plan:
        best, source, problem = its.best, its.source, self.problem
        assert best is not None and source is not None
        actuated, n = problem.scene.actuated, problem.n
        scale = np.where(actuated.velocity_driven, actuated.acceleration, actuated.effort)
        return Plan(
            header={
                "format": FORMAT,
                "workcell": problem.scene.digest,
                "task": task_digest(problem.task),
                "body": problem.task.body,
                "joints": list(actuated.names),
                "velocity_driven": [bool(driven) for driven in actuated.velocity_driven],
                "tools": problem.scene.tools,
                "limits": {name: getattr(actuated, name).tolist() for name in LIMITS},
                "pairs": [pair.name for pair in problem.scene.pairs],
                "time": problem.task.time,
                "steps": problem.task.steps,
                "success": its.good,
                "start": its.name,
                "position_error": error.position,
                "normalized_error": error.normalized,
                "orientation_error": error.orientation,
                "target": [list(problem.task.target.position), list(problem.task.target.orientation)],
                "free": sorted(problem.task.free),
                "at_rest": problem.task.at_rest,
                "way": problem.cost.distance,
                "offset": problem.sunk.tolist(),
                "tolerance": {
                    "position": self.settings.accept_position * problem.cost.distance,
                    "orientation": self.settings.accept_orientation,
                    "speed": problem.accept_speed,
                },
                "convergence": [_convergence(iterate) for iterate in its.iterates],
                "versions": versions(),
            },
            position=best.joint_position,
            velocity=best.joint_velocity,
            inputs=best.inputs[:, :n] * scale,
            body_position=best.body_position,
            body_rotation=best.body_rotation,
            distance=best.phi,
            stiffness=source.inputs[:, n:] * its.stiffness,
            virtual_force=source.gamma,
            virtual_distance=source.phi,
        )


def task_digest(task: Task) -> str:
    """Digest of the whole task, without its workcell's content."""
    values: dict[str, Any] = {
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
    if task.at_most is not None:
        values["at_most"] = task.at_most
    if task.tools:
        values["tools"] = dict(sorted(task.tools.items()))
    if task.patches:
        values["patches"] = [[p.name, p.pose.model_dump(mode="json"), list(p.size)] for p in task.patches]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of what a plan's bits depend on."""
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
