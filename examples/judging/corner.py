"""The results of examples/10_corner.py: what governed when, in ticks and newtons."""

from pathlib import Path

import numpy as np
from judging.bands import draw_bands, explain_bands, period, phases

from robot_rt_control.client.recording import Recording

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "bench.yaml"
AXES = ("corner.x.strategy", "corner.y.strategy", "arm.tool.velocity.x", "arm.tool.velocity.y")
COLORS = {"force": "#f5b7b1", "velocity": "#d6eaf8", "distance": "#d5f5e3"}


def judge(recording: Recording, force: float) -> dict[str, float]:
    """Print and return the results: seconds until the corner, and the force along a wall and in the corner."""
    done: dict[str, float] = {}
    for axis in "xy":
        for name, part in phases(recording, f"corner.{axis}", list(COLORS)):
            seconds = float(np.ptp(recording.time[part])) + period(WORKCELL)
            done[f"{axis}_{name}"] = done.get(f"{axis}_{name}", 0.0) + seconds
            print(f"{axis}: {name:8} for {seconds:.3f} s")
            if name == "force" and seconds > 0.5:
                settled = recording.time[part] > recording.time[part][0] + 0.3
                push = recording[f"watch.push_{axis}"][part][settled]
                done |= {"lowest": float(push.min()), "highest": float(push.max())}
                print(f"   {push.min():.2f} to {push.max():.2f} N, {force:g} wanted")
    pressed = recording["press.elapsed"]
    for axis in "xy":
        push = recording[f"watch.push_{axis}"][pressed > 0.5]  # before, the second axis settles
        done |= {f"{axis}_least": float(push.min()), f"{axis}_most": float(push.max())}
        print(f"{axis}: {push.min():.2f} to {push.max():.2f} N in the corner, for {np.nanmax(pressed):.1f} s")
    done["peak"] = float(np.nanmax([recording["watch.push_x"], recording["watch.push_y"]]))
    done["seconds"] = float(np.nanmax(recording["corner.elapsed"]))
    print(f"in the corner after {done['seconds']:.2f} s; largest push along an axis {done['peak']:.2f} N")
    return done


def plot(recording: Recording, force: float, file: Path) -> None:
    """Plot speed and push of each axis, over bands of the governing strategy."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    time = recording.time - recording.time[phases(recording, "corner.x", list(COLORS))[0][1].start]
    pressed = recording["press.elapsed"]
    end = time[np.flatnonzero(pressed > 0.0)[0]] + 1.0 if (pressed > 0.0).any() else time[-1]
    figure, axes = plt.subplots(2, 2, figsize=(11, 6), sharex=True, sharey="row", constrained_layout=True)
    for column, axis in enumerate("xy"):
        speed, push = axes[:, column]
        draw_bands((speed, push), time, phases(recording, f"corner.{axis}", list(COLORS)), COLORS)
        speed.plot(time, recording[f"arm.tool.velocity.{axis}"], color="#1b2631", lw=1)
        push.plot(time, recording[f"watch.push_{axis}"], color="#1b2631", lw=1)
        push.axhline(force, color="k", ls="--", lw=0.8)
        speed.set(title=f"along {axis}", xlim=(-0.1, end))
        push.set(xlabel="time since the start [s]")
    axes[0, 0].set(ylabel="measured velocity [m/s]")
    axes[1, 0].set(ylabel="push [N]")
    explain_bands(figure, COLORS)
    figure.suptitle("Into a corner in one state: what governs each axis; then one second of pressing")
    figure.savefig(file, dpi=110)
    plt.close(figure)
