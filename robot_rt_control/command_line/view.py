"""Show the workcell in a browser: its robots as they move, live.

It serves the view and the blueprint editor to browsers on this machine, and prints the links to open. The first link
may only watch and stop.
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its own arguments."""
    from robot_rt_control.editor.main import add_arguments

    add_arguments(parser, view=True)


def run(arguments: argparse.Namespace) -> int:
    """Serve until it is interrupted. Returns the exit code."""
    from robot_rt_control.editor.main import serve

    return serve(arguments)
