"""Write a commented task for a workcell: its body, links and faces are filled in, all settings are there as comments.

It needs neither MuJoCo nor PIQP.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="to write, .yaml")
    parser.add_argument("--workcell", required=True, metavar="FILE", help="workcell file, or its name, such as push")
    parser.add_argument("--body", default="", metavar="NAME", help="what has to move (default: the first free object)")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.planning.files.new_task import new_task
    from robot_rt_control.planning.files.task_file import read_task
    from robot_rt_control.vocabulary.errors import DefinitionError

    file: Path = arguments.file
    if file.exists() and not arguments.force:
        raise DefinitionError(f"file {str(file)!r}", expected="a new file", got="an existing one", hint="See --force")
    text = new_task(arguments.workcell, name=file.stem, folder=file.parent, body=arguments.body)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    read_task(file)  # a task that is not valid is an error of this verb
    Output(as_json=arguments.json).result({"file": str(file)}, f"{file}\nnext: robot-rt-control-plan check {file}")
    return 0
