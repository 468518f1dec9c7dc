"""Plans that are verified: planned, then played by another engine, and rolled out in worlds that differ.

Engines differ in how far contacts give way: a body ends a millimetre or two beyond where it was planned to. What the
other engines measured, on average, corrects the aim, once: the same task is planned for a target as much short of its
own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from robot_rt_control.planning.solve import needed_engines  # noqa: F401  its line comes before an ImportError

# isort: split
import numpy as np

from robot_rt_control.planning.optimise.feedback import feedback
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.plan.verdict import BLOW, LEAST_DISTANCE
from robot_rt_control.planning.scene.scene import Scene, build_scene, is_free
from robot_rt_control.planning.solve.planner import LINE, PREVIOUS, Cancel, Progress, Result, plan, task_digest
from robot_rt_control.planning.solve.playing import Player
from robot_rt_control.planning.solve.verify import verify
from robot_rt_control.planning.task import Task

CLOSE = 0.0005
"""[m] A body that ends closer to its target is not aimed better."""
_MOST = 0.2
"""Per way: a body that missed by more was not only pushed a little too far."""


class Broken(Exception):
    """Raised by a check to break off."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What is reported when a plan was played."""

    plan: Plan
    """With its verification."""
    aimed: bool
    """Whether the plan was aimed by what the first replay measured."""
    elapsed: float
    """[s] of verification, without planning."""


def solve(
    task: Task,
    settings: Settings | None = None,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    cancel: Cancel | None = None,
    played: Callable[[Played], None] = lambda _: None,
    planned: Callable[[Result], None] = lambda _: None,
    scene: Scene | None = None,
    player: Callable[[], Player] = Player,
    **options: Any,
) -> Result:
    """Plan, and verify what was planned: `success` says that all engines agree, in all worlds.

    Args:
        progress, cancel: as of `planner.plan`; `cancel` also breaks a verification off.
        played: called after each verification, in the calling thread.
        planned: called before the verification, with what is verified.
        scene: of the task, if it is at hand.
        player: makes what plays plans.
        options: further ones of `planner.plan`.

    Raises:
        DefinitionError, RobotControlError: as `planner.plan`; the other engine cannot play such plans.
    """
    settings = settings or Settings()
    with player() as engine:  # it loads while something is planned
        result = plan(task, settings, progress=progress, cancel=cancel, scene=scene, **options)
        if result.plan is None or not result.success or _is_set(cancel):
            return replace(result, success=False)
        verifying = _Verifying(task, settings, scene or build_scene(task), engine, cancel, planned, played)
        try:
            found = verifying.aimed(verifying.verified(result), progress)
            if found.lacking and _is_line(found):  # what strikes the body may hold where a slow push does not
                quick = replace(settings, slow=False)
                other = plan(task, quick, progress=progress, cancel=cancel, scene=scene, **options)
                if other.plan is not None and other.success:
                    second = verifying.aimed(verifying.verified(other), progress)
                    if _rank(second) < _rank(found):
                        found, result = second, other
            with suppress(Broken):  # it is verified; then it has no feedback
                found = led(found, task, settings, scene=verifying.scene, check=verifying.check)
        except Broken:
            return replace(result, success=False, message="cancelled: planned, not verified")
    remarks = filter(None, [*found.lacking, result.message])
    return replace(result, plan=found, success=not found.lacking, message="; ".join(remarks))


def _is_line(its: Plan) -> bool:
    return str(its.header.get("start", "")).startswith(LINE)


def _is_set(cancel: Cancel | None) -> bool:
    return cancel is not None and cancel.is_set()


class _Verifying:
    def __init__(
        self,
        task: Task,
        settings: Settings,
        scene: Scene,
        engine: Player,
        cancel: Cancel | None,
        planned: Callable[[Result], None],
        played: Callable[[Played], None],
    ) -> None:
        self.task, self.settings, self.scene, self.engine = task, settings, scene, engine
        self._cancel, self._planned, self._played, self._elapsed = cancel, planned, played, 0.0

    def check(self) -> None:
        if _is_set(self._cancel):
            raise Broken

    def verified(self, result: Result, *, aimed: bool = False) -> Plan:
        """The plan of a result with all that both engines say of it. Raises Broken."""
        self._planned(result)
        its, begin = result.plan, time.monotonic()
        assert its is not None
        rows = self.engine.play(its, self.task.workcell, check=self.check)
        others = [
            row
            for name in self.engine.others
            for row in self.engine.play(its, self.task.workcell, simulator=name, check=self.check)
        ]
        most = self._gentle(its)
        if most is not None:
            blows = [row.get("blow", 0.0) for row in (*rows, *others)]
            hardest = ("", *self.engine.others)[int(np.argmax(blows))]
            if max(blows) > most:  # where a body ends after a blow depends on the simulation's step
                finer = self.engine.play(its, self.task.workcell, simulator=hardest, finer=True, check=self.check)
                others += finer
        verification = {**verify(its, self.task, scene=self.scene, check=self.check), "others": others}
        if most is not None and self.settings.slow:
            verification["blow"] = most
        found = its.with_verification(verification).with_replays(rows)
        self._elapsed += time.monotonic() - begin
        self._played(Played(plan=found, aimed=aimed, elapsed=self._elapsed))
        return found

    def _gentle(self, its: Plan) -> float | None:
        """[N s] within `BLOW` that a push gives the body at most: what a touch changes of its speed, and twice what
        friction takes. None: several geometries may grip it, it is no body on the ground, or efforts are chosen."""
        scene = self.scene
        pushed = is_free(scene) and scene.gravity > 0.0 and len({pair.geom for pair in scene.pairs}) == 1
        if not pushed or not all(its.header["velocity_driven"]):
            return None
        return scene.body_mass * (self.settings.accept_strike + 2.0 * BLOW * scene.body_friction * scene.gravity)

    def aimed(self, its: Plan, progress: Callable[[Progress], None]) -> Plan:
        """A plan for a target that is short by what the body went too far, if that one ends nearer; else the same.
        Raises Broken."""
        rows = _played(its)
        if max(row["error_to_target"] for row in rows) > _MOST * its.way:
            return its
        counts = np.array([axis not in self.task.free for axis in ("x", "y", "z")])
        end = np.mean([row["position"] for row in rows], axis=0)
        missed = counts * (end - np.array(self.task.target.position))
        if _is_line(its):  # to the side it would be another line, with one more push
            way = counts * (np.array(self.task.target.position) - np.array(its.start_pose.position))
            missed = way * float(missed @ way) / float(way @ way)
        if float(np.linalg.norm(missed)) <= CLOSE:
            return its
        position = tuple(float(x) for x in np.array(self.task.target.position) - missed)
        task = replace(self.task, target=self.task.target.model_copy(update={"position": position}))
        # A line stays a line: polished, it would strike.
        only = str(its.header["start"]) if _is_line(its) else PREVIOUS
        result = plan(
            task, self.settings, progress=progress, cancel=self._cancel, start_from=its, only=only, scene=self.scene
        )
        self.check()
        if result.plan is None or not result.success:
            return its
        found = self.verified(replace(result, plan=_meant(result.plan, its, self.task, -missed)), aimed=True)
        return min(its, found, key=_rank)


def led(
    its: Plan, task: Task, settings: Settings, *, scene: Scene | None = None, check: Callable[[], None] = lambda: None
) -> Plan:
    """A plan of this task with feedback of the body's pose, if it can have one, optimise/feedback.py.

    Args:
        check: called often; an exception from it breaks off.
    """
    task = replace(task, time=its.header["time"], steps=its.header["steps"], at_most=None)
    problem = Problem(task, settings, scene or build_scene(task))
    dynamics = problem.dynamics(1)
    dynamics.check = check
    try:
        about = dynamics.roll_out(problem.inputs_of(its))
        return replace(its, feedback=feedback(problem, dynamics, its, about))
    finally:
        dynamics.close()


def _meant(aimed: Plan, first: Plan, task: Task, offset: Any) -> Plan:
    """An aimed plan as one for the task's own target."""
    header: Mapping[str, Any] = aimed.header
    same = {name: first.header[name] for name in ("target", "way", "tolerance")}
    return replace(
        aimed,
        header={
            **header, **same,
            "task": task_digest(task),
            "normalized_error": header["position_error"] / first.way,
            "offset": (np.array(header["offset"]) + offset).tolist(),
        },
    )  # fmt: skip


def _rank(its: Plan) -> tuple[int, float, float]:
    """Fewer complaints first, then the smaller error in the other engines, then the smaller peak in the first one."""
    rows = _played(its)
    error = max(float(row["error_to_target"]) for row in rows)
    return len(its.lacking), max(error, LEAST_DISTANCE), float(rows[0].get("peak", 0.0))


def _played(its: Plan) -> list[Mapping[str, Any]]:
    """Of a verified plan, what each other engine found."""
    found = its.header["verification"]
    return [found["replays"][0], *found["others"]]
