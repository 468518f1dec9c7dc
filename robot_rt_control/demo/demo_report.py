"""The demonstration's results: two short tables, and a plot of the distance with the active action as bands."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from robot_rt_control.demo.demo_lateness import QUANTILES, Lateness
from robot_rt_control.demo.demo_recording import Recording

_COLORS = {"move_down": "#f4a582", "move_up": "#92c5de"}


def results(recording: Recording) -> Table:
    """The results in simulated time."""
    switches = recording.switches()
    followed = [(fired, start) for fired, start in switches if start is not None]
    ticks = sorted({start.tick - fired.tick for fired, start in followed})
    table = Table(title="In simulated time", show_header=False)
    table.add_row("reactions fired", str(len(switches)))
    table.add_row("ticks between condition and switch", ", ".join(map(str, ticks)) if ticks else "no switch")
    missing = len(switches) - len(followed)
    if missing:
        table.add_row("switches that were not seen", f"[red]{missing}[/red]")
    status = recording.status
    if status is not None:
        table.add_row("ticks", str(status.tick))
        factor = f"{status.real_time_factor:.2f} of {status.real_time_factor_target:g}"
        table.add_row("real-time factor in the last second", factor)
    return table


def realtime_results(recording: Recording, measured: Sequence[Lateness]) -> Table:
    """The results on the wall clock: the lateness of the loop and of a Python thread."""
    table = Table(title="In real time, on mock hardware")
    for column in ("lateness [µs]", *QUANTILES):
        table.add_column(column, justify="left" if column.startswith("late") else "right")
    for lateness in measured:
        table.add_row(lateness.name, *(f"{lateness.microseconds(fraction):.0f}" for fraction in QUANTILES.values()))
    table.add_section()
    status = recording.status
    if status is not None:
        values = (status.compute_p50, status.compute_p99, status.compute_p999, status.compute_max)
        table.add_row("compute time of a tick [µs]", *(f"{value * 1e6:.1f}" for value in values))
        table.caption = f"{status.tick} ticks, {status.deadline_misses} missed deadlines; thread: {status.scheduler}"
    delays = recording.callback_delays
    if delays:
        worst = [statistics.median(delays) * 1e6, max(delays) * 1e6]
        table.add_row(f"tick to callback, {len(delays)} calls [µs]", f"{worst[0]:.0f}", "", "", f"{worst[1]:.0f}")
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
