"""The contact planner on its applications: time, and error without virtual forces. The same defaults for all.

./run bench --only planning
python bench/planning.py --random 100        random pushes as well
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import planning_tasks  # noqa: E402
from bench.report import Goal, Options, Report, load_average, show  # noqa: E402
from robot_rt_control.planning.planner import Settings, plan  # noqa: E402
from robot_rt_control.planning.task import Task  # noqa: E402

_COLUMNS = ["task", "solved", "error", "[rad]", "processor [s]", "clock [s]", "SCVX iterations", "starts", "load"]
_LIMIT = 120.0
"""[s] for one task."""


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What came of a task."""

    name: str
    success: bool
    error: float
    """Per way of the task."""
    orientation: float
    processor: float
    clock: float
    iterations: int
    starts: int
    load: float
    start: str

    def row(self) -> list[str]:
        """For the table."""
        return [
            self.name, "yes" if self.success else "no", f"{100 * self.error:.2f} %", f"{self.orientation:.3f}",
            f"{self.processor:.1f}", f"{self.clock:.1f}", str(self.iterations), str(self.starts), f"{self.load:.1f}",
        ]  # fmt: skip


def solve(task: Task, settings: Settings | None = None, limit: float = _LIMIT) -> Solved:
    """Plan a task and measure."""
    iterations = 0

    def count(progress: object) -> None:
        nonlocal iterations
        iterations += getattr(progress, "iteration", None) is not None

    load, processor, clock = load_average(), time.process_time(), time.monotonic()
    result = plan(task, settings, progress=count, time_limit=limit)
    return Solved(
        name=task.name,
        success=result.success,
        error=result.error.normalized if result.error else float("inf"),
        orientation=result.error.orientation if result.error else float("inf"),
        processor=time.process_time() - processor,
        clock=time.monotonic() - clock,
        iterations=iterations,
        starts=len(result.starts),
        load=float(load),
        start=result.start,
    )


def measure(options: Options) -> Report:
    return report([make() for make in (planning_tasks.QUICK if options.quick else planning_tasks.APPLICATIONS)])


def report(tasks: Sequence[Task], seen: Callable[[Solved], None] = lambda _: None) -> Report:
    """Of these tasks, with the aims."""
    found = []
    for task in tasks:
        found.append(solve(task))
        seen(found[-1])
    return Report(
        title="Contact planner",
        columns=_COLUMNS,
        rows=[its.row() for its in found],
        goals=_goals(found),
        notes=["error: position without virtual forces in MuJoCo, per way; the same settings for all tasks"],
        data={"tasks": [vars(its) for its in found]},
    )


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
    parser.add_argument("--applications", action="store_true", help="the applications")
    given = parser.parse_args(argv)
    console = Console(width=140)
    with tempfile.TemporaryDirectory() as folder:
        tasks = [make() for make in planning_tasks.APPLICATIONS] if given.applications or not given.random else []
        tasks += [planning_tasks.random_push(given.first + i, Path(folder)) for i in range(given.random)]
        show(console, report(tasks, lambda its: console.print(*its.row(), its.start, sep="  ")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
