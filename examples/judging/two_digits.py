"""The results of examples/11_two_digit_grasp.py: what governed when, in newtons and millimetres."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from judging.bands import draw_bands, explain_bands, period, phases

from robot_rt_control.client import Event
from robot_rt_control.client.recording import Recording

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "two_digits.yaml"
DIGITS = {"x": "digits.first", "z": "digits.second"}
TOOL = ("arm.tool.x", "arm.tool.y", "arm.tool.z", "arm.tool.velocity.x", "arm.tool.velocity.z")
BENDS = ("digits.first_bend", "digits.second_bend")
RECORDED = ("grasp.x.strategy", "grasp.z.strategy", *DIGITS.values(), *BENDS, *TOOL)
COLORS = {"stop": "#f5b7b1", "velocity": "#d6eaf8", "soft": "#fcf3cf"}
MM = 1e3


def sideways(recording: Recording, part: slice) -> float:
    """[m] How far the tool leaves a vertical line."""
    return float(max(np.ptp(recording[f"arm.tool.{axis}"][part]) for axis in "xy"))


def states(recording: Recording, events: Sequence[Event]) -> dict[str, slice]:
    """The samples of each state of the arm."""
    starts = [(e.tick * period(WORKCELL), e.current_action) for e in events if e.kind == "action_started"]
    ends = [*(time for time, _ in starts[1:]), np.inf]
    cuts = np.searchsorted(recording.time, [*(time for time, _ in starts), ends[-1]])
    return {name: slice(int(a), int(b)) for (_, name), (a, b) in zip(starts, pairwise(cuts), strict=True)}


def judge(recording: Recording, events: Sequence[Event], force: float) -> dict[str, float]:
    """Print and return the results: [N], and [m] away from a vertical line.

    Args:
        force: with which a digit holds [N].
    """
    done: dict[str, float] = {}
    for axis, digit in DIGITS.items():
        for name, part in phases(recording, f"grasp.{axis}", list(COLORS)):
            seconds = float(np.ptp(recording.time[part])) + period(WORKCELL)
            done[f"{axis}_{name}"] = done.get(f"{axis}_{name}", 0.0) + seconds
            print(f"{axis}: {name:8} for {seconds:.3f} s")
        done[f"{axis}_peak"] = float(np.nanmax(recording[digit]))
    grasp, lift = (states(recording, events)[name] for name in ("grasp", "lift"))
    first = next(part for name, part in phases(recording, "grasp.x", list(COLORS)) if name == "stop")
    done["up_to_contact"] = sideways(recording, slice(first.start, grasp.stop))
    done["up_with_block"] = sideways(recording, lift)
    held = next(e for e in events if e.name == "held")
    done["first"], done["second"] = (held.values[digit] for digit in DIGITS.values())
    print(
        f"both hold: {done['first']:.2f} N and {done['second']:.2f} N, {force:g} N wanted; "
        f"in the whole run {done['x_peak']:.2f} N and {done['z_peak']:.2f} N at most\n"
        f"straight up: {done['up_to_contact'] * MM:.2f} mm sideways on the way to the second contact, "
        f"{done['up_with_block'] * MM:.2f} mm with the block"
    )
    return done


def plot(recording: Recording, events: Sequence[Event], force: float, file: Path) -> None:
    """Plot the hand's path, speed and force along each axis over bands of the governing strategy, and the whole run."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ink, red = "#1b2631", "#b03a2e"
    parts = states(recording, events)
    grasp = parts["grasp"]
    time = recording.time - recording.time[grasp.start]
    x, z = (recording[f"arm.tool.{axis}"] * MM for axis in "xz")
    figure, axes = plt.subplot_mosaic(
        [["path", "vx", "vz"], ["path", "fx", "fz"], ["run", "run", "run"]],
        figsize=(12, 8.5),
        height_ratios=[2, 3, 2],
        constrained_layout=True,
    )
    path = axes["path"]
    path.plot(x[grasp], z[grasp], color=ink, lw=1.5)
    for axis, digit, shift in (("x", "first", 8), ("z", "second", -8)):
        given = phases(recording, f"grasp.{axis}", list(COLORS))
        speed, push = axes[f"v{axis}"], axes[f"f{axis}"]
        draw_bands((speed, push), time, given, COLORS)
        speed.plot(time[grasp], recording[f"arm.tool.velocity.{axis}"][grasp] * MM, color=ink, lw=1)
        push.plot(time[grasp], recording[DIGITS[axis]][grasp], color=ink, lw=1, label="force [N]")
        bend = recording[f"digits.{digit}_bend"][grasp] * MM
        push.plot(time[grasp], bend, color=red, lw=1, label="bend [mm]")
        push.axhline(force, color="k", ls="--", lw=0.8)
        speed.set(title=f"along {axis}: {digit} digit", xlim=(0, time[grasp.stop - 1]), ylim=(-5, 60))
        push.set(xlabel="time since the start [s]", xlim=(0, time[grasp.stop - 1]), ylim=(-0.5, 11))
        for name, part in given[1:]:
            i = part.start
            path.plot(x[i], z[i], "o", color=red, ms=4)
            text, where = f"{digit} digit: {name}", "left" if shift > 0 else "right"
            path.annotate(text, (x[i], z[i]), (shift, -4), textcoords="offset points", ha=where)
    limits = (x[grasp].min() - 5.0, x[grasp].max() + 25.0)
    path.set(title="path of the hand", xlabel="x, ahead [mm]", ylabel="z, up [mm]", aspect="equal", xlim=limits)
    axes["vx"].set(ylabel="velocity [mm/s]")
    axes["fz"].legend(loc="upper left", frameon=False)
    run = axes["run"]
    for digit, color in (("first", ink), ("second", "#2874a6")):
        run.plot(time, recording[f"digits.{digit}"], color=color, lw=1, label=f"{digit} digit")
    for name, part in parts.items():
        if part.start < 0.98 * len(time):
            run.axvline(time[part.start], color="0.7", lw=0.8)
            run.text(time[part.start], 10.2, f" {name}", va="bottom", fontsize=9)
    run.axhline(force, color="k", ls="--", lw=0.8)
    run.set(xlabel="time since the start [s]", ylabel="force [N]", xlim=(0, time[-1]), ylim=(-0.3, 10))
    run.legend(loc="upper left", frameon=False)
    for each in (path, run):
        each.spines[["top", "right"]].set_visible(False)
    explain_bands(figure, COLORS)
    figure.suptitle("A grasp with two sprung digits in one state: what governs each axis")
    figure.savefig(file, dpi=110)
    plt.close(figure)
