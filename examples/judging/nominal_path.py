"""The results of examples/12_nominal_path.py: the force while it slides, and what was corrected."""

import math
from pathlib import Path

import numpy as np
from judging.contact import WORKCELL, mat

from robot_rt_control.client.recording import Recording

RECORDED = (
    *("slide.way", "slide.offset_x", "slide.offset_y", "slide.offset_z", "slide.s.strategy"),
    *("watch.push_x", "watch.push_y", "watch.push_z", "arm.tool.x", "arm.tool.y", "arm.tool.z"),
)
__all__ = ["RECORDED", "WORKCELL", "drawn_height", "judge", "plot"]
_DRAWN_SLOPE = math.tan(math.radians(3.5))
_DRAWN_TOO_HIGH = 0.0015
"""[m] where the path begins."""
_SETTLING = 0.01
"""[m] of the way."""


def drawn_height(y: np.ndarray) -> np.ndarray:
    """[m] Height of the mat at these y, according to the drawing."""
    height, slope = mat()
    return height - 0.15 * slope + _DRAWN_TOO_HIGH + _DRAWN_SLOPE * (y + 0.15)


def sliding(recording: Recording) -> slice:
    """The samples in which the tool slides, after the force has settled."""
    (there,) = np.nonzero(recording["slide.way"] > _SETTLING)
    return slice(int(there[0]), int(there[-1]) + 1)


def judge(recording: Recording, path: np.ndarray, force: float) -> dict[str, float]:
    """Print and return the results: [N], [m], [m/s].

    Args:
        path: (n, 3) the drawn points [m].
        force: to press with [N].
    """
    part = sliding(recording)
    pressed = -recording["watch.push_z"][part]
    beside = np.hypot(recording["slide.offset_x"], recording["slide.offset_y"])[part]
    corrected = recording["slide.offset_z"][part]
    moved = np.diff(recording["slide.way"][part]) / np.diff(recording.time[part])
    done = {
        "lowest": float(pressed.min()),
        "highest": float(pressed.max()),
        "rms": float(np.sqrt(np.mean((pressed - force) ** 2))),
        "peak": float(np.nanmax(-recording["watch.push_z"])),
        "beside": float(beside.max()),
        "first_correction": float(corrected[0]),
        "last_correction": float(corrected[-1]),
        "speed": float(np.median(moved)),
        "length": float(np.nanmax(recording["slide.way"])),
    }
    print(
        f"{1e3 * done['length']:.0f} mm along the path at {1e3 * done['speed']:.1f} mm/s, "
        f"at most {1e3 * done['beside']:.2f} mm beside it\n"
        f"pressed with {done['lowest']:.2f} to {done['highest']:.2f} N, {force:g} wanted; "
        f"{done['rms']:.3f} N RMS from it; peak {done['peak']:.2f} N\n"
        f"corrected by {1e3 * done['first_correction']:.2f} mm at first, {1e3 * done['last_correction']:.2f} mm at last"
    )
    return done


def plot(recording: Recording, path: np.ndarray, force: float, file: Path) -> None:
    """Plot the path from above, the force, and the correction over the way."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    mm = 1e3
    way = recording["slide.way"]
    figure, axes = plt.subplot_mosaic(
        [["path", "force"], ["path", "correction"]], figsize=(11, 6), width_ratios=[2, 3], constrained_layout=True
    )
    axes["path"].plot(path[:, 0] * mm, path[:, 1] * mm, "k+", ms=7)
    there = np.isfinite(way)
    x, y = recording["arm.tool.x"], recording["arm.tool.y"]
    axes["path"].plot(x[there] * mm, y[there] * mm, color="#c0392b", lw=1)
    axes["path"].set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal", title="the tool, and the drawing (+)")
    axes["force"].axhspan(0.95 * force, 1.05 * force, color="#d5f5e3", label=f"{force:g} N ± 5 %")
    axes["force"].plot(way * mm, -recording["watch.push_z"], color="#c0392b", lw=1)
    axes["force"].set(ylabel="pressing force [N]", ylim=(0, 1.6 * force))
    axes["force"].legend(loc="upper right", frameon=False)
    axes["correction"].plot(way * mm, recording["slide.offset_z"] * mm, color="#1b2631", lw=1)
    axes["correction"].set(xlabel="way along the path [mm]", ylabel="correction along z [mm]")
    for each in axes.values():
        each.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
