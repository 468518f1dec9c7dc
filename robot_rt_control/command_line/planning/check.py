"""Check task files: all mistakes, each with its line. Nothing is computed, and neither MuJoCo nor PIQP is needed."""

from __future__ import annotations

import argparse
from typing import Any

from robot_rt_control.command_line.exit_codes import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="task file, or name of a task of the package")
    parser.add_argument("--workcell", metavar="FILE", help="a workcell in place of the tasks'; a file or a name")
    parser.add_argument("--strict", action="store_true", help="also fail on warnings")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output, error_data, mistakes_of
    from robot_rt_control.model.paths import find_workcell
    from robot_rt_control.planning.files.task_file import read_task
    from robot_rt_control.vocabulary.errors import RobotControlError

    output = Output(as_json=arguments.json)
    workcell = None if arguments.workcell is None else find_workcell(arguments.workcell)
    found = []
    for task in arguments.tasks:
        checked: dict[str, Any] = {"file": task, "valid": True, "warnings": [], "errors": []}
        found.append(checked)
        try:
            file = read_task(task, workcell=workcell, sample=True)
        except RobotControlError as error:
            checked["valid"] = False
            checked["errors"] = [error_data(mistake) for mistake in mistakes_of(error)]
            if not output.as_json:
                output.error(error)
            continue
        checked["warnings"] = [f"{task}: nothing refers to parameter {name!r}" for name in file.unused]
        if not output.as_json:
            for warning in checked["warnings"]:
                output.warning(warning)
            its = file.task
            x, y, z = its.target.position
            pairs = sum(len(group.faces) for group in its.pairs)
            where = f"{its.body} to ({x:.3f}, {y:.3f}, {z:.3f}) m"
            output.good(f"{task}: valid; {where} in {its.time:g} s, {its.steps} steps, {pairs} contact pairs")
    if output.as_json:
        output.result({"files": found})
    failed = any(not checked["valid"] or (arguments.strict and checked["warnings"]) for checked in found)
    return ExitCode.FAILED if failed else ExitCode.DONE
