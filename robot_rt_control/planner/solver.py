"""Plans a job: reads its task, measures the start if asked for, and tells how it goes. In the process that plans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planner.job import Described, Finished, Job, Link, Report
from robot_rt_control.planner.measured import measure_start
from robot_rt_control.planner.picture import Pair, link_faces, plan_shapes, task_shapes
from robot_rt_control.planner.planning_process import save_whole
from robot_rt_control.planning.files.possible import refuse_impossible
from robot_rt_control.planning.files.task_file import TaskFile, read_task
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.scene.contact_model import Face
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve import verified
from robot_rt_control.planning.solve.planner import Progress, Result
from robot_rt_control.planning.task import Start, Task
from robot_rt_control.vocabulary.errors import DefinitionError


def solve(job: Job, link: Link) -> Finished:
    """Plan. The node looks after the job's timeout: it cancels.

    Raises:
        DefinitionError, ProgramError: all mistakes of the task, with their lines; unknown values; nothing is computed.
        RobotControlError: the workcell does not answer.
    """
    link.report(Report(phase="reading"))
    found = _read(job)
    link.describe(Described(pose=found.pose))
    task = found.task
    if job.from_measured or found.start_from == "measured":
        task = _from_measured(job, found, link)
    previous = Plan.load(Path(job.previous_plan).expanduser()) if job.previous_plan else None
    scene = build_scene(task)
    if previous is not None and previous.header["joints"] != list(scene.actuated.names):
        raise DefinitionError(
            f"previous plan {job.previous_plan}: joints",
            expected=", ".join(scene.actuated.names),
            got=", ".join(previous.header["joints"]),
        )
    X = np.eye(4)
    X[:3, 3], X[:3, :3] = scene.motion.pose(scene.qpos)
    drawn = task_shapes(Pose.of_matrix(X), task.target, scene.pairs, _outline(task))
    link.draw(drawn)
    progress = _Watch(job, link, scene.pairs, drawn)
    result = verified.solve(
        task,
        replace(found.settings, threads=job.threads),
        progress=progress.take,
        cancel=link.cancelled,
        start_from=previous,
        scene=scene,
        planned=progress.verifying,
    )
    if result.plan is not None:
        progress.keep(result.plan)
    return Finished(success=result.success, message=result.message)


def _read(job: Job) -> TaskFile:
    """The task, with values for its parameters; a text without a workcell is for the running one."""
    values = {name: value for name, (value, _) in job.parameters.items()}
    return read_task(job.task, values, units={name: unit for name, (_, unit) in job.parameters.items()})


def _from_measured(job: Job, found: TaskFile, link: Link) -> Task:
    running = load_workcell(job.workcell)
    own = load_workcell(found.task.workcell)
    if own.digest != running.digest:
        raise DefinitionError(
            "start: from measured",
            expected=f"a task for the running workcell, {running.name!r}",
            got=f"one for {own.name!r}",
            hint="Its file, or a URDF of it, differs",
        )
    measured = measure_start(running, _jointed(running), found.pose, link.measure, body=True)
    task = found.started(Start(joints=measured.joints, body=measured.body))
    refuse_impossible(task)
    return task


def _outline(task: Task) -> list[Face]:
    """Faces of a body that is a link; none for an object, whose faces are those of the pairs."""
    name, dot, link = task.body.partition(".")
    if not dot:
        return []
    workcell = load_workcell(task.workcell)
    part = workcell.part(name)
    while part.urdf is None and part.mounted_on is not None:
        part = workcell.part(part.mounted_on)
    return [] if part.urdf is None else link_faces(part.urdf, link)


def _jointed(workcell: Workcell) -> Sequence[str]:
    """The parts whose joints the scene has."""
    return [part.name for part in workcell.parts if part.dof and (part.urdf is not None or part.mounted_on is not None)]


class _Watch:
    """Reports the planner's progress, and keeps its best plan."""

    def __init__(self, job: Job, link: Link, pairs: Sequence[Pair], drawn: Sequence[Shape]) -> None:
        self._job, self._link, self._pairs, self._drawn = job, link, pairs, drawn
        self._kept: Plan | None = None

    def keep(self, found: Plan) -> None:
        """Write the best plan so far, and draw it."""
        if found is not self._kept:
            self._kept = found
            save_whole(found, Path(self._job.plan_file))
            self._link.draw([*self._drawn, *plan_shapes(found, self._pairs)])

    def verifying(self, result: Result) -> None:
        """A report: what is verified is kept before."""
        if result.plan is not None:
            self.keep(result.plan)
        best = result.error
        assert best is not None  # there is a plan
        self._link.report(
            Report(
                phase="verifying",
                start=result.start,
                penalty_iteration=len(result.iterates),
                progress=1.0,
                best_position_error=best.position,
                best_orientation_error=best.orientation,
            )
        )

    def take(self, progress: Progress) -> None:
        """In the thread that plans."""
        if progress.best_plan is not None:
            self.keep(progress.best_plan)
        iterate, iteration, best = progress.iterate, progress.iteration, progress.best
        self._link.report(
            Report(
                phase=progress.phase,
                start=progress.start,
                penalty_iteration=0 if iterate is None else iterate.iteration + 1,
                iteration=0 if iteration is None else iteration.iteration + 1,
                cost=math.nan if iteration is None else iteration.cost,
                position_error=math.nan if iterate is None else iterate.error.position,
                orientation_error=math.nan if iterate is None else iterate.error.orientation,
                stiffness_average=math.nan if iterate is None else iterate.average,
                stiffness_greatest=math.nan if iterate is None else iterate.greatest,
                progress=progress.share,
                best_position_error=math.nan if best is None else best.position,
                best_orientation_error=math.nan if best is None else best.orientation,
            )
        )
