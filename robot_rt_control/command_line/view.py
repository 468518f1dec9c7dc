"""Show the workcell in a browser: its robots as they move, live; or a recording, tick by tick.

It serves the view and the blueprint editor to browsers on this machine, and prints the links to open. The first link
may only watch and stop. With a recording, neither a workcell nor ROS is needed.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its own arguments."""
    from robot_rt_control.editor.main import add_arguments

    parser.add_argument("recordings", type=Path, nargs="*", metavar="FILE", help="a recording (.mcap), or the log of a "
                        "fault, which is shown instead of a workcell; a second one is compared with it")  # fmt: skip
    add_arguments(parser, view=True)
    parser.add_argument("--foxglove", action="store_true", help="serve the topics to the application Foxglove on this "
                        "machine as well, read only; it needs foxglove-sdk")  # fmt: skip
    parser.add_argument("--foxglove-port", type=int, default=None, metavar="PORT", help="of that (default: 8765)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until it is interrupted. Returns the exit code."""
    from robot_rt_control.editor.main import serve

    with _foxglove(arguments):
        return serve(arguments, arguments.recordings)


@contextmanager
def _foxglove(arguments: argparse.Namespace) -> Iterator[None]:
    """The server for Foxglove beside this process, if it is asked for."""
    if not arguments.foxglove:
        yield
        return
    from robot_rt_control.editor.installed import FOXGLOVE_PORT, require_foxglove
    from robot_rt_control.processes import python
    from robot_rt_control.processes.ending import wait_or_kill
    from robot_rt_control.processes.parent_death import end_with_parent
    from robot_rt_control.vocabulary.errors import RobotControlError

    require_foxglove()
    if arguments.recordings:
        raise RobotControlError("--foxglove", expected="a workcell that is up: Foxglove opens recordings by itself")
    port = FOXGLOVE_PORT if arguments.foxglove_port is None else arguments.foxglove_port
    namespace = ("--namespace", arguments.namespace) if arguments.namespace else ()
    process = python.start(
        "robot_rt_control.editor.foxglove.main", "--port", port, *namespace,
        preexec_fn=end_with_parent(signal.SIGINT), start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        wait_or_kill(process)
