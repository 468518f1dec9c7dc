"""Write the C header of action types whose real-time code is C or C++: their records and functions.

It is written beside the C or C++ file, for editors and for reading. A build makes a fresh one by itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("source", help="my_action.py, my_action.py:Class, package.module or package.module:Class")
    parser.add_argument("--folder", type=Path, help="for the headers (default: where the C or C++ file is)")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.server.builder.c_header import write_headers

    written = write_headers(arguments.source, arguments.folder)
    Output(as_json=arguments.json).result({"headers": [str(file) for file in written]}, *map(str, written))
    return 0
