"""A plan through contact as pictures: its motion and contacts, and frames of its replay as a film strip."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.vocabulary.errors import DefinitionError

Frames = Sequence[NDArray[np.uint8]]

_COLORS = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]  # a listed colormap has them
_TOUCHING = 2e-3
"""[m] Below this distance a pair is drawn as in contact."""
_LEAST = 1e-6
"""[N] Virtual forces below are nothing, on a logarithmic scale."""


def draw_plan(plan: Plan, picture: Path | str) -> Path:
    """Draw a plan as a PNG: joints with their limits, the body's error, contacts, φ before and after, convergence."""
    figure = Figure(figsize=(13, 11), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(3, 2)
    header = plan.header
    step = header["time"] / header["steps"]
    ends = step * np.arange(header["steps"] + 1)
    _draw_joints(axes[0, 0], plan, ends, plan.position, ("lower", "upper"), "position [rad, m]")
    _draw_joints(axes[0, 1], plan, ends, plan.velocity, ("-velocity", "velocity"), "velocity [rad/s, m/s]")
    _legend_beside(axes[0, 1])
    _draw_error(axes[1, 0], plan, ends)
    _draw_distances(axes[1, 1], plan, ends)
    _draw_contacts(axes[2, 0], plan, step)
    _draw_convergence(axes[2, 1], plan)
    outcome = "without virtual forces it arrives" if header["success"] else "NOT PHYSICAL: it does not arrive"
    percent, angle = 100.0 * header["normalized_error"], header["orientation_error"]
    figure.suptitle(f"{header['body']}: {outcome}; {percent:.1f} % of the way and {angle:.3f} rad are left")
    path = Path(picture)
    figure.savefig(path, dpi=100)
    return path


def _draw_joints(axis: Axes, plan: Plan, ends: Any, values: Any, limits: tuple[str, str], label: str) -> None:
    """Lines, and dashed the limits that are near; without the parts' names, if there is one part."""
    parts = {name.partition(".")[0] for name in plan.header["joints"]}
    low, high = float(values.min()), float(values.max())
    margin = 0.3 * max(high - low, 1e-3)
    for j, name in enumerate(plan.header["joints"]):
        color = _COLORS[j % len(_COLORS)]
        label_of = name.partition(".")[2] if len(parts) == 1 else name
        axis.plot(ends, values[:, j], color=color, lw=1.4, label=label_of)
        for limit in limits:
            value = plan.header["limits"][limit.lstrip("-")][j] * (-1.0 if limit.startswith("-") else 1.0)
            if low - margin <= value <= high + margin:
                axis.axhline(value, color=color, lw=0.8, ls="--")
    _finish(axis, "time [s]", f"{label}; dashed: limits")


def _draw_error(axis: Axes, plan: Plan, ends: Any) -> None:
    target = np.array(plan.header["target"][0])
    away = np.linalg.norm(plan.body_position - target, axis=1)
    axis.plot(ends, 1e3 * away, color=_COLORS[0], label="to the target [mm]")
    moved = np.linalg.norm(np.diff(plan.body_position, axis=0), axis=1) / np.diff(ends)
    axis.stairs(1e3 * moved, ends, color=_COLORS[1], lw=1.0, label="speed [mm/s]", baseline=None)
    axis.legend(fontsize=8)
    _finish(axis, "time [s]", f"{plan.header['body']}")


def _draw_distances(axis: Axes, plan: Plan, ends: Any) -> None:
    virtual = plan.virtual_force.max(initial=0.0) > _LEAST
    pairs = plan.header["pairs"]
    nearest = np.argsort(plan.distance.min(axis=0), kind="stable")[: len(_COLORS)]
    for color, i in zip(_COLORS, sorted(nearest), strict=False):
        if virtual:
            axis.plot(ends, 1e3 * plan.virtual_distance[:, i], color=color, lw=1.0, ls="--")
        axis.plot(ends, 1e3 * plan.distance[:, i], color=color, lw=1.6, label=pairs[i])
    axis.axhline(0.0, color="black", lw=0.6)
    _legend_beside(axis)
    which = f", {len(nearest)} nearest of {len(pairs)} pairs" if len(nearest) < len(pairs) else ""
    _finish(axis, "time [s]", f"distance φ [mm]{which}{'; dashed: with virtual forces' if virtual else ''}")


def _draw_contacts(axis: Axes, plan: Plan, step: float) -> None:
    """The contact schedule that was found: virtual forces of each pair, and where it touches in the end."""
    pairs, steps = plan.header["pairs"], plan.header["steps"]
    force = np.log10(np.maximum(plan.virtual_force.T, _LEAST))
    axis.set_xlim(0.0, step * steps)
    axis.set_ylim(len(pairs) - 0.5, -0.5)
    note = "no virtual forces are left"
    if plan.virtual_force.max(initial=0.0) > _LEAST:
        extent = (0.0, step * steps, len(pairs) - 0.5, -0.5)
        shown = axis.imshow(force, aspect="auto", cmap="Oranges", extent=extent, interpolation="nearest")
        axis.figure.colorbar(shown, ax=axis, label="log10 γ [N], with virtual forces")
        note = "orange: virtual forces of the iterate it came from"
    for i in range(len(pairs)):
        for n in np.flatnonzero(plan.distance[:-1, i] < _TOUCHING):
            axis.plot([step * n, step * (n + 1)], [i, i], color="black", lw=4.0, solid_capstyle="butt")
    axis.set_yticks(range(len(pairs)), pairs, fontsize=7)
    _finish(axis, f"time [s]; black: in contact; {note}", "")


def _draw_convergence(axis: Axes, plan: Plan) -> None:
    iterates = plan.header["convergence"]
    if not iterates:
        axis.set_axis_off()
        text = "found without iterates with virtual forces"
        axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", fontsize=9)
        return
    number = np.arange(1, len(iterates) + 1)

    def of(name: str) -> Any:
        return np.array([iterate[name] for iterate in iterates])

    rows = (("normalized_error", "position error / way"), ("orientation_error", "orientation error [rad]"),
            ("stiffness_greatest", "greatest k, scaled"), ("stiffness_average", "average k, scaled"),
            ("penalty", "ω"))  # fmt: skip
    for name, label in rows:
        axis.semilogy(number, np.maximum(of(name), _LEAST), marker=".", label=label)
    accepted = of("accepted").astype(bool)
    axis.semilogy(number[accepted], np.maximum(of("penalty"), _LEAST)[accepted], "o", mfc="none", color="black")
    axis.set_xticks(number)
    axis.legend(fontsize=7)
    _finish(axis, "iterate with virtual forces; circle: accepted", "")


def _legend_beside(axis: Axes) -> None:
    """Right of the axes: many lines leave no room in them."""
    axis.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _finish(axis: Axes, x: str, y: str) -> None:
    axis.set_xlabel(x, fontsize=8)
    axis.set_ylabel(y, fontsize=8)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.3)


def draw_film(frames: Frames, times: Sequence[float], picture: Path | str, *, columns: int = 4) -> Path:
    """A film strip as a PNG.

    Args:
        frames: pictures of one size, (height, width, 3), red green blue.
        times: [s] of each.

    Raises:
        DefinitionError: there are no frames, or not as many times.
    """
    _check(frames, times)
    height, width, _ = frames[0].shape
    rows = -(-len(frames) // columns)
    figure = Figure(figsize=(3.2 * columns, 3.2 * rows * height / width), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axis in axes:
        axis.set_axis_off()
    for axis, frame, time in zip(axes, frames, times, strict=False):
        axis.imshow(frame)
        axis.text(0.02, 0.97, f"{time:.2f} s", transform=axis.transAxes, va="top", fontsize=9)
    path = Path(picture)
    figure.savefig(path, dpi=100)
    return path


def write_gif(frames: Frames, times: Sequence[float], file: Path | str) -> Path:
    """An animation in real time that repeats. Arguments and errors as of `draw_film`; at least two frames."""
    _check(frames, times)
    if len(frames) < 2:
        raise DefinitionError(f"animation {file}", expected="at least two frames", got="one")
    images = [Image.fromarray(np.asarray(frame)) for frame in frames]
    # GIF counts in 10 ms. The last frame stays for a second.
    waits = [max(20, round(100.0 * wait) * 10) for wait in np.diff(np.asarray(times))] + [1000]
    path = Path(file)
    images[0].save(path, format="GIF", save_all=True, append_images=images[1:], duration=waits, loop=0, optimize=True)
    return path


def _check(frames: Frames, times: Sequence[float]) -> None:
    if not len(frames) or len(frames) != len(times):
        got = f"{len(frames)} frames, {len(times)} times"
        raise DefinitionError("film", expected="at least one frame, and as many times", got=got)
