"""What the examples with strategies share: which one governed when, as bands below a plot."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.client.recording import Recording
from robot_rt_control.model.workcell.workcell import load_workcell

Phase = tuple[str, slice]
"""A strategy's name, and the samples in which it governed."""


@cache
def period(workcell: Path) -> float:
    """[s] Period of a tick."""
    return load_workcell(workcell).period


def phases(recording: Recording, axis: str, names: Sequence[str]) -> list[Phase]:
    """Which strategy governed a degree of freedom, in order.

    Args:
        axis: action and degree of freedom, such as "corner.x".
        names: of its strategies.
    """
    number = recording[f"{axis}.strategy"]
    known = np.flatnonzero(np.isfinite(number))
    cuts = [known[0], *(known[1:][np.diff(number[known]) != 0]), known[-1] + 1]
    return [(names[int(number[a])], slice(int(a), int(b))) for a, b in zip(cuts, cuts[1:], strict=False)]


def draw_bands(plots: Sequence[Any], time: np.ndarray, given: Sequence[Phase], colors: dict[str, str]) -> None:
    """Color the background of plots over time by what governed.

    Args:
        time: (n,) [s] of the samples, as in the plots.
        colors: of each strategy.
    """
    for name, part in given:
        for each in plots:
            each.axvspan(time[part][0], time[min(part.stop, len(time) - 1)], color=colors[name], lw=0)
    for each in plots:
        each.spines[["top", "right"]].set_visible(False)


def explain_bands(figure: Any, colors: dict[str, str]) -> None:
    """Add the legend of the bands below all plots."""
    from matplotlib.patches import Patch

    bands = [Patch(color=color, label=name) for name, color in colors.items()]
    figure.legend(handles=bands, frameon=False, loc="outside lower center", ncols=len(bands))
