"""What `solve` shows while it plans: the iterates of the penalty loop, and where it is."""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from robot_rt_control.command_line.output import table

if TYPE_CHECKING:
    from robot_rt_control.planning import Progress
    from robot_rt_control.planning.optimise.penalty_loop import Iterate

COLUMNS = ("start", "iteration", "penalty", "error", "turned", "k mean", "k most", "pose", "accepted")
_SHOWN = 15
"""The last ones, on a terminal."""


class ProgressTable:
    """A table that grows on a terminal; elsewhere, a line for each iterate. A context manager.

    Args:
        console: to write to, stderr: results go to stdout.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.iterates: list[tuple[str, Iterate]] = []
        """Iterates of all starts, with the start's name."""
        self.iterations = 0
        """Of SCVX."""
        self._begin = time.monotonic()
        self._live = Live(console=console, refresh_per_second=8, transient=True) if console.is_terminal else None

    @property
    def elapsed(self) -> float:
        """[s]"""
        return time.monotonic() - self._begin

    def __enter__(self) -> ProgressTable:
        if self._live is not None:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def show(self, progress: Progress) -> None:
        """Called by the planner, in its thread."""
        last = progress.iterate
        is_new = last is not None and not any(last is iterate for _, iterate in self.iterates)
        if last is not None and is_new:
            self.iterates.append((progress.start, last))
        if progress.iteration is not None:
            self.iterations += 1
        if self._live is not None:
            self._live.update(Group(iterate_table(self.iterates[-_SHOWN:]), Text(self.state(progress))))
        elif last is not None and is_new:
            words = (f"{name} {value}" for name, value in zip(COLUMNS, row_of(progress.start, last), strict=True))
            self.console.print(Text(f"{', '.join(words)}, after {self.elapsed:.1f} s"), soft_wrap=True)

    def state(self, progress: Progress) -> str:
        """Where it is, in one line."""
        words = [f"{self.elapsed:.1f} s", f"{100 * progress.share:.0f} % of the work", progress.start, progress.phase]
        found = progress.iteration
        if found is not None:
            words += [f"SCVX iteration {found.iteration}", f"cost {found.cost:.4g}", f"trust region {found.radius:.3g}"]
        best = progress.best
        words.append("no plan yet" if best is None else f"best plan {100 * best.normalized:.2f} %")
        return ", ".join(words)


def iterate_table(iterates: Iterable[tuple[str, Iterate]]) -> Table:
    """Iterates of the penalty loop, each with the name of its start."""
    return table(COLUMNS, (row_of(start, iterate) for start, iterate in iterates))


def row_of(start: str, iterate: Iterate) -> list[str]:
    """Texts for `COLUMNS`."""
    return [
        start,
        str(iterate.iteration),
        f"{iterate.penalty:.3g}",
        f"{100 * iterate.error.normalized:.1f} %",
        f"{iterate.error.orientation:.3f} rad",
        f"{iterate.average:.3f}",
        f"{iterate.greatest:.3f}",
        "holds" if iterate.holds else "broken",
        "yes" if iterate.accepted else "no",
    ]
