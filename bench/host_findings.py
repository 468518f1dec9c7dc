"""What the documents promise for a workcell and an application on two hosts, and what was seen of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from robot_rt_control.client.lease import longest_silence
from robot_rt_control.vocabulary import defaults

SCHEDULING_S = 0.15
"""Added to bounds: processes on an ordinary, busy machine are late now and then."""
APPLICATION_S = 0.5
"""The same for the application, which has no thread in real time."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """[s] What the documents promise after a cut, without the margins for a busy machine."""

    stream_rest: float
    """Until the arm is at rest that followed a stream."""
    action_rest: float
    ended: float
    """Until the workcell has ended the session."""
    told: float
    """Until the application knows."""


def bounds(lease_s: float, simulated: bool = False) -> Bounds:
    """The bounds of a session with this lease.

    Args:
        simulated: simulated time may run at a fraction of real time.
    """
    lease_s = max(lease_s, defaults.SIMULATED_LEASE_S) if simulated else lease_s
    brake = defaults.REST_TIME_S * (10.0 if simulated else 1.0)
    return Bounds(
        stream_rest=defaults.STREAM_TIMEOUT_S * (10.0 if simulated else 1.0) + brake,
        action_rest=lease_s + brake,
        ended=lease_s,
        told=longest_silence(lease_s, simulated=simulated),
    )


_END = re.compile(r"\[(\d+\.\d+)\] \[control_server\]: session '(\w+)' .*has ended: (.*)")


def session_end(log: str, session: str) -> tuple[float, str] | None:
    """When [s] (time.time) and why a session ended, by the workcell's log; None: it does not say.

    Args:
        log: output of its processes.
        session: its id.
    """
    ends = [match for match in map(_END.search, log.splitlines()) if match and match[2] == session]
    return (float(ends[-1][1]), ends[-1][3]) if ends else None


@dataclass(frozen=True)
class Row:
    """One promise, and what was seen of it."""

    what: str
    promised: str
    seen: str
    held: bool


@dataclass
class Findings:
    """What was seen of one way."""

    way: str
    console: Console
    rows: list[Row] = field(default_factory=list)

    def add(self, what: str, promised: str, seen: str, held: bool) -> None:
        self.rows.append(Row(what, promised, seen, held))
        verdict = "[green]held[/green]" if held else "[red]broken[/red]"
        self.console.print(f"  {what}: {seen} (promised: {promised})  {verdict}", highlight=False)

    def within(
        self, what: str, bound_s: float, seen_s: float | None, margin_s: float = SCHEDULING_S, how: str = ""
    ) -> None:
        """Compare a time with its bound. None, inf: it was not seen."""
        text = f"{how}after {seen_s:.2f} s" if seen_s is not None and seen_s < float("inf") else "not seen"
        held = seen_s is not None and seen_s <= bound_s + margin_s
        self.add(what, f"within {bound_s:.2f} s", text, held)


def table(findings: Sequence[Findings]) -> Table:
    """All rows."""
    margins = f"margin for a busy machine: {SCHEDULING_S:g} s, for the application {APPLICATION_S:g} s"
    made = Table(title="Two hosts", title_justify="left", caption=margins, caption_justify="left")
    for name in ("discovery", "what", "promised", "seen", ""):
        made.add_column(name)
    for each in findings:
        for i, row in enumerate(each.rows):
            verdict = "[green]held[/green]" if row.held else "[red]broken[/red]"
            made.add_row(each.way if i == 0 else "", row.what, row.promised, row.seen, verdict)
        made.add_section()
    return made
