"""All measurements: one table for each, and at the end one of all figures that have an aim.

Results also go to files: JSON for machines, PNG for eyes.

./run bench                      everything
./run bench --quick              a tenth of it
./run bench --only tick lateness
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.report import (  # noqa: E402  (needs the path)
    Goal,
    Options,
    Report,
    load_average,
    machine,
    save,
    show,
    summary,
)

BENCHMARKS = {
    "tick": "tick_compute",
    "inactive": "inactive_reactions",
    "strategies": "strategies_cost",
    "drives": "drive_exchange",
    "franka": "franka_cycle",
    "lateness": "wakeup_lateness",
    "introspection": "introspection",
    "lockstep": "lockstep_overhead",
    "workcell": "workcell_start",
    "start": "start_latency",
    "goals": "goal_latency",
    "callback": "callback_delay",
    "upload": "upload_to_installed",
    "compile": "compile_time",
    "motion": "motion",
    "streams": "stream_tracking",
    "groups": "motion_groups",
    "planning": "planning",
    "planning_ablation": "planning_ablation",
    "planning_beside": "planning_beside_loop",
    "blueprints": "blueprints",
    "editor": "editor",
    "view": "view",
}
"""Name → module with `measure(options) -> Report`."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="./run bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="measure a tenth as much")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--output", type=Path, default=Path(".build/bench"), help="folder (default: %(default)s)")
    given = parser.parse_args(argv)
    given.output.mkdir(parents=True, exist_ok=True)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    options = Options(quick=given.quick, output=given.output, console=console)
    of = machine()
    console.print(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in of.items()))
    goals: list[Goal] = []
    failed: list[str] = []
    for name in given.only or BENCHMARKS:
        busy = load_average()
        begin = time.monotonic()
        with console.status(f"{name} ..."):
            measure: Callable[[Options], Report] = import_module(f"bench.{BENCHMARKS[name]}").measure
            try:
                report = measure(options)
            except Exception as error:  # the other figures are measured all the same
                console.print_exception()
                failed.append(f"{name} was not measured: {error}")
                continue
        show(console, report)
        seconds = time.monotonic() - begin
        path = save(report, name, given.output, of | {"load_average": busy})
        console.print(f"  {path}; took {seconds:.0f} s, load average before it {busy:.2f}", style="dim")
        goals += report.goals
    missed = sum(not goal.met for goal in goals)
    console.print()
    console.print(summary(goals))
    console.print(f"{missed} aims missed" if missed else "all aims reached")
    for line in failed:
        console.print(line, style="red", markup=False)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
