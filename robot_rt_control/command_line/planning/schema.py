"""Print the path of the JSON Schema of task files, for editors."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.planning.files.task_schema import SCHEMA_FILE

    Output(as_json=arguments.json).result({"file": str(SCHEMA_FILE)}, str(SCHEMA_FILE))
    return 0
