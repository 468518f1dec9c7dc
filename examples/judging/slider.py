"""Numbers and a plot for 15_slider.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_rt_control.client.recording import Recording
from robot_rt_control.planning import Plan

FORCE, SLIDER = "pusher.commanded_effort[0]", "camera.x"


def judge(push: Plan, recording: Recording, begin: float) -> dict[str, float]:
    """Forces [N], and the slider's distance from its target when the horizon ends [m]."""
    time, planned, end = recording.time - begin, float(push.inputs[0, 0]), push.header["time"]
    force = recording[FORCE][(time > 0.0) & (time <= end)]
    return {
        "planned": planned,
        "mean": float(force.mean()),
        "feedback": float(np.sqrt(np.mean((force - planned) ** 2))),
        "left": push.target.position[0] - float(np.interp(end, time, recording[SLIDER])),
    }


def plot(push: Plan, recording: Recording, begin: float, file: Path) -> None:
    """Planned and commanded force, and the slider's way."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    time, end = recording.time - begin, push.header["time"]
    figure, (forces, way) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    forces.plot(time, recording[FORCE], label="commanded")
    forces.hlines(push.inputs[0, 0], 0.0, end, "k", "dashed", label="planned")
    forces.set(ylabel="force [N]", xlim=(-0.1, 1.2 * end))
    forces.legend()
    way.plot(time, recording[SLIDER], label="slider")
    way.plot(end, push.target.position[0], "k+", markersize=12, label="target")
    way.set(xlabel="time [s]", ylabel="position [m]")
    way.legend()
    figure.savefig(file)
    plt.close(figure)
