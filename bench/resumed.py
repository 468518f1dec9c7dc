"""Long measurements in pieces: each result is a line of a JSON file at once; those that are there are not repeated."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.report import Options, Report, machine, show

Row = dict[str, Any]


def results(jobs: Mapping[str, Callable[[], Row]], file: Path | None, console: Console) -> Iterator[tuple[str, Row]]:
    """The result of each job by its name, in order; progress, with the time that is left, goes to the console.

    Args:
        file: of the results so far, which grows; None: nothing is kept.
    """
    kept = merged([file]) if file is not None and file.exists() else {}
    new = sum(name not in kept for name in jobs)
    begin, done = time.monotonic(), 0
    for name, job in jobs.items():
        if name in kept:
            yield name, kept[name]
            continue
        result = job()
        done += 1
        if file is not None:
            with file.open("a") as out:
                out.write(json.dumps({"job": name, **result}) + "\n")
        left = (time.monotonic() - begin) / done * (new - done)
        console.print(f"{done} of {new}, about {left / 60.0:.1f} min left: {name}", style="dim", markup=False)
        yield name, result


def merged(files: Iterable[Path]) -> dict[str, Row]:
    """Results of several files, by the job's name: of a job that is in two of them, the later file's."""
    lines = [line for file in files for line in file.read_text().splitlines()]
    return {its.pop("job"): its for its in map(json.loads, lines)}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Those of a measurement that is called by itself."""
    parser.add_argument("--keep", type=Path, metavar="FILE", help="results go there at once, and are not repeated")
    parser.add_argument("--output", type=Path, default=Path(".build/bench"), help="for plots (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of the planner (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def options(given: argparse.Namespace) -> Options:
    """Of these arguments; progress goes to stderr."""
    given.output.mkdir(parents=True, exist_ok=True)
    return Options(quick=False, output=given.output, console=Console(file=sys.stderr, width=140))


def print_report(report: Report, as_json: bool) -> None:
    """As tables, or for machines."""
    if as_json:
        print(json.dumps({"title": report.title, "machine": machine(), "data": report.data}, indent=1))
    else:
        show(Console(width=180), report)
