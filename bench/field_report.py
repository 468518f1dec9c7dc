"""What the field of generated tasks shows: one table by robot, one by kind, and each task that went wrong."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import planning_plots
from bench.report import Goal, Options, Report
from bench.resumed import Row

SOLVED, NOT_VERIFIED, NOT_SOLVED = "solved", "planned, not verified", "not solved"
IMPOSSIBLE, REFUSED, BROKEN = "said impossible", "refused", "traceback"
STATES = SOLVED, NOT_VERIFIED, NOT_SOLVED, IMPOSSIBLE, REFUSED, BROKEN
"""From good to bad."""
ENGINES = "MuJoCo, half the step", "PyBullet, half the step"
"""That replay what is solved."""
_COLUMNS = [
    "tasks", "all", "solved", "not verified", "not solved", "refused", "false", "processor [s]", "error [mm]",
    "other engines [mm]", "peak [N]", "script [mm]", "script [N]",
]  # fmt: skip
_LONGEST = 160
"""Letters of a message."""


def report(rows: Sequence[Row], options: Options) -> Report:
    """Tables and a plot of results, in any order."""
    rows = sorted(rows, key=lambda its: (its["seed"], its["number"]))
    plot = options.output / "planning_field.png"
    notes = ["medians; error: of solved ones, in the engine that verified; script: three lines of move_linear"]
    if rows:
        planning_plots.field(rows, plot)
        notes.append(str(plot))
    groups = [(f"{key}: {value}", [its for its in rows if its[key] == value])
              for key in ("robot", "kind") for value in dict.fromkeys(its[key] for its in rows)]  # fmt: skip
    notes += [f"{_name(its)}: {its['state']}: {_short(its['message'])}" for its in rows if its["state"] != SOLVED]
    notes += [f"{_name(its)}: FALSE SUCCESS: {_missed(its)}" for its in rows if is_false(its)]
    return Report(
        title="Contact planner in the field",
        columns=_COLUMNS,
        rows=[_row("all", rows), *(_row(name, some) for name, some in groups)] if rows else [],
        goals=_goals(rows) if rows else [],
        notes=notes,
        data={"tasks": rows, "false_successes": sum(map(is_false, rows)), "states": dict(_states(rows))},
    )


def write_table(found: Report, page: Path) -> None:
    """Put the table of a report in place of that of a page. Raises ValueError: the page has none."""
    head = f"| {' | '.join(found.columns)} |"
    lines = [head, "|---" + "|---:" * (len(found.columns) - 1) + "|", *(f"| {' | '.join(row)} |" for row in found.rows)]
    before, table, after = page.read_text().partition(f"{head}\n")
    if not table:
        raise ValueError(f"{page} has no table that begins with {head}")
    rest = after.splitlines(keepends=True)
    rest = rest[next((i for i, line in enumerate(rest) if not line.startswith("|")), len(rest)) :]
    page.write_text(before + "\n".join(lines) + "\n" + "".join(rest))


def is_false(its: Mapping[str, Any]) -> bool:
    """Whether a task counts as solved, but an engine that was not asked misses its tolerance."""
    return its["state"] == SOLVED and not all(row["holds"] for row in its.get("replays", ()))


def is_worse(its: Mapping[str, Any]) -> bool | None:
    """Whether a plan is worse than a script: by error, if that is more than 1 mm, or by peak; None: not compared."""
    if its["state"] != SOLVED or "script" not in its:
        return None
    row, script = its["verified_by"], its["script"]
    return bool(row["error_to_target"] > max(script["error"], 0.001) or row["peak"] > max(script["peak"], 1.0))


def _states(rows: Iterable[Row]) -> Counter[str]:
    return Counter(its["state"] for its in rows)


def _row(name: str, rows: Sequence[Row]) -> list[str]:
    states, solved = _states(rows), [its for its in rows if its["state"] == SOLVED]
    scripts = [its["script"] for its in rows if "script" in its]
    others = [1e3 * row["error_to_target"] for its in solved for row in its.get("replays", ()) if "peak" in row]
    return [
        name, str(len(rows)), *(str(states[state]) for state in (SOLVED, NOT_VERIFIED, NOT_SOLVED)),
        str(states[IMPOSSIBLE] + states[REFUSED]), str(sum(map(is_false, rows))),
        _median([its["processor"] for its in rows], 1),
        _median([1e3 * its["verified_by"]["error_to_target"] for its in solved], 2), _median(others, 2),
        _median([its["verified_by"]["peak"] for its in solved], 1),
        _median([1e3 * its["error"] for its in scripts], 2), _median([its["peak"] for its in scripts], 1),
    ]  # fmt: skip


def _median(values: Sequence[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f}" if values else ""


def _goals(rows: Sequence[Row]) -> list[Goal]:
    beside = f"load {max(its.get('load', 0.0) for its in rows):.0f}, {len(rows)} tasks"
    share, false = _states(rows)[SOLVED] / len(rows), sum(map(is_false, rows))
    broken = _states(rows)[BROKEN]
    found = [
        Goal(figure="false successes", aim="0", measured=str(false), met=false == 0, beside=beside),
        Goal(figure="tracebacks", aim="0", measured=str(broken), met=broken == 0, beside=beside),
        Goal(figure="solved", aim=">= 95 %", measured=f"{share:.0%}", met=share >= 0.95, beside=beside),
    ]
    if worse := [its for its in map(is_worse, rows) if its is not None]:
        figure = "straight pushes that are worse than their script"
        found.append(Goal(figure=figure, aim="0", measured=f"{sum(worse)} of {len(worse)}", met=not any(worse),
                          beside=beside))  # fmt: skip
    return found


def _name(its: Row) -> str:
    return f"{its['seed']}.{its['number']:03d} {its['robot']}, {its['text']}"


def _short(message: str) -> str:
    last = message.strip().splitlines()[-1] if message.strip() else ""
    return last if len(last) <= _LONGEST else f"{last[: _LONGEST - 1]}…"


def _missed(its: Row) -> str:
    rows = [row for row in its["replays"] if not row["holds"]]
    accepted = f"{1e3 * max(its['tolerance'], 0.001):.1f} mm are accepted"
    said = [
        f"{row['name']}: {1e3 * row['error_to_target']:.1f} mm, {row['orientation_error']:.3f} rad"
        if "peak" in row
        else f"{row['name']}: {_short(row['message'])}"
        for row in rows
    ]
    return "; ".join([*said, accepted])
