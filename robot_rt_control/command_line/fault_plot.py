"""A log of the last ticks as a picture: `robot-rt plot FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from robot_rt_control.recording.fault_log import FaultLog
from robot_rt_control.vocabulary.errors import RobotControlError, unknown

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  # after the choice of the backend

_ROWS = (("position", "commanded_position"), ("velocity", "commanded_velocity"), ("effort", "commanded_effort"))


def plot_fault_log(log: FaultLog, picture: Path | str, *, part: str = "") -> Path:
    """Draw positions, velocities and efforts of a part over time, measured and commanded, as a PNG.

    Args:
        part: its name; empty: the part of the log, else the first one with joints.

    Raises:
        RobotControlError: there is no such part, or it has no joints.
    """
    jointed = [p["name"] for p in log.about["parts"] if p["joints"]]
    name = part or (log.about["part"] if log.about["part"] in jointed else next(iter(jointed), ""))
    if name not in jointed:
        raise RobotControlError(f"fault log {log.path}: part {name!r}", expected=unknown("part", name, jointed))
    described = log.part(name)
    figure, axes = plt.subplots(len(_ROWS), 1, sharex=True, figsize=(9, 9), layout="constrained")
    for axis, (measured, commanded) in zip(axes, _ROWS, strict=True):
        _draw(axis, log, name, described, measured, commanded)
    axes[0].set_title(log.title(), fontsize=9, wrap=True)
    axes[0].legend(fontsize=7, ncols=4)
    axes[-1].set_xlabel("time from that tick [s]; dashed: commanded")
    path = Path(picture)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


def _draw(axis: Any, log: FaultLog, name: str, described: Any, measured: str, commanded: str) -> None:
    seconds = log.seconds
    for j, joint in enumerate(described["joints"]):
        (line,) = axis.plot(seconds, log[f"{name}.{measured}"][:, j], lw=1.0, label=joint)
        axis.plot(seconds, log[f"{name}.{commanded}"][:, j], lw=0.8, ls="--", color=line.get_color())
    units = {"position": "", "velocity": "/s"}
    unit = ", ".join(dict.fromkeys(described["units"]))
    axis.set_ylabel(f"{measured} [{unit}{units[measured]}]" if measured in units else f"{measured} [Nm, N]")
    faulted = np.flatnonzero(np.diff(log[f"{name}.fault"]))
    for i in faulted:
        axis.axvline(seconds[i + 1], color="tab:red", lw=1.0)
    axis.axvline(0.0, color="black", lw=0.5)
    axis.grid(alpha=0.3)
