"""The demonstration: an arm in PyBullet reacts to a rangefinder inside the tick.

    ./run demo

Brings the workcell up (driver, executor, control server, each a process and a ROS node of its own), runs the state
machine of document 1's table 3 beside a second program with a callback, and writes a plot and a picture.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robot_rt_control.application.demo_recording import Recorder, Recording
from robot_rt_control.application.demo_report import plot, results
from robot_rt_control.application.demo_workcell import DemoWorkcell
from robot_rt_control.client import Action, Client, Event, Reaction, Session, variable
from robot_rt_control.vocabulary.errors import RobotControlError

NEAR, FAR = 0.38, 0.50  # [m]
SPEED = 0.15  # [m/s]
_FIRST_START_S = 300.0
"""The first start compiles the tick loop and the action types."""


def define_up_and_down(session: Session) -> None:
    """Table 3: two states, and two switches on a live sensor value."""
    distance = variable("rangefinder.distance")
    near = Reaction(distance < NEAR, start="move_up", event="switched", capture=[distance])
    far = Reaction(distance > FAR, start="move_down", event="switched", capture=[distance])
    session.add(
        Action("move_down", "velocity_move", linear=[0, 0, -SPEED], reactions=[near]),
        Action("move_up", "velocity_move", linear=[0, 0, SPEED], reactions=[far]),
    )


def watch_half_way(session: Session, recording: Recording) -> None:
    """The second program: a free-standing reaction of another session, with a callback."""

    def half_way(event: Event) -> None:
        recording.callback_delays.append(time.time() - event.time)

    session.add(reactions=[Reaction(f"rangefinder.distance < {(NEAR + FAR) / 2:.3f}", call=half_way, name="half_way")])


def run(client: Client, seconds: float, console: Console) -> Recording:
    """Run both programs for so long, with live progress; returns what was recorded."""
    recorder = Recorder(client)
    recording = recorder.recording
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with (
        client.session("arm", name="up_and_down") as first,
        client.session("rangefinder", name="watcher") as second,
        Progress(*columns, console=console) as progress,
    ):
        define_up_and_down(first)
        watch_half_way(second, recording)
        first.start("move_down")
        begin = time.monotonic()
        task = progress.add_task("starting", total=seconds)
        last_count = 0
        while (elapsed := time.monotonic() - begin) < seconds:
            count = len(recording.switches())
            active = next((e.current_action for e in reversed(recording.events) if e.kind == "action_started"), "-")
            distance = recording.distances[-1][1] if recording.distances else float("nan")
            calls = len(recording.callback_delays)
            text = f"{active:<9} distance {distance:.3f} m, {count} switches, {calls} callbacks"
            progress.update(task, completed=elapsed, description=text)
            if count != last_count and not console.is_terminal:
                console.print(text)
                last_count = count
            time.sleep(0.1)
        first.stop()
        time.sleep(0.3)
    return recorder.stop()


def take_picture(client: Client, file: Path) -> None:
    """Have the simulator's camera take a picture of the scene. Raises RobotControlError: it has none."""
    client.take_picture(file)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run demo", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long the arm moves (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("output/demo"), help="folder for plot, picture and log")
    parser.add_argument("--workcell", default="iiwa", help="with an arm and a rangefinder (default: %(default)s)")
    parser.add_argument("--gui", action="store_true", help="show the simulation in a window")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 where the arm reacted as it should."""
    arguments = _arguments(argv)
    console = Console()
    if not console.is_terminal:
        console.width = 120  # a log file has room for the table
    arguments.output.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    log = arguments.output / "workcell.log"
    command = ["--workcell", arguments.workcell, *(["--gui"] if arguments.gui else [])]
    console.print("[bold]robot_rt_control demonstration[/bold]: an arm reacts to a rangefinder inside the tick")
    try:
        with DemoWorkcell(command, log) as workcell, Client("demo", timeout_s=3.0) as client:
            with console.status("bringing the workcell up") as status:
                workcell.wait_until_ready(client, lambda line: status.update(f"[dim]{line}[/dim]"), _FIRST_START_S)
            console.print("the workcell is up: driver, executor and control server, each a process of its own")
            recording = run(client, arguments.seconds, console)
            take_picture(client, arguments.output / "scene.png")
    except RobotControlError as error:
        console.print(f"[red]{error}[/red]")
        return 1
    plot(recording, arguments.output / "distance.png", near=NEAR, far=FAR)
    console.print(results(recording))
    for name in ("distance.png", "scene.png", "workcell.log"):
        console.print(f"written: {arguments.output / name}")
    switches = recording.switches()
    late = [s for s in switches if s[1] is None or s[1].tick != s[0].tick]
    if not switches or late:
        console.print(f"[red]{len(switches)} switches, {len(late)} of them not in the tick of their condition[/red]")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
