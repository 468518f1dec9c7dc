"""Show the workcell in a browser: its robots as they move, live; or a recording, tick by tick.

It serves the view and the blueprint editor to browsers on this machine, and prints the links to open. The first link
may only watch and stop. With a recording, neither a workcell nor ROS is needed.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its own arguments."""
    from robot_rt_control.editor.main import add_arguments

    parser.add_argument("recordings", type=Path, nargs="*", metavar="FILE", help="a recording (.mcap), or the log of a "
                        "fault, which is shown instead of a workcell; a second one is compared with it")  # fmt: skip
    add_arguments(parser, view=True)


def run(arguments: argparse.Namespace) -> int:
    """Serve until it is interrupted. Returns the exit code."""
    from robot_rt_control.editor.main import serve

    return serve(arguments, arguments.recordings)
