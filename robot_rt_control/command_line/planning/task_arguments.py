"""Arguments of verbs that plan."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robot_rt_control.command_line.values import assignment

if TYPE_CHECKING:
    from robot_rt_control.planning import Settings, Task


def add_task_arguments(parser: argparse.ArgumentParser) -> None:
    """The task, and what differs from its file."""
    parser.add_argument("task", metavar="TASK", help="task file, or name of a task that comes with the package")
    parser.add_argument("--workcell", metavar="FILE", help="a workcell in place of the task's; a file or a name")
    parser.add_argument(
        "--threads", type=int, metavar="N", help="of the simulations (default: all cores); the plan is the same"
    )


def setting(text: str) -> tuple[str, Any]:
    """`section.key=value`, as `assignment`.

    Raises:
        argparse.ArgumentTypeError: it is not valid.
    """
    name, equals, value = text.partition("=")
    if not equals or not all(word.isidentifier() for word in name.split(".")):
        raise argparse.ArgumentTypeError(f"expected section.key=value, got {text!r}")
    return name, assignment(f"value={value}")[1]


def prepared_task(
    arguments: argparse.Namespace, values: dict[str, Any], settings: dict[str, Any]
) -> tuple[Task, Settings]:
    """The task with these parameters and settings.

    Raises:
        DefinitionError: the task, a value or a setting is not valid.
        RobotControlError: MuJoCo or PIQP is not installed.
    """
    from dataclasses import replace

    from robot_rt_control.model.paths import find_workcell
    from robot_rt_control.planning.files.from_file import prepared
    from robot_rt_control.planning.solve.engines import require_engines

    require_engines()
    workcell = None if arguments.workcell is None else find_workcell(arguments.workcell)
    task, found = prepared(arguments.task, values, workcell=workcell, settings=settings)
    return task, found if arguments.threads is None else replace(found, threads=arguments.threads)
