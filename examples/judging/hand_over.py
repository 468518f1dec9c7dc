"""The results of examples/13_hand_over.py: ticks of both arms, forces of the fingers, and where the bar is."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from judging.bands import period

from robot_rt_control.client import Event
from robot_rt_control.client.recording import Recording

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "two_arms.yaml"
AT_REST = {
    f"{arm}_{what}": f"norm({arm}.commanded_velocity) {sign} 1e-9"
    for arm in ("arm_a", "arm_b")
    for what, sign in (("moves", ">"), ("arrives", "<="))
}
"""Event → when it happens: an arm is commanded to move, or no longer."""
FORCES = ("fingers.a_left", "fingers.a_right", "fingers.b_left", "fingers.b_right")
TOOLS = tuple(f"{arm}.tool.{axis}" for arm in ("arm_a", "arm_b") for axis in "xz")
PLACE = ("end.distance", "top.distance")
RECORDED = (*FORCES, *TOOLS, *PLACE)
NOMINAL = {"end.distance": 0.08, "top.distance": 0.055}
"""[m] with the bar's middle 0.07 m from the hand, and the tool in the middle of its height."""
GROUPS = ("reach", "pick", "meet", "take", "give", "retreat")
MM = 1e3


def offset_in_hand(recording: Recording) -> np.ndarray:
    """(2,) [m] The bar at last, from where it should be in B's hand, in its frame: x along the bar, z down.

    Nothing measures y. The fingers are always equally far open, and so hold the bar in the middle.
    """
    return np.array([float(recording[name][-1]) - NOMINAL[name] for name in PLACE])


def spread(events: Sequence[Event], group: str, what: str, following: str) -> tuple[int, int]:
    """The tick in which the first arm "moves" at first, or "arrives" at last, before the start of another group; and by
    how many ticks the other arm differs."""
    begun = {e.current_action: e.tick for e in events if e.kind == "action_started"}
    begin, end = begun[group], begun.get(following, events[-1].tick + 1)
    chosen = min if what == "moves" else max
    ticks = [
        chosen(e.tick for e in events if e.name == f"{arm}_{what}" and begin <= e.tick < end)
        for arm in ("arm_a", "arm_b")
    ]
    return min(ticks), max(ticks) - min(ticks)


def judge(recording: Recording, events: Sequence[Event]) -> dict[str, float]:
    """Print and return the results: ticks, [N] and [m]."""
    done: dict[str, float] = {}
    for group, following in (("meet", "give"), ("retreat", "")):
        for what, word in (("moves", "begin"), ("arrives", "arrive")):
            tick, difference = spread(events, group, what, following)
            done |= {f"{group}_{what}": tick, f"{group}_{what}_difference": difference}
            print(f"{group}: both arms {word} in tick {tick}; difference {difference} ticks")
    for force in FORCES:
        done[force] = float(np.nanmax(recording[force]))
    done["held"] = min(float(recording[force][-1]) for force in FORCES[2:])
    offset = offset_in_hand(recording)
    done |= dict(zip("xz", offset.tolist(), strict=True)) | {"offset": float(np.linalg.norm(offset))}
    print(
        f"the bar in B's hand: {offset[0] * MM:+.2f} mm along it, {offset[1] * MM:+.2f} mm down "
        f"from where it should be\n"
        f"fingers: at most {max(done[force] for force in FORCES):.1f} N; B holds with {done['held']:.1f} N at the end"
    )
    return done


def plot(recording: Recording, events: Sequence[Event], file: Path) -> None:
    """Plot both hands' ways, from the side and over time, and the forces of the fingers, with the groups' starts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colors = {"a": "#2874a6", "b": "#b03a2e"}
    time = recording.time - recording.time[0]
    starts = [(e.tick * period(WORKCELL) - recording.time[0], e) for e in events if e.kind == "action_started"]
    figure, axes = plt.subplot_mosaic(
        [["path", "height"], ["path", "force"]], figsize=(12, 6.5), width_ratios=[2, 3], constrained_layout=True
    )
    for hand, color in colors.items():
        x, z = (recording[f"arm_{hand}.tool.{axis}"] * MM for axis in "xz")
        axes["path"].plot(x, z, color=color, lw=1.5, label=f"hand {hand.upper()}")
        axes["path"].plot(x[:1], z[:1], "o", color=color, ms=5)
        axes["height"].plot(time, z, color=color, lw=1.2, label=f"hand {hand.upper()}")
        for side, style in (("left", "-"), ("right", ":")):
            label = f"{hand.upper()}, {side}"
            axes["force"].plot(time, recording[f"fingers.{hand}_{side}"], style, color=color, lw=1, label=label)
    axes["path"].set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal", title="both hands, from the side")
    axes["height"].set(ylabel="height of the hands [mm]")
    axes["force"].set(xlabel="time [s]", ylabel="force on the bar [N]")
    for name in ("height", "force"):
        for begin, event in starts:
            if event.current_action in GROUPS:
                axes[name].axvline(begin, color="0.7", lw=0.8)
                if name == "height":
                    top = axes[name].get_ylim()[1]
                    axes[name].text(begin, top, f" {event.current_action}", rotation=45, va="bottom", fontsize=9)
        axes[name].set(xlim=(0.0, time[-1]))
    for each in axes.values():
        each.spines[["top", "right"]].set_visible(False)
        each.legend(frameon=False, fontsize=8)
    figure.savefig(file, dpi=110)
    plt.close(figure)
