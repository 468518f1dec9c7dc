"""The results of examples/07_kept_distance.py, over the true surface of the plate."""

from pathlib import Path

import numpy as np
import yaml

from robot_rt_control.client.recording import Recording

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "surface.yaml"


def surface() -> np.ndarray:
    """(n, 2): y in the world and height of the plate's corners [m], from the workcell file."""
    objects = yaml.safe_load(WORKCELL.read_text())["devices"]["sim"]["world"]["objects"]
    (plate,) = (thing for thing in objects if thing["name"] == "plate")
    return np.array(plate["profile"]["points"])  # the plate is turned: its x is the world's y


def judge(recording: Recording, distance: float) -> dict[str, float]:
    """Print and return the results over the true surface: [m], [m/s], and shares of the limits.

    Args:
        distance: to keep [m].
    """
    on_the_way = recording["keep.travelled"] > 0.0  # false while it is unknown: `keep` is not active
    y, z = recording["arm.tool.y"][on_the_way], recording["arm.tool.z"][on_the_way]
    deviation = z - np.interp(y, *surface().T) - distance
    measured = recording["rangefinder.distance"][on_the_way] - distance
    limits = yaml.safe_load(WORKCELL.read_text())["parts"]["arm"]["limits"]["velocity"]
    used = [np.abs(recording[f"arm.velocity[{j}]"]).max() / limit for j, limit in enumerate(limits)]
    done = {
        "rms": float(np.sqrt(np.mean(deviation**2))),
        "largest": float(np.abs(deviation).max()),
        "length": float(y[-1] - y[0]),
        "speed": float((y[-1] - y[0]) / np.ptp(recording.time[on_the_way])),
        "lowest": float((z - np.interp(y, *surface().T)).min()),
        "joint_speed": float(max(used)),
        "measured_rms": float(np.sqrt(np.mean(measured**2))),
        "measured_largest": float(np.abs(measured).max()),
    }
    mm = {name: value * 1e3 for name, value in done.items()}
    print(f"{mm['length']:.0f} mm along the plate at {mm['speed']:.1f} mm/s, to be kept: {distance * 1e3:g} mm")
    print(f"true deviation:     {mm['rms']:.3f} mm RMS, {mm['largest']:.3f} mm at most")
    print(f"measured deviation: {mm['measured_rms']:.3f} mm RMS, {mm['measured_largest']:.3f} mm, with its noise")
    print(f"never nearer than {mm['lowest']:.2f} mm; the fastest joint at {done['joint_speed']:.0%} of its speed limit")
    return done


def plot(recording: Recording, distance: float, file: Path) -> None:
    """Plot the surface with the tool above it, and the deviation from the wanted distance."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    mm = 1e3
    corners = surface()
    y, z = recording["arm.tool.y"], recording["arm.tool.z"]
    on_the_way = recording["keep.travelled"] > 0.0
    deviation = z - np.interp(y, *corners.T) - distance
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(10, 6), sharex=True, height_ratios=[3, 2], constrained_layout=True
    )
    above.fill_between(corners[:, 0] * mm, corners[:, 1] * mm, 80, color="#c9b18f", label="plate")
    wanted = f"wanted: {distance * mm:g} mm above"
    above.plot(corners[:, 0] * mm, (corners[:, 1] + distance) * mm, "k--", lw=1, label=wanted)
    above.plot(y * mm, z * mm, color="#c0392b", lw=1.5, label="tool")
    above.set(ylabel="height [mm]", ylim=(80, 150), title="A distance kept over an uneven plate")
    above.legend(loc="upper center", frameon=False)
    below.plot(y[on_the_way] * mm, deviation[on_the_way] * mm, color="#c0392b", lw=1)
    below.axhline(0.0, color="k", lw=0.8)
    below.set(xlabel="way along the plate, world y [mm]", ylabel="true − wanted\ndistance [mm]", xlim=(-260, 300))
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
