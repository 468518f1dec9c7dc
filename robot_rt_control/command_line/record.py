"""Record all ticks to a file, or save the last ones. Files are on the executor's machine.

`start` records all ticks from now on, `stop` ends it, `save` writes the ticks that the executor still has. A file that
can be replayed begins with tick 1: bring the workcell up with `--record PATH` for that.
"""

from __future__ import annotations

import argparse

from robot_rt_control.command_line.connection import add_workcell_arguments, connect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("what", choices=("start", "stop", "save"), help="all ticks from now on; end; the last ticks")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    with connect(arguments) as client:
        file = client.save_last_ticks() if arguments.what == "save" else client.record(arguments.what == "start")
    done = {"start": "recording to", "stop": "recorded", "save": "the last ticks are in"}[arguments.what]
    Output(as_json=arguments.json).result({"file": file}, f"{done} {file}")
    return 0
