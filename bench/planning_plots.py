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


def _drawn(error: float) -> float:
    return float(np.clip(error, _LEAST, _MOST))


def _save(figure: Figure, every: Sequence[Axes], path: Path) -> None:
    for axes in every:
        axes.grid(True, alpha=0.3)
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=110)
