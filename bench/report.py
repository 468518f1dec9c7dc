"""What every benchmark gives back, and how it is shown."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to measure."""

    quick: bool
    """A fraction of the measurements: to see that all works."""
    output: Path
    """Folder for results and plots."""
    console: Console

    def amount(self, full: int) -> int:
        """How many of something to measure."""
        return max(1, full // 10) if self.quick else full


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A figure with its aim."""

    figure: str
    """What is measured."""
    aim: str
    measured: str
    met: bool
    beside: str
    """What the figure is measured beside: a reference, or the load of the machine's other processors."""

    @property
    def text(self) -> str:
        """In one line."""
        return f"{self.figure}: aim {self.aim}, measured {self.measured}, beside {self.beside}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """One benchmark's results."""

    title: str
    columns: Sequence[str]
    """The first one is text, the others are numbers."""
    rows: Sequence[Sequence[str]]
    goals: Sequence[Goal] = ()
    notes: Sequence[str] = ()
    data: dict[str, Any] = field(default_factory=dict)
    """The same, and more, for machines; SI units."""


def show(console: Console, report: Report) -> None:
    """One table, the goals and the notes."""
    table = Table(title=report.title, title_justify="left", title_style="bold", header_style="bold")
    for i, column in enumerate(report.columns):
        table.add_column(escape(column), justify="left" if i == 0 else "right", no_wrap=i > 0)
    for row in report.rows:
        table.add_row(*map(escape, row))
    console.print()
    console.print(table)
    for goal in report.goals:
        console.print(
            f"  [{'green' if goal.met else 'red'}]{'reached' if goal.met else 'missed'}[/]: {escape(goal.text)}"
        )
    for note in report.notes:
        console.print(f"  {escape(note)}", style="dim")


def summary(goals: Sequence[Goal]) -> Table:
    """One table of all figures that have an aim."""
    table = Table(title="Figures", title_justify="left", title_style="bold", header_style="bold")
    for column in ("figure", "aim", "measured", "", "measured beside"):
        table.add_column(column)
    for goal in goals:
        verdict = "[green]reached[/]" if goal.met else "[red]missed[/]"
        table.add_row(escape(goal.figure), escape(goal.aim), escape(goal.measured), verdict, escape(goal.beside))
    return table


def load_average() -> float:
    """Mean number of processes that ran or waited for a processor in the last minute."""
    return float(Path("/proc/loadavg").read_text().split()[0])


def machine() -> dict[str, Any]:
    """What the numbers belong to."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    kernel = platform.release()
    return {
        "processor": model,
        "processors": len(os.sched_getaffinity(0)),
        "kernel": f"{kernel}{', PREEMPT_RT' if 'PREEMPT_RT' in platform.version() else ''}",
        "python": sys.version.split()[0],
        "load_average": load_average(),
    }


def save(report: Report, name: str, folder: Path, of: dict[str, Any]) -> Path:
    """Write a report as JSON."""
    path = folder / f"{name}.json"
    content = {
        "benchmark": name,
        "title": report.title,
        "machine": of,
        "goals": [asdict(g) for g in report.goals],
        "notes": list(report.notes),
        "data": report.data,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path


def microseconds(nanoseconds: float) -> str:
    """As a table shows it."""
    return f"{nanoseconds / 1000.0:,.2f}"
