"""The contact planner on its applications: time, and error without virtual forces. The same defaults for all.

./run bench --only planning
python bench/planning.py --random 100 --keep random.jsonl     random pushes; what is in the file is not repeated
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import planning_plots, planning_tasks, resumed  # noqa: E402
from bench.report import Goal, Options, Report, load_average  # noqa: E402
from robot_rt_control.planning.optimise import subproblem  # noqa: E402
from robot_rt_control.planning.optimise.linearization import Differences, Model  # noqa: E402
from robot_rt_control.planning.optimise.problem import Problem  # noqa: E402
from robot_rt_control.planning.scene.scene import build_scene  # noqa: E402
from robot_rt_control.planning.solve.planner import Result, Settings, plan  # noqa: E402
from robot_rt_control.planning.task import Task  # noqa: E402
from robot_rt_control.testing.plan_replay import replay  # noqa: E402
from robot_rt_control.vocabulary.errors import RobotControlError  # noqa: E402

_COLUMNS = [
    "task", "solved", "error", "[rad]", "PyBullet", "processor [s]", "clock [s]", "SCVX iterations", "starts", "load"
]  # fmt: skip
_LIMIT = 120.0
"""[s] of processor time for one task."""
_REPEATED = 5


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What came of a task."""

    name: str
    success: bool
    error: float
    """Per way of the task."""
    orientation: float
    processor: float
    """[s] of all threads."""
    clock: float
    """[s]"""
    iterations: int
    """Of SCVX."""
    iterates: int
    """Of the penalty loop, of the start that the plan is from."""
    starts: int
    load: float
    start: str
    message: str
    pybullet: float | None = None
    """Error per way of a replay through the tick loop; None: not replayed."""

    def row(self) -> list[str]:
        """For the table."""
        return [
            self.name, "yes" if self.success else "no", f"{100 * self.error:.2f} %", f"{self.orientation:.3f}",
            "" if self.pybullet is None else f"{100 * self.pybullet:.1f} %",
            f"{self.processor:.1f}", f"{self.clock:.1f}", str(self.iterations), str(self.starts), f"{self.load:.1f}",
        ]  # fmt: skip


class Budget:
    """Cancels once so many seconds of processor time [s] are used: other programs on the machine do not count."""

    def __init__(self, limit: float) -> None:
        self._begin, self._limit = time.process_time(), limit

    @property
    def used(self) -> float:
        """[s]"""
        return time.process_time() - self._begin

    def is_set(self) -> bool:
        """Whether it is over."""
        return self.used > self._limit


def solve(task: Task, settings: Settings | None = None, limit: float = _LIMIT) -> tuple[Solved, Result]:
    """Plan a task and measure."""
    iterations = 0

    def count(progress: object) -> None:
        nonlocal iterations
        iterations += getattr(progress, "iteration", None) is not None

    load, budget, clock = load_average(), Budget(limit), time.monotonic()
    result = plan(task, settings, progress=count, cancel=budget)
    solved = Solved(
        name=task.name,
        success=result.success,
        error=result.error.normalized if result.error else float("inf"),
        orientation=result.error.orientation if result.error else float("inf"),
        processor=budget.used,
        clock=time.monotonic() - clock,
        iterations=iterations,
        iterates=len(result.iterates),
        starts=len(result.starts),
        load=float(load),
        start=result.start,
        message=result.message,
    )
    return solved, result


def measure(options: Options) -> Report:
    tasks = [make() for make in (planning_tasks.QUICK if options.quick else planning_tasks.APPLICATIONS)]
    return report(tasks, options, Settings(), replayed=not options.quick, iteration=True)


def report(
    tasks: Sequence[Task],
    options: Options,
    settings: Settings,
    *,
    replayed: bool = False,
    iteration: bool = False,
    kept: Path | None = None,
) -> Report:
    """Of these tasks, with the aims; a plot goes to the output folder.

    Args:
        replayed: solved ones also through the tick loop on PyBullet.
        iteration: the parts of an iteration are measured as well.
        kept: file of results so far, resumed.py.
    """
    jobs = {task.name: partial(_row, task, settings, replayed) for task in tasks}
    found = [Solved(**its) for _, its in resumed.results(jobs, kept, options.console)]
    alike, others = [its for its in found if _alike(its)], [its for its in found if not _alike(its)]
    plots = []
    for some, draw, name in ((others, planning_plots.tasks, "planning"), (alike, planning_plots.pushes, "pushes")):
        if some:
            plots.append(options.output / f"{name}.png")
            draw(some, plots[-1])
    return Report(
        title="Contact planner",
        columns=_COLUMNS,
        rows=[its.row() for its in found],
        goals=[*_goals(found), *(_iteration_goals() if iteration else ())],
        notes=[
            "error: position without virtual forces in MuJoCo, per way; the same settings for all tasks",
            *(f"{its.name}: {its.message}" for its in found if not its.success),
            *map(str, plots),
        ],
        data={"tasks": [vars(its) for its in found]},
    )


def _alike(its: Solved) -> bool:
    return its.name.startswith("random")


def _row(task: Task, settings: Settings, replayed: bool) -> resumed.Row:
    solved, result = solve(task, settings)
    its = vars(solved)
    if replayed and result.success and result.plan is not None:
        try:
            its |= {"pybullet": replay(result.plan, task.workcell).normalized_error}
        except RobotControlError as error:
            its |= {"message": f"replay: {error}"}
    return its


def _iteration_goals() -> list[Goal]:
    """Of SCVX, on the solution of B 5 cm."""
    task = planning_tasks.arm("forward 5 cm", (0.05, 0), 1.0)
    settings = Settings(threads=1)
    problem = Problem(task, settings, build_scene(task))
    result = plan(task, settings)
    assert result.plan is not None
    dynamics = problem.dynamics(1)
    try:
        about = dynamics.roll_out(problem.inputs_of(result.plan))
        still = dynamics.roll_out(np.zeros_like(about.inputs))
        model = Model(dynamics=dynamics, differences=Differences())
        linear = model.linearize(about)
        cost = problem.cost.quadratic(about, linear)
        bounds = problem.limits.bounds(about, settings.region.radius)
        size = f"{task.steps} steps, {linear.A.shape[1]} states, {linear.B.shape[2]} inputs"
        figures = [
            ("linearization, robot and body apart", 0.06, _least(lambda: model.linearize(still))),
            ("linearization, of a push", 0.06, _least(lambda: model.linearize(about))),
            ("subproblem", 0.01, _least(lambda: subproblem.solve(cost, linear, bounds))),
        ]
    finally:
        dynamics.close()
    return [
        Goal(figure=f"{name}, {size}", aim=f"<= {1e3 * aim:.0f} ms", measured=f"{1e3 * its:.1f} ms", met=its <= aim,
             beside=f"load {load_average():.0f}, processor time, one thread, least of {_REPEATED}")
        for name, aim, its in figures
    ]  # fmt: skip


def _least(work: Callable[[], object]) -> float:
    """[s] of processor time."""
    found = []
    for _ in range(_REPEATED):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def _goals(found: Sequence[Solved]) -> list[Goal]:
    share = sum(its.success for its in found) / len(found)
    beside = f"load {max(its.load for its in found):.0f}"
    goals = [
        Goal(figure="tasks solved within 2 % and 0.05 rad", aim="all", measured=f"{share:.0%}", met=share == 1.0,
             beside=beside)
    ]  # fmt: skip
    for letter, aim in (("B", 10.0), ("C", 15.0), ("random", 10.0)):
        times = [its.processor for its in found if its.name.startswith(letter)]
        if times:
            median = statistics.median(times)
            goals.append(
                Goal(figure=f"{letter}: median of processor time", aim=f"<= {aim:.0f} s", measured=f"{median:.1f} s",
                     met=median <= aim, beside=beside)
            )  # fmt: skip
    return goals


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="as many random pushes")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first one's seed")
    parser.add_argument("--applications", action="store_true", help="the applications as well")
    parser.add_argument("--tasks", default="", help="only those with this in their names")
    parser.add_argument("--replay", action="store_true", help="replay what is solved through the tick loop on PyBullet")
    parser.add_argument("--iteration", action="store_true", help="measure the parts of an iteration as well")
    resumed.arguments(parser)
    given = parser.parse_args(argv)
    options = resumed.options(given)
    with tempfile.TemporaryDirectory() as folder:
        tasks = [make() for make in planning_tasks.APPLICATIONS] if given.applications or not given.random else []
        tasks += [planning_tasks.random_push(given.first + i, Path(folder)) for i in range(given.random)]
        its = report(
            [task for task in tasks if given.tasks in task.name],
            options,
            Settings(threads=given.threads),
            replayed=given.replay,
            iteration=given.iteration,
            kept=given.keep,
        )
    resumed.print_report(its, given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
