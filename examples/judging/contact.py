"""The results of examples/08_contact_admittance.py, in ticks and newtons."""

import math
from pathlib import Path

import yaml

from robot_rt_control.client import Session
from robot_rt_control.client.recording import Recording

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "contact.yaml"
CONTACT = 5.0  # [N] from which on it counts as contact
FORCE = 10.0  # [N] to press with


def judge(session: Session) -> dict[str, float]:
    """Print and return the results, from the events of the session."""
    touched, found, settled, end = (session.wait_for(name, 1) for name in ("touched", "found", "settled", "at_the_end"))
    (started,) = (e for e in session.events if e.kind == "action_started" and e.current_action == "settle")
    done = {
        "ticks_to_threshold": found.tick - touched.tick,
        "ticks_to_switch": started.tick - found.tick,
        "force_at_switch": found.values["approach.pressing"],
        "ticks_to_settle": settled.tick - found.tick,
        "peak": settled.values["settle.peak"],
        "rms": end.values["wipe.rms"],
        "largest": end.values["wipe.largest"],
    }
    if done["ticks_to_threshold"] < 0:
        print("a jolt of the arm counted as contact before it touched: does this machine keep time?")
    print(
        f"from the touch until {CONTACT:g} N are felt: {done['ticks_to_threshold']} ticks; "
        f"from there to the soft action: {done['ticks_to_switch']} ticks\n"
        f"peak force {done['peak']:.2f} N; settled at {FORCE:g} N after {done['ticks_to_settle']} ticks\n"
        f"while wiping: {done['rms']:.3f} N RMS from {FORCE:g} N, {done['largest']:.2f} N at most"
    )
    return done


def period() -> float:
    """[s] Period of a tick."""
    return float(yaml.safe_load(WORKCELL.read_text())["period"])


def mat() -> tuple[float, float]:
    """Height above y = 0 [m] and slope of the mat's top, from the workcell file."""
    objects = yaml.safe_load(WORKCELL.read_text())["devices"]["sim"]["world"]["objects"]
    (thing,) = (thing for thing in objects if thing["name"] == "mat")
    tilt = 2.0 * math.atan2(thing["pose"]["orientation"][0], thing["pose"]["orientation"][3])
    return thing["pose"]["position"][2] + 0.5 * thing["box"]["size"][2] / math.cos(tilt), math.tan(tilt)


def plot(recording: Recording, weight: float, switch_tick: int, file: Path) -> None:
    """Plot the force at the contact and over the whole run, and the ball's depth in the mat."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    time = recording.time - switch_tick * period()
    force = weight - recording["wrist.force.z"]
    height, slope = mat()
    above = recording["arm.tool.z"] - (height + slope * recording["arm.tool.y"])
    figure, axes = plt.subplot_mosaic(
        [["contact", "all"], ["depth", "way"]], figsize=(11, 6.5), width_ratios=[2, 3], constrained_layout=True
    )
    close, whole = (time > -0.06) & (time < 0.3), time > -1.0
    for name, part in (("contact", close), ("all", whole)):
        axes[name].axhline(FORCE, color="k", ls="--", lw=0.8, label=f"wanted: {FORCE:g} N")
        axes[name].axhline(CONTACT, color="tab:blue", ls=":", lw=1.2, label=f"counts as contact: {CONTACT:g} N")
        axes[name].plot(time[part], force[part], color="#c0392b", lw=1, label="measured")
        axes[name].set(ylim=(-2, 14), ylabel="pressing force [N]", xlabel="time since the switch [s]")
    axes["contact"].legend(loc="lower right", frameon=False)
    axes["depth"].plot(time[close], above[close] * 1e3, color="#c0392b", lw=1)
    axes["depth"].axhline(0.0, color="#3f734d", lw=1.5)
    axes["depth"].set(xlabel="time since the switch [s]", ylabel="ball above the mat [mm]")
    y = recording["arm.tool.y"]
    axes["way"].plot(y * 1e3, (height + slope * y) * 1e3, color="#3f734d", lw=3, label="mat, as it lies")
    axes["way"].plot(y * 1e3, recording["arm.tool.z"] * 1e3, color="#c0392b", lw=1, label="lowest point of the ball")
    low, high = 1e3 * (height + slope * y.min()), 1e3 * (height + slope * y.max())
    axes["way"].set(xlabel="world y [mm]", ylabel="height [mm]", ylim=(low - 4, high + 8))
    axes["way"].legend(loc="upper center", frameon=False)
    for each in axes.values():
        each.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Contact found by force, then a soft arm")
    figure.savefig(file, dpi=110)
    plt.close(figure)
