"""Release a protective stop. Nothing starts by it: `resume` lets the sessions go on.

Without arguments the only one that is latched; `status` lists them. One that was made with a secret of its own is
released by that secret alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect, person
from robot_rt_control.vocabulary.errors import RobotControlError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("source", nargs="?", default="", help="which stop")
    which.add_argument("--all", action="store_true", help="all that need no secret of their own")
    parser.add_argument("--reason", default="", help="why, for the log")
    parser.add_argument("--secret-file", type=Path, metavar="FILE", help="holds the secret that the stop was made with")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output, table

    output = Output(as_json=arguments.json)
    secret = ""
    if arguments.secret_file is not None:
        try:
            secret = arguments.secret_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise RobotControlError(
                f"secret file {arguments.secret_file}", expected="a file with the stop's secret", got=str(error)
            ) from error
    with connect(arguments) as client:
        tick = client.release(
            arguments.source, everything=arguments.all, secret=secret, reason=arguments.reason, who=person()
        )
        stops = client.stops()
    rows = ((s.source, s.reason, s.who, "yes" if s.needs_secret else "") for s in stops)
    shown: list[Any] = [f"released (tick {tick})"]
    shown += [table(("still latched", "reason", "who", "needs its secret"), rows)] if stops else []
    output.result({"tick": tick, "stops": stops}, *shown)
    return 0
