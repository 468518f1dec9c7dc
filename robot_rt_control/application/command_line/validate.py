"""Check workcell files and program files, without a running workcell. Reports all mistakes, each with its line.

A file with `devices` is a workcell; every other one is a program. Programs of the library are found by name, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_rt_control.application.command_line.exit_codes import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="workcell file, program file, or program's name")
    parser.add_argument(
        "--workcell", metavar="FILE", help="also check programs against its parts; a file, or a name such as iiwa"
    )
    parser.add_argument("--strict", action="store_true", help="also fail on warnings")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    # slow: they load the compiler
    from robot_rt_control.application.bringup import BringupOptions, find_workcell, processes
    from robot_rt_control.application.offline_catalogue import offline_catalogue
    from robot_rt_control.application.output import Output, error_data, mistakes_of
    from robot_rt_control.application.program import find_template
    from robot_rt_control.program.check import check_program
    from robot_rt_control.vocabulary.errors import RobotControlError

    output = Output(as_json=arguments.json)
    given = None if arguments.workcell is None else find_workcell(arguments.workcell)
    catalogue = None
    found = []
    for file in arguments.files:
        kind = "workcell" if _is_workcell(file) else "program"
        checked: dict[str, Any] = {"file": file, "kind": kind, "valid": True, "warnings": [], "errors": []}
        found.append(checked)
        try:
            if kind == "workcell":
                # Also what starting it would refuse: clock, plugins, missing files.
                processes(BringupOptions(workcell=file), find=lambda *_: None)
                parts = offline_catalogue(Path(file)).parts or {}
                shown = f"{len(parts)} parts"
            else:
                catalogue = catalogue or offline_catalogue(given)
                sample = find_template(file).sample()
                checked["warnings"] = list(check_program(sample, catalogue))
                shown = f"{len(sample.definition.actions)} actions"
        except RobotControlError as error:
            checked["valid"] = False
            checked["errors"] = [error_data(mistake) for mistake in mistakes_of(error)]
            if not output.as_json:
                output.error(error)
            continue
        if not output.as_json:
            for warning in checked["warnings"]:
                output.warning(warning)
            output.good(f"{file}: valid {kind}; {shown}")
    if output.as_json:
        output.result({"files": found})
    failed = any(not checked["valid"] or (arguments.strict and checked["warnings"]) for checked in found)
    return ExitCode.FAILED if failed else ExitCode.DONE


def _is_workcell(file: str) -> bool:
    """Whether it is a workcell file; one that cannot be read is reported as a program."""
    from robot_rt_control.text.document import Document
    from robot_rt_control.vocabulary.capacities import MAX_WORKCELL_BYTES
    from robot_rt_control.vocabulary.errors import DefinitionError

    if not Path(file).is_file():
        return False
    try:
        data = Document.load(Path(file), max_bytes=MAX_WORKCELL_BYTES).data
    except DefinitionError:
        return False
    return isinstance(data, dict) and "devices" in data
