"""The contact planner without one of its parts at a time: which of them earn their place.

python bench/planning_ablation.py [--tasks 3] [--limit 40]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import planning_tasks  # noqa: E402
from bench.planning import solve  # noqa: E402
from bench.report import Options, Report, show  # noqa: E402
from robot_rt_control.planning.penalty_loop import PenaltySettings  # noqa: E402
from robot_rt_control.planning.planner import PostProcessing, Settings  # noqa: E402
from robot_rt_control.planning.traction import TractionSettings  # noqa: E402

_SINGLE = Settings(search="single")
_DOCUMENT = replace(_SINGLE, shooting=None)
_TRACTION = TractionSettings()
VARIANTS: dict[str, Settings] = {
    "all (rounds)": Settings(),
    "without guides": Settings(guides=False),
    "guides, without shooting": Settings(shooting=None),
    "without virtual forces": Settings(virtual_forces=False),
    "single": _SINGLE,
    "single, without shooting (the document)": _DOCUMENT,
    "document, fixed ω 0.1": replace(_DOCUMENT, penalty=PenaltySettings(first=0.1, iterations=1)),
    "document, fixed ω 3": replace(_DOCUMENT, penalty=PenaltySettings(first=3.0, iterations=1)),
    "document, fixed ω 30": replace(_DOCUMENT, penalty=PenaltySettings(first=30.0, iterations=1)),
    "document, additive": replace(_DOCUMENT, penalty=PenaltySettings(schedule="additive")),
    "document, without draw": replace(_DOCUMENT, draw=False),
    "document, traction controller": replace(_DOCUMENT, post=PostProcessing(traction=_TRACTION)),
    "document, traction controller alone": replace(_DOCUMENT, draw=False, post=PostProcessing(traction=_TRACTION)),
    "document, hill climbing": replace(_DOCUMENT, post=PostProcessing(hill_climbing=True)),
    "document, both, above 0.5": replace(
        _DOCUMENT, post=PostProcessing(traction=_TRACTION, hill_climbing=True, above=0.5)
    ),
    "document, both, below 0.5": replace(
        _DOCUMENT, post=PostProcessing(traction=_TRACTION, hill_climbing=True, below=0.5)
    ),
}
TASKS = (
    lambda: planning_tasks.slider(20),
    lambda: planning_tasks.arm("forward 5 cm", (0.05, 0), 1.0),
    lambda: planning_tasks.arm("forward 20 cm", (0.2, 0), 1.5),
    lambda: planning_tasks.arm("left 10 cm, from before", (0, 0.1), 2.0),
    lambda: planning_tasks.arm("diagonal 10, 10 cm", (0.1, 0.1), 2.5),
)


def measure(options: Options) -> Report:
    return report(1 if options.quick else len(TASKS), 10.0 if options.quick else 60.0, options.console)


def report(tasks: int, limit: float, console: Console) -> Report:
    """Of the first tasks, each variant at most `limit` seconds for each."""
    made = [make() for make in TASKS[:tasks]]
    rows, data = [], []
    for name, settings in VARIANTS.items():
        cells = []
        for task in made:
            its = solve(task, settings, limit)
            data.append({"variant": name, **vars(its)})
            cells.append(f"{'' if its.success else 'no, '}{100 * its.error:.1f} %, {its.processor:.0f} s")
        rows.append([name, *cells])
        console.print(*rows[-1], sep="  ")
    return Report(
        title="Contact planner, ablation: error, processor time",
        columns=["variant", *[task.name for task in made]],
        rows=rows,
        notes=[f"at most {limit:g} s on the clock for each"],
        data={"runs": data},
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=len(TASKS), help="the first ones")
    parser.add_argument("--limit", type=float, default=60.0, help="[s] for each")
    given = parser.parse_args(argv)
    console = Console(width=160)
    show(console, report(given.tasks, given.limit, console))
    return 0


if __name__ == "__main__":
    sys.exit(main())
