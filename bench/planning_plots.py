"""Plots of the contact planner's benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from bench.planning import Solved

_ACCEPTED = 0.02
"""Error per way."""
_LEAST, _MOST = 1e-4, 1.0
"""Errors that are drawn."""
_SOLVED, _NOT = "tab:blue", "tab:red"
_STATES = "tab:green", "gold", "tab:orange", "silver", "tab:gray", "tab:red"
"""Of field_report.STATES."""


_FORCES = 0.1, 1e3
"""[N] that are drawn."""


def tasks(found: Sequence[Solved], path: Path) -> None:
    """Processor time and error of each task."""
    figure = Figure(figsize=(11, 1.2 + 0.28 * len(found)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    names = [its.name for its in found]
    colors = [_SOLVED if its.success else _NOT for its in found]
    left.barh(names, [its.processor for its in found], color=colors)
    left.set(xscale="log", xlim=(0.5, None), xlabel="processor time [s]")
    left.invert_yaxis()
    right.barh(names, [_drawn(its.error) for its in found], color=colors)
    right.axvline(_ACCEPTED, color="gray", linestyle="--", label="accepted")
    right.set(xscale="log", xlim=(_LEAST / 2, 2 * _MOST), xlabel="error, per way (red: not solved)")
    right.legend(loc="lower right")
    _save(figure, (left, right), path)


def pushes(found: Sequence[Solved], path: Path) -> None:
    """Of many alike tasks: the share that is solved within so much processor time, and each one's error."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    times = np.sort([its.processor for its in found if its.success])
    left.step([0.0, *times], np.arange(len(times) + 1) / len(found), where="post", color=_SOLVED)
    left.axhline(0.9, color="gray", linestyle="--")
    left.axvline(10.0, color="gray", linestyle=":")
    left.set(xlabel="processor time [s]", ylabel=f"share of {len(found)} pushes that is solved", ylim=(0.0, 1.02))
    for success, color, label in ((True, _SOLVED, "solved"), (False, _NOT, "not solved")):
        some = [its for its in found if its.success is success]
        right.plot([its.processor for its in some], [_drawn(its.error) for its in some], "o", color=color, label=label)
    right.axhline(_ACCEPTED, color="gray", linestyle="--")
    right.set(yscale="log", xlabel="processor time [s]", ylabel="error, per way")
    right.legend()
    _save(figure, (left, right), path)


def ablation(found: Mapping[tuple[str, str], Mapping[str, Any]], path: Path) -> None:
    """Errors of each variant and task as colours; and how the shooters come nearer over time."""
    variants = list(dict.fromkeys(variant for variant, _ in found))
    names = list(dict.fromkeys(task for _, task in found))
    figure = Figure(figsize=(4.5 + 1.4 * len(names), 1.8 + 0.42 * len(variants)), layout="constrained")
    axes = figure.subplots()
    errors = np.full((len(variants), len(names)), np.nan)
    for (variant, name), its in found.items():
        i, j = variants.index(variant), names.index(name)
        errors[i, j] = np.log10(_drawn(its["error"]))
        text = f"{100 * its['error']:.1f} %\n{its['processor']:.1f} s" if np.isfinite(its["error"]) else "no motion"
        weight = "normal" if its["success"] else "bold"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, weight=weight)
    colors = matplotlib.colormaps["RdYlGn_r"]
    image = axes.imshow(errors, cmap=colors, vmin=np.log10(_LEAST), vmax=np.log10(_MOST), aspect="auto", alpha=0.8)
    axes.set_xticks(range(len(names)), [name.replace(", ", ",\n") for name in names], fontsize=8)
    axes.set_yticks(range(len(variants)), variants)
    axes.xaxis.tick_top()
    figure.colorbar(image, label="log10 of the error per way (bold: not solved)")
    _save(figure, (), path)


def shooters(found: Mapping[tuple[str, str], Mapping[str, Any]], reference: str, path: Path) -> None:
    """How shooters come nearer with time, and where the planner is."""
    names = list(dict.fromkeys(task for (_, task), its in found.items() if "curve" in its))
    figure = Figure(figsize=(3.2 * max(len(names), 1), 3.8), layout="constrained")
    every = figure.subplots(1, max(len(names), 1), sharey=True, squeeze=False)[0]
    for axes, name in zip(every, names, strict=False):
        for (variant, task), its in found.items():
            if task == name and "curve" in its:
                at, errors = [*zip(*its["curve"], strict=True)] or [(), ()]
                drawn = [*map(_drawn, errors), _drawn(its["error"])]
                axes.step([*at, its["processor"]], drawn, where="post", marker=".", markevery=[-1], label=variant)
        planned = found.get((reference, name))
        if planned is not None:
            axes.plot(planned["processor"], _drawn(planned["error"]), "k*", markersize=12, label="the planner")
        axes.axhline(_ACCEPTED, color="gray", linestyle="--")
        axes.set(yscale="log", title=name.replace(", ", ",\n"), xlabel="processor time [s]")
        axes.title.set_fontsize(9)
    every[0].set_ylabel("error per way")
    labels = {label: line for axes in every for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=len(labels), fontsize=8)
    _save(figure, every, path)


def field(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Generated tasks: what came of those of each robot; errors in engines that were not asked; peaks beside the
    script's."""
    from bench import field_report as its_report

    figure = Figure(figsize=(15, 5.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    robots = list(dict.fromkeys(its["robot"] for its in rows))[::-1]
    begin = np.zeros(len(robots))
    for state, color in zip(its_report.STATES, _STATES, strict=True):
        count = np.array([sum(its["robot"] == robot and its["state"] == state for its in rows) for robot in robots])
        if count.any():
            left.barh(robots, count, left=begin, color=color, label=state)
            for i in np.flatnonzero(count):
                left.text(begin[i] + count[i] / 2.0, i, str(count[i]), ha="center", va="center", fontsize=9)
        begin += count
    solved = sum(its["state"] == its_report.SOLVED for its in rows)
    left.set(title=f"{solved} of {len(rows)} tasks are solved", xlabel="tasks", ylim=(-0.6, len(robots) + 0.4))
    left.xaxis.get_major_locator().set_params(integer=True)
    left.legend(fontsize=8, loc="upper center", ncols=3)
    replays = [(its, row) for its in rows for row in its.get("replays", ()) if "peak" in row]
    for name, marker in zip(its_report.ENGINES, "o^", strict=True):
        some = [(its, row) for its, row in replays if row["name"] == name]
        # The tolerance of each task: 2 % of its way, and at least 1 mm.
        share = [row["error_to_target"] / max(its["tolerance"], 1e-3) for its, row in some]
        colors = [_SOLVED if row["holds"] else _NOT for _, row in some]
        at = [1e3 * its["way"] for its, _ in some]
        middle.scatter(at, np.clip(share, 1e-2, 10.0), c=colors, marker=marker, alpha=0.7, label=name)
    false = sum(map(its_report.is_false, rows))
    middle.axhline(1.0, color="gray", linestyle="--")
    middle.set(yscale="log", ylim=(8e-3, 12.0), xlabel="way [mm]", ylabel="error per tolerance (red: missed)",
               title=f"what is solved, replayed: false successes: {false}")  # fmt: skip
    middle.legend(fontsize=8)
    compared = [its for its in rows if its["state"] == its_report.SOLVED and "script" in its]
    for its in compared:
        script, plan = (1e3 * its["script"]["error"], its["script"]["peak"]), its["verified_by"]
        ours = 1e3 * plan["error_to_target"], plan["peak"]
        right.plot(*zip(script, ours, strict=True), color="lightgray", zorder=1)
        right.scatter(*script, color="tab:orange", zorder=2)
        right.scatter(*ours, color=_NOT if its_report.is_worse(its) else _SOLVED, zorder=3)
    right.scatter([], [], color="tab:orange", label="three lines of move_linear")
    right.scatter([], [], color=_SOLVED, label="plan (red: worse)")
    right.set(yscale="log", ylim=_FORCES, xlabel="error [mm]", ylabel="greatest force [N]",
              title=f"{len(compared)} straight pushes, in PyBullet")  # fmt: skip
    right.set_xlim(0.0, max(5.0, right.get_xlim()[1]))
    right.legend(fontsize=8)
    _save(figure, (left, middle, right), path)


def _drawn(error: float) -> float:
    return float(np.clip(error, _LEAST, _MOST))


def _save(figure: Figure, every: Sequence[Axes], path: Path) -> None:
    for axes in every:
        axes.grid(True, alpha=0.3)
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=110)
