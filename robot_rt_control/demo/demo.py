"""The demonstration: a simulated arm reacts to a rangefinder inside the tick.

    ./run demo

Brings the workcell up in simulated time (executor and control server, each a process and a ROS node of its own), runs
the state machine of document 1's table 3, and writes a plot and a picture. Then it runs the same program on mock
hardware against the wall clock, and compares the loop's wake-up lateness with that of a plain Python thread.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robot_rt_control.client import Action, Client, Event, Reaction, Session, variable
from robot_rt_control.demo.demo_lateness import Lateness, measure
from robot_rt_control.demo.demo_lateness import plot as plot_lateness
from robot_rt_control.demo.demo_recording import Recorder, Recording
from robot_rt_control.demo.demo_report import plot, realtime_results, results
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.drawing.pictures import require_pictures
from robot_rt_control.vocabulary import phase_times
from robot_rt_control.vocabulary.errors import RobotControlError

NEAR, FAR = 0.38, 0.50  # [m]
SPEED = 0.15  # [m/s]
DISTANCE, HEIGHT = "rangefinder.distance", "arm.tool.z"
"""The variable that the program reacts to: a simulated sensor; on mock hardware the tool's height."""
_REALTIME_S = 5.0
_PERIOD_S = 0.001
_LEASE_S = 10.0
"""On mock hardware: a busy machine may keep this process waiting for longer than the default."""
_SWITCHES = 2
"""The arm moves until it has reversed this often, however slow the simulation is ..."""
_LONGEST_S = 600.0
"""... but at most this long [s]."""


def define_up_and_down(session: Session, measured: str) -> None:
    """Table 3: two states, and two switches on a live value [m]."""
    distance = variable(measured)
    near = Reaction(distance < NEAR, start="move_up", event="switched", capture=[distance])
    far = Reaction(distance > FAR, start="move_down", event="switched", capture=[distance])
    session.add(
        Action("move_down", "velocity_move", linear=[0, 0, -SPEED], reactions=[near]),
        Action("move_up", "velocity_move", linear=[0, 0, SPEED], reactions=[far]),
    )


def watch_half_way(session: Session, recording: Recording, measured: str) -> None:
    """The second program: a free-standing reaction of another session, with a callback."""

    def half_way(event: Event) -> None:
        recording.callback_delays.append(time.time() - event.time)

    session.add(reactions=[Reaction(f"{measured} < {(NEAR + FAR) / 2:.3f}", call=half_way, name="half_way")])


def run(client: Client, seconds: float, console: Console) -> Recording:
    """Run the program for this time, with live progress; returns the recording."""
    recorder = Recorder(client)
    recording = recorder.recording
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with client.session("arm", name="up_and_down") as session, Progress(*columns, console=console) as progress:
        define_up_and_down(session, DISTANCE)
        session.start("move_down")
        begin = time.monotonic()
        task = progress.add_task("starting", total=seconds)
        last_count = 0
        while (elapsed := time.monotonic() - begin) < seconds or len(recording.switches()) < _SWITCHES:
            if elapsed > _LONGEST_S:
                break
            count = len(recording.switches())
            active = next((e.current_action for e in reversed(recording.events) if e.kind == "action_started"), "-")
            distance = recording.distances[-1][1] if recording.distances else float("nan")
            text = f"{active:<9} distance {distance:.3f} m, {count} switches"
            progress.update(task, completed=min(elapsed, seconds), description=text)
            if count != last_count and not console.is_terminal:
                console.print(text)
                last_count = count
            time.sleep(0.1)
        session.stop()
        time.sleep(0.3)
    return recorder.stop()


def run_realtime(client: Client) -> tuple[Recording, tuple[Lateness, Lateness]]:
    """Run the same program on the wall clock, beside a second one with a callback, and measure."""
    recorder = Recorder(client)
    with (
        client.session("arm", name="up_and_down", lease_s=_LEASE_S) as first,
        client.session("rangefinder", name="watcher", lease_s=_LEASE_S) as second,
    ):
        define_up_and_down(first, HEIGHT)
        watch_half_way(second, recorder.recording, HEIGHT)
        first.start("move_down")
        measured = measure(_REALTIME_S, _PERIOD_S, os.environ.get("ROS_DOMAIN_ID", "0"))
        first.stop()
        time.sleep(0.3)
    return recorder.stop(), measured


def bring_up(workcell: DemoWorkcell, client: Client, console: Console) -> None:
    """Wait until the workcell is up, and show its steps. Raises RobotControlError: it does not come up."""
    shown = ""
    with console.status("bringing the workcell up") as status:

        def show(step: str) -> None:
            nonlocal shown
            status.update(f"bringing the workcell up, {step}")
            name = step.partition(": ")[2].partition(" (")[0]
            if name != shown and not console.is_terminal:
                console.print(f"bringing the workcell up, {step}")
            shown = name

        workcell.wait_until_ready(client, show)
    if os.environ.get(phase_times.VARIABLE) == "1":
        for line in workcell.last_lines(1000):
            if phase_times.MARK in line:
                console.print(line, markup=False, highlight=False)


def take_picture(client: Client, file: Path) -> None:
    """Have the simulator's camera take a picture of the scene. Raises RobotControlError: it has none."""
    client.take_picture(copy_to=file)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run demo", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long the arm moves (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("output/demo"), help="folder for plot, picture and log")
    parser.add_argument("--workcell", default="iiwa", help="with an arm and a rangefinder (default: %(default)s)")
    parser.add_argument("--gui", action="store_true", help="show the simulation in a window")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 if the arm reacted as it should."""
    arguments = _arguments(argv)
    console = Console()
    if not console.is_terminal:
        console.width = 120  # a log file has room for the table
    arguments.output.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    command = ["--workcell", arguments.workcell, "--controllers", "false"]
    window = ["--gui"] if arguments.gui else []
    console.print("[bold]robot_rt_control demonstration[/bold]: an arm reacts to a rangefinder inside the tick")
    try:
        log = arguments.output / "workcell.log"
        with DemoWorkcell([*command, *window], log) as workcell, Client("demo") as client:
            bring_up(workcell, client, console)
            console.print("the workcell is up, in simulated time: executor and control server, a process each")
            recording = run(client, arguments.seconds, console)
            take_picture(client, arguments.output / "scene.png")
        console.print(f"now {_REALTIME_S:g} s of the same program in real time: mock hardware, 1 kHz, the wall clock")
        log = arguments.output / "realtime.log"
        options = ["--hardware", "mock", "--clock", "realtime"]
        with DemoWorkcell([*command, *options], log) as workcell, Client("demo") as client:
            bring_up(workcell, client, console)
            realtime, measured = run_realtime(client)
    except RobotControlError as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        return 1
    written = ["scene.png", "workcell.log", "realtime.log"]
    try:
        require_pictures()
        plot(recording, arguments.output / "distance.png", near=NEAR, far=FAR)
        plot_lateness(measured, _PERIOD_S, arguments.output / "lateness.png")
        written += ["distance.png", "lateness.png"]
    except RobotControlError as error:
        console.print(f"[yellow]no plots: {escape(str(error))}[/yellow]")
    console.print(results(recording))
    console.print(realtime_results(realtime, measured))
    for name in written:
        console.print(f"written: {arguments.output / name}")
    switches = recording.switches()
    late = [s for s in switches if s[1] is None or s[1].tick != s[0].tick]
    if not switches or late:
        console.print(f"[red]{len(switches)} switches, {len(late)} of them not in the tick of their condition[/red]")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
