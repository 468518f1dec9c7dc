"""Run a recorded session again, tick by tick, and name the first tick that differs; or write a test from it.

It needs no running workcell. Exit codes: 0 the same, 1 it differs, 2 it cannot be run again. With --write-test: 0 the
test is written, 1 it cannot be.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_rt_control.command_line.output import Output

MODULE = "robot_rt_control.realtime.executor.replay"
WRITER = "robot_rt_control.testing.recorded_test"
_LIMIT_S = 600.0
"""[s] of processor time for a test of a long recording."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("file", metavar="FILE", help="a session in simulated time, recorded from its first tick on")
    parser.add_argument("--workcell", metavar="FILE", help="the workcell file (default: where it was when recorded)")
    parser.add_argument("--write-test", type=Path, metavar="FILE.py", help="write a pytest file instead, which expects "
                        "the reactions that fired in the recording")  # fmt: skip
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="TICK", help="the first tick in which the "
                        "test expects reactions (default: %(default)s)")  # fmt: skip
    parser.add_argument("--to", dest="last", type=int, metavar="TICK", help="the last one (default: of the recording)")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    if arguments.write_test is not None:
        return _write_test(arguments, Output(as_json=arguments.json))
    command = [sys.executable, "-m", MODULE, arguments.file]
    if arguments.workcell is not None:
        command += ["--workcell", arguments.workcell]
    # A process of its own: it becomes an executor, which the command line is not.
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    text = ended.stdout.strip()
    if text:
        Output(as_json=arguments.json).result({"same": ended.returncode == 0, "text": text}, text)
    return ended.returncode


def _write_test(arguments: argparse.Namespace, output: Output) -> int:
    """Raises RobotControlError: it cannot be written, and why."""
    from robot_rt_control.processes.call import call
    from robot_rt_control.vocabulary.errors import RobotControlError

    question = {
        "file": str(Path(arguments.file).absolute()),
        "first": arguments.first,
        "last": arguments.last,
        "workcell": arguments.workcell,
    }
    text = call(WRITER, question, limit=_LIMIT_S)["text"]
    target: Path = arguments.write_test
    try:
        with target.open("x") as file:  # it may be edited already
            file.write(text)
    except OSError as error:
        raise RobotControlError(f"test {target}", got=str(error)) from error
    output.result({"file": str(target)}, f"{target}: run it with pytest {target}")
    return 0
