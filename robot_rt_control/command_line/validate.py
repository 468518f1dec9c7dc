"""Check workcell files and program files, without a running workcell. Reports all mistakes, each with its line.

A file with `devices` is a workcell; every other one is a program. Programs of the library are found by name, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.exit_codes import ExitCode


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
    from robot_rt_control.bringup.bringup import BringupOptions, processes
    from robot_rt_control.command_line.offline_catalogue import offline_catalogue
    from robot_rt_control.command_line.output import Output, error_data, mistakes_of
    from robot_rt_control.command_line.program import find_template
    from robot_rt_control.controllers.catalogue import check_options
    from robot_rt_control.model.paths import find_workcell
    from robot_rt_control.model.workcell.workcell import load_workcell
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
                workcell = load_workcell(file)
                # Also what starting it would refuse: clock, plugins, missing files.
                processes(BringupOptions(workcell=file), workcell, find=lambda *_: None)
                checked["warnings"] = [*check_options(workcell), *_missing_meshes(workcell)]
                parts = offline_catalogue(workcell).parts or {}
                shown = f"{len(parts)} part{'s' if len(parts) != 1 else ''}"
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


def _missing_meshes(workcell: Any) -> list[str]:
    """Meshes of robots that are not on this machine: simulators refuse them, other hardware does not."""
    from robot_rt_control.model.robot.meshes import missing_meshes

    found = []
    for part in workcell.parts:
        missing = missing_meshes(part.urdf) if part.urdf is not None and not part.mounted_on else ()
        if missing:
            first = missing[0]
            text = f"part {part.name!r}: simulators refuse it without its meshes, of which {len(missing)} are missing; "
            text += f"link {first.link!r}, mesh {first.name!r}: "
            text += f"expected {first.expected}; got {first.got}. {first.hint}"
            found.append(text.rstrip())
    return found


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
