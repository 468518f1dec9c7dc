"""The demonstration's results: a short table, and a plot of the distance with the active action as coloured bands."""

from __future__ import annotations

import statistics
from pathlib import Path

from rich.table import Table

from robot_rt_control.application.demo_recording import Recording

_COLORS = {"move_down": "#f4a582", "move_up": "#92c5de"}


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"


def results(recording: Recording) -> Table:
    """The short table at the end."""
    switches = recording.switches()
    followed = [(fired, start) for fired, start in switches if start is not None]
    ticks = sorted({start.tick - fired.tick for fired, start in followed})
    table = Table(title="What the demonstration measured", show_header=False)
    table.add_row("reactions fired", str(len(switches)))
    table.add_row("ticks between condition and switch", ", ".join(map(str, ticks)) if ticks else "no switch")
    missing = len(switches) - len(followed)
    if missing:
        table.add_row("switches that were not seen", f"[red]{missing}[/red]")
    delays = recording.callback_delays
    if delays:
        table.add_row(
            f"tick to callback, {len(delays)} calls",
            f"median {_milliseconds(statistics.median(delays))}, largest {_milliseconds(max(delays))}",
        )
    status = recording.status
    if status is not None:
        for name in ("lateness", "compute"):
            values = [getattr(status, f"{name}_{p}") for p in ("p50", "p99", "p999", "max")]
            what = "wake-up lateness" if name == "lateness" else "compute time of a tick"
            numbers = " / ".join(f"{v * 1e6:.1f}" for v in values)
            table.add_row(f"{what}, p50 / p99 / p99.9 / max", f"{numbers} µs")
        table.add_row("ticks, missed deadlines", f"{status.tick}, {status.deadline_misses}")
        table.add_row("real-time thread", status.scheduler)
    return table


def plot(recording: Recording, file: Path, *, near: float, far: float) -> None:
    """Distance over time, the active action as coloured bands, the thresholds as lines."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    if not recording.distances:
        raise ValueError("no distance was recorded: is the topic rangefinder/range published?")
    begin, end = recording.distances[0][0], recording.distances[-1][0]
    figure, axes = plt.subplots(figsize=(11, 4.5), constrained_layout=True)
    named: set[str] = set()
    for action, start, stop in recording.bands(begin, end):
        color = _COLORS.get(action, "#dddddd")
        label = action if action in _COLORS else "other"
        axes.axvspan(start - begin, stop - begin, color=color, lw=0, label=None if label in named else label)
        named.add(label)
    axes.plot([t - begin for t, _ in recording.distances], [d for _, d in recording.distances], "k", lw=1.2)
    for value, text in ((near, "near: go up"), (far, "far: go down")):
        axes.axhline(value, color="k", ls="--", lw=0.8)
        axes.annotate(text, (0.005, value), xycoords=("axes fraction", "data"), va="bottom", fontsize=9)
    axes.set(xlabel="time [s]", ylabel="rangefinder.distance [m]", xlim=(0, end - begin))
    axes.set_title("Real-time reactions to a rangefinder", loc="left")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=len(named), frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
