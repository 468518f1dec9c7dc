"""The results of examples/09_gluing.py, in ticks, metres and millimetres of glue."""

from pathlib import Path

from robot_rt_control.client import Event, Session
from robot_rt_control.client.recording import Recording

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "gluing.yaml"
NEAR = 0.8  # [m] at which a person stops the robot
PERIOD = 0.001  # [s] of a tick


def since(session: Session, tick: int, name: str) -> Event:
    """The first event of this name from a tick on."""
    return next(e for e in session.events if name in (e.name, e.current_action) and e.tick >= tick)


def judge_visit(session: Session, person: Event, rest: Event, resumed: int, done: Event) -> dict[str, float]:
    """The run in which a person came near.

    Args:
        resumed: the tick in which the motion continued.
    """
    return {
        "distance": person.values["person.distance"],
        "speed": person.values["glue.speed"],
        "ticks_to_freeze": since(session, person.tick, "freeze").tick - person.tick,
        "ticks_to_valve": since(session, person.tick, "valve_closed").tick - person.tick,
        "ticks_to_rest": rest.tick - person.tick,
        "ticks_at_rest": resumed - rest.tick,
        "travelled": abs(rest.values["arm.tool.y"] - person.values["arm.tool.y"]),
        "thickness_then": person.values["glue.thickness"],
        "thickness": done.values["glue.thickness"],
    }


def report(nobody: dict[str, float], visitor: dict[str, float], clamp: dict[str, float]) -> None:
    """Print the results."""
    print(
        f"nobody comes:   {nobody['thickness'] * 1e3:.3f} mm of glue after {nobody['glued_length'] * 1e3:.0f} mm "
        f"to and fro, {nobody['ticks']} ticks"
    )
    print(
        f"a person near:  seen at {visitor['distance']:.3f} m; frozen {visitor['ticks_to_freeze']} ticks later, valve "
        f"read as closed {visitor['ticks_to_valve']} ticks later;\n"
        f"                from {visitor['speed']:.2f} m/s to rest in {visitor['ticks_to_rest']} ticks and "
        f"{visitor['travelled'] * 1e3:.1f} mm; at rest for {visitor['ticks_at_rest']} ticks\n"
        f"                {visitor['thickness_then'] * 1e3:.3f} mm of glue then, {visitor['thickness'] * 1e3:.3f} mm "
        "in the end"
    )
    print(
        f"the clamp opens: away {clamp['ticks_to_leave']} ticks later, with {clamp['thickness'] * 1e3:.3f} mm of glue"
    )


COLORS = {"approach": "#92c5de", "glue": "#fee08b", "freeze": "#f4a582", "leave": "#d9d9d9"}


def plot(recordings: dict[str, Recording], events: list[Event], file: Path) -> None:
    """Plot each run: the person, the nozzle, the glue; the active action as coloured bands."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        3, len(recordings), figsize=(13, 7), sharex="col", sharey="row", squeeze=False, constrained_layout=True
    )
    for column, (title, recording) in zip(axes.T, recordings.items(), strict=True):
        time = recording.time - recording.time[0]
        first = round(recording.time[0] / PERIOD)
        begins = [(e.tick, e.current_action) for e in events if e.kind == "action_started" and "arm" in e.part]
        begins = [((tick - first) * PERIOD, name) for tick, name in begins]
        for (begin, name), (end, _) in zip(begins, [*begins[1:], (time[-1], "")], strict=True):
            for each in column:
                if end > 0.0 and begin < time[-1] and name in COLORS:
                    each.axvspan(max(begin, 0.0), min(end, time[-1]), color=COLORS[name], lw=0)
        person, nozzle, glue = column
        person.plot(time, recording["person.distance"], "k")
        person.axhline(NEAR, color="k", ls="--", lw=0.8)
        person.set(title=title, ylim=(0, 6))
        nozzle.plot(time, recording["arm.tool.y"] * 1e3, "k")
        glue.plot(time, recording["valve.flow"], "k", lw=0.8, label="flow [ml/s]")
        glue.plot(time, recording["glue.thickness"] * 1e3, color="#b2182b", lw=2, label="thickness [mm]")
        glue.set(xlabel="time [s]", xlim=(0, time[-1]))
    for each, label in zip(axes[:, 0], ("person [m]", "nozzle, world y [mm]", "glue"), strict=True):
        each.set(ylabel=label)
    axes[2, 0].legend(loc="upper left", frameon=False)
    bands = [plt.Rectangle((0, 0), 1, 1, color=color) for color in COLORS.values()]
    figure.legend(bands, COLORS, loc="outside lower center", ncol=len(COLORS), frameon=False)
    figure.savefig(file, dpi=100)
    plt.close(figure)
