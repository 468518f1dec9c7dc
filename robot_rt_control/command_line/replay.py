"""Run a recorded session again, tick by tick, and name the first tick that differs.

It needs no running workcell. Exit codes: 0 the same, 1 it differs, 2 it cannot be run again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

MODULE = "robot_rt_control.realtime.executor.replay"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("file", metavar="FILE", help="a session in simulated time, recorded from its first tick on")
    parser.add_argument("--workcell", metavar="FILE", help="the workcell file (default: where it was when recorded)")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    command = [sys.executable, "-m", MODULE, arguments.file]
    if arguments.workcell is not None:
        command += ["--workcell", arguments.workcell]
    # A process of its own: it becomes an executor, which the command line is not.
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    text = ended.stdout.strip()
    if text:
        Output(as_json=arguments.json).result({"same": ended.returncode == 0, "text": text}, text)
    return ended.returncode
