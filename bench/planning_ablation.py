"""The contact planner without one of its parts at a time, and beside a sampling-based shooter: which parts earn their
place.

./run bench --only planning_ablation
python bench/planning_ablation.py --keep ablation.jsonl --tasks "B forward" --variants "all|^document"
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import planning_plots, planning_shooter, planning_tasks, resumed  # noqa: E402
from bench.planning import Budget, solve  # noqa: E402
from bench.report import Options, Report  # noqa: E402
from robot_rt_control.planning.optimise.penalty_loop import PenaltySettings  # noqa: E402
from robot_rt_control.planning.optimise.problem import Problem  # noqa: E402
from robot_rt_control.planning.optimise.traction import TractionSettings  # noqa: E402
from robot_rt_control.planning.scene.scene import build_scene  # noqa: E402
from robot_rt_control.planning.solve.attempt import Attempt, Guess, Stopped, attempt  # noqa: E402
from robot_rt_control.planning.solve.perturbation import spread  # noqa: E402
from robot_rt_control.planning.solve.planner import PostProcessing, Settings  # noqa: E402
from robot_rt_control.planning.task import Task  # noqa: E402

_LIMIT = 30.0
"""[s] of processor time for each task."""
_SINGLE = Settings(search="single", threads=1)
_DOCUMENT = replace(_SINGLE, shooting=None)
_TRACTION = TractionSettings()
_BOTH = PostProcessing(traction=_TRACTION, hill_climbing=True)


def _fixed(penalty: float) -> Settings:
    return replace(_DOCUMENT, penalty=PenaltySettings(first=penalty, iterations=1))


REFERENCE = "all: rounds"
SETTINGS: dict[str, Settings] = {
    REFERENCE: Settings(threads=1),
    "without virtual forces": Settings(virtual_forces=False, threads=1),
    "without guides": Settings(guides=False, threads=1),
    "without shooting": Settings(shooting=None, threads=1),
    "single: document and shooting": _SINGLE,
    "document": _DOCUMENT,
    "document, fixed ω 0.1": _fixed(0.1),
    "document, fixed ω 3": _fixed(3.0),
    "document, fixed ω 30": _fixed(30.0),
    "document, additive": replace(_DOCUMENT, penalty=PenaltySettings(schedule="additive")),
    "document, without draw": replace(_DOCUMENT, draw=False),
    "document, traction controller": replace(_DOCUMENT, post=PostProcessing(traction=_TRACTION)),
    "document, controller without draw": replace(_DOCUMENT, draw=False, post=PostProcessing(traction=_TRACTION)),
    "document, hill climbing": replace(_DOCUMENT, post=PostProcessing(hill_climbing=True)),
    "document, both, k above 0.5": replace(_DOCUMENT, post=replace(_BOTH, above=0.5)),
    "document, both, k below 0.5": replace(_DOCUMENT, post=replace(_BOTH, below=0.5)),
}
_STILL = "SCVX and shooting alone"
_SHOOTER, _GUIDED_SHOOTER = "cross-entropy", "cross-entropy about a guide"
VARIANTS = (*SETTINGS, _STILL, _SHOOTER, _GUIDED_SHOOTER)
_OF_EFFORT = REFERENCE, "single: document and shooting", "document", _SHOOTER
"""Variants that are tried with effort control as well."""

TASKS: tuple[Callable[[], Task], ...] = (
    planning_tasks.slider,
    lambda: planning_tasks.slider(20),
    lambda: planning_tasks.arm("forward 5 cm", (0.05, 0), 1.0),
    lambda: planning_tasks.arm("forward 20 cm", (0.2, 0), 1.5),
    lambda: planning_tasks.arm("forward 30 cm", (0.3, 0), 1.5),
    lambda: planning_tasks.arm("left 10 cm, from before", (0, 0.1), 2.0),
    lambda: planning_tasks.base("forward 50 cm, friction 1", (0.5, 0), "base_push.yaml"),
    lambda: planning_tasks.packaged("D torso 15 cm up", "move_torso"),
    lambda: planning_tasks.packaged("E pinch 15 cm", "pinch_cube"),
)
EFFORT_TASKS: tuple[Callable[[], Task], ...] = (
    planning_tasks.slider,
    lambda: planning_tasks.arm("forward 5 cm, effort", (0.05, 0), 1.0, control="effort"),
    lambda: planning_tasks.arm("forward 20 cm, effort", (0.2, 0), 1.5, control="effort"),
    lambda: planning_tasks.arm("left 10 cm from before, effort", (0, 0.1), 2.0, control="effort"),
)


def _planned(task: Task, variant: str, limit: float) -> resumed.Row:
    solved, result = solve(task, SETTINGS[variant], limit)
    wide = None
    if result.plan is not None and result.success:
        problem = _problem(task)
        wide = _spread(problem, problem.inputs_of(result.plan))
    return {**vars(solved), "spread": wide}


def _still(task: Task, variant: str, limit: float) -> resumed.Row:
    """Neither virtual forces nor a guide: from standing still."""
    problem, budget = _problem(task), Budget(limit)

    def watch(*_: object) -> None:
        if budget.is_set():
            raise Stopped

    still = np.zeros((task.steps, problem.n + len(problem.scene.pairs)))
    guess = Guess(name=variant, inputs=lambda _: still, virtual=False)
    found: Attempt = attempt(problem, guess, 1, watch)
    error = problem.error(found.best) if found.best is not None else None
    return {
        "success": found.good,
        "error": error.normalized if error else np.inf,
        "processor": budget.used,
        "spread": None,
    }


def _shot(task: Task, variant: str, limit: float) -> resumed.Row:
    problem = _problem(task)
    guess = planning_shooter.guided(problem) if variant == _GUIDED_SHOOTER else None
    if guess is None and variant == _GUIDED_SHOOTER:  # there is no guide for this task
        return {"success": False, "error": np.inf, "processor": 0.0, "spread": None}
    found = planning_shooter.shoot(problem, limit, guess=guess)
    return {
        "success": found.good,
        "error": found.error,
        "processor": found.processor,
        "spread": _spread(problem, found.inputs) if found.good else None,
        "curve": found.curve,
        "rollouts": found.rollouts,
    }


def _problem(task: Task) -> Problem:
    return Problem(task, Settings(threads=1), build_scene(task))


def _spread(problem: Problem, inputs: np.ndarray) -> float:
    """Per way, of the end in perturbed worlds."""
    dynamics = problem.dynamics(1)
    try:
        return float(spread(problem, dynamics.roll_out(inputs)))
    finally:
        dynamics.close()


def measure(options: Options) -> Report:
    quick = options.quick
    return report(TASKS[:1] if quick else (*TASKS, *EFFORT_TASKS), VARIANTS, 5.0 if quick else _LIMIT, options)


def report(
    makers: Sequence[Callable[[], Task]],
    variants: Sequence[str],
    limit: float,
    options: Options,
    kept: Path | None = None,
) -> Report:
    """Of these tasks and variants, at most `limit` seconds of processor time for each."""
    made = {task.name: task for task in (make() for make in makers)}
    runs = {_STILL: _still, _SHOOTER: _shot, _GUIDED_SHOOTER: _shot}
    names = {
        f"{variant}; {name}": (variant, name)
        for name in made
        for variant in variants
        if variant in _OF_EFFORT or "effort" not in name
    }
    jobs = {
        job: partial(runs.get(variant, _planned), made[name], variant, limit) for job, (variant, name) in names.items()
    }
    found = {names[job]: its for job, its in resumed.results(jobs, kept, options.console)}
    for (_, name), its in found.items():
        reference = found.get((REFERENCE, name))
        if "curve" in its and reference is not None:
            its["in_the_same_time"] = min(
                (error for at, error in its["curve"] if at <= reference["processor"]), default=1.0
            )
    plots = [options.output / f"planning_{name}.png" for name in ("ablation", "shooters")]
    planning_plots.ablation(found, plots[0])
    planning_plots.shooters(found, REFERENCE, plots[1])
    return Report(
        title="Contact planner, ablation: error, processor time, spread of the end in perturbed worlds",
        columns=["variant", *made],
        rows=[[variant, *(_cell(found.get((variant, name))) for name in made)] for variant in variants],
        notes=[
            f"at most {limit:g} s of processor time for each; (…): of the shooter, after the reference's time",
            *map(str, plots),
        ],
        data={"runs": [{"variant": variant, "task": name, **its} for (variant, name), its in found.items()]},
    )


def _cell(its: resumed.Row | None) -> str:
    if its is None:
        return ""
    if not np.isfinite(its["error"]):
        return "no motion"
    same = f" ({100 * its['in_the_same_time']:.1f} %)" if "in_the_same_time" in its else ""
    wide = f", {100 * its['spread']:.0f} %" if its["spread"] is not None else ""
    return f"{'' if its['success'] else 'no, '}{100 * its['error']:.1f} %{same}, {its['processor']:.0f} s{wide}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="", metavar="PATTERN", help="only those whose names match")
    parser.add_argument("--variants", default="", metavar="PATTERN", help="the same")
    parser.add_argument("--limit", type=float, default=_LIMIT, help="[s] of processor time for each (%(default)s)")
    resumed.arguments(parser)
    given = parser.parse_args(argv)
    tasks = [make for make in (*TASKS, *EFFORT_TASKS) if re.search(given.tasks, make().name)]
    variants = [name for name in VARIANTS if re.search(given.variants, name)]
    its = report(tasks, variants, given.limit, resumed.options(given), given.keep)
    resumed.print_report(its, given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
