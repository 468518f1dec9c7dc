"""Plot state variables or joint positions over a time, or the log of the last ticks before a fault.

NAME is a state variable (arm.tool.z), a vector of them (arm.velocity), or a part: its joint positions. They are read
as often as the connection allows. Or give a single fault log: the event part_faulted has its path.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown

if TYPE_CHECKING:
    from robot_rt_control.client import Recording

LOG_SUFFIX = ".mcap"
_WINDOW_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    add = parser.add_argument
    add("names", nargs="+", metavar="NAME", help="state variable, vector, part; or a fault log (.mcap)")
    add("--seconds", type=float, default=5.0, metavar="S", help="how long, in the workcell's time (%(default)s)")
    add("--period", type=float, default=0.02, metavar="S", help="between two samples (default: %(default)s)")
    add("-o", "--output", type=Path, metavar="FILE", help="picture to write (default: plot.png, or beside the log)")
    add("--window", action="store_true", help="show it live in a window")
    add("--part", default="", help="of a fault log: the part to draw (default: the part of the log)")
    add("--csv", type=Path, metavar="FILE", help="also write the numbers as text")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.drawing.pictures import require_pictures

    require_pictures()
    output = Output(as_json=arguments.json)
    if arguments.names[0].endswith(LOG_SUFFIX):
        _fault_log(arguments, output)
        return 0
    picture = arguments.output or Path("plot.png")
    with connect(arguments) as client:
        variables = _variables(client, arguments.names)
        units = {v.name: v.unit for v in variables}
        with client.watch(name="plot") as session, session.record(*units, period_s=arguments.period) as recording:
            if arguments.window:
                _watch(client, recording, units, arguments.seconds)
            else:
                client.sleep(arguments.seconds)
    save(recording, units, picture)
    if arguments.csv:
        rows = zip(recording.time, *(recording[name] for name in recording.names), strict=True)
        lines = (",".join(f"{value:.9g}" for value in row) for row in rows)
        arguments.csv.write_text("\n".join((",".join(("time", *recording.names)), *lines, "")))
    data = {name: recording[name] for name in recording.names}
    output.result(
        {"picture": picture, "time": recording.time, "values": data}, f"{picture}: {len(recording)} samples"
    )
    return 0


def _fault_log(arguments: argparse.Namespace, output: Any) -> None:
    from robot_rt_control.command_line.fault_plot import plot_fault_log
    from robot_rt_control.recording.fault_log import load_fault_log

    log = load_fault_log(arguments.names[0])
    picture = plot_fault_log(log, arguments.output or log.path.with_suffix(".png"), part=arguments.part)
    shown = [log.text(), f"picture: {picture}"]
    if arguments.csv:
        shown.append(f"table: {log.write_csv(arguments.csv)}")
    output.result({"picture": picture, "text": log.text()}, *shown)


def _variables(client: Any, names: list[str]) -> list[Any]:
    """The state variables that the names mean.

    Raises:
        DefinitionError: a name means none.
    """
    every = client.state_variables()
    parts = {part.name for part in client.parts()}
    found: dict[str, Any] = {}
    for name in names:
        wanted = f"{name}.position" if name in parts else name
        fitting = [v for v in every if v.name == wanted or v.name.startswith(f"{wanted}[")]
        if not fitting:
            known = {v.name.partition("[")[0] for v in every}
            raise DefinitionError(f"state variable {wanted!r}", expected=unknown("state variable", wanted, known))
        found |= {v.name: v for v in fitting}
    return list(found.values())


def _drawn(figure: Any, recording: Recording, units: dict[str, str]) -> None:
    """Draw all variables, those of one unit together."""
    by_unit: dict[str, list[str]] = {}
    for name, unit in units.items():
        by_unit.setdefault(unit, []).append(name)
    figure.clear()
    axes = figure.subplots(len(by_unit), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, names) in zip(axes, by_unit.items(), strict=True):
        for name in names:
            axis.plot(recording.time, recording[name], lw=1.0, label=name)
        axis.set_ylabel(f"[{unit}]" if unit else "")
        axis.legend(fontsize=7, ncols=4)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time since the loop's first tick [s]")


def save(recording: Recording, units: dict[str, str], picture: Path) -> None:
    """Write the picture; its suffix names the format.

    Raises:
        RobotControlError: it cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    _drawn(figure, recording, units)
    try:
        figure.savefig(picture, dpi=120)
    except (OSError, ValueError) as error:
        expected = "a file to write, .png or .svg"
        raise RobotControlError(f"picture {picture}", expected=expected, got=str(error)) from None


def _watch(client: Any, recording: Recording, units: dict[str, str], seconds: float) -> None:
    """Show the recording in a window until its end, or until the window is closed."""
    import matplotlib
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9, 6), layout="constrained")
    if matplotlib.get_backend().lower() == "agg":
        raise RobotControlError("window", expected="a display", got="none", hint="Without --window, a file is written")
    end = client.backend.now() + seconds
    while client.backend.now() < end and plt.fignum_exists(figure.number):
        _drawn(figure, recording, units)
        plt.pause(_WINDOW_S)
