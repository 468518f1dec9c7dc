"""Plan a task with several settings, one after the other, and compare: what does a part of the method contribute?

Each VARIANT is a setting, or several joined by commas: penalty.schedule=additive,penalty.iterations=20. The task as its
file says comes first.
"""

from __future__ import annotations

import argparse
from typing import Any

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.planning.task_arguments import add_task_arguments, prepared_task, setting
from robot_rt_control.command_line.values import assignment

AS_GIVEN = "as given"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    add_task_arguments(parser)
    parser.add_argument(
        "variants", nargs="+", type=variant, metavar="VARIANT", help="section.key=value, or several joined by commas"
    )
    parser.add_argument(
        "--set", nargs="+", default=[], type=assignment, dest="values", metavar="NAME=VALUE", help="task's parameters"
    )


def variant(text: str) -> tuple[str, dict[str, Any]]:
    """Its text, and its settings.

    Raises:
        argparse.ArgumentTypeError: it is not valid.
    """
    return text, dict(map(setting, text.split(",")))


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    import time

    from robot_rt_control.command_line.cancelling import cancelled_by_signals
    from robot_rt_control.command_line.output import Output, table
    from robot_rt_control.command_line.planning.progress_table import ProgressTable

    output = Output(as_json=arguments.json)
    prepared = [
        (name, *prepared_task(arguments, dict(arguments.values), settings))
        for name, settings in [(AS_GIVEN, {}), *arguments.variants]
    ]  # all are checked before the first one is planned
    from robot_rt_control.planning.solve.planner import plan  # it needs what was checked before

    rows: list[dict[str, Any]] = []
    with cancelled_by_signals() as cancelled:
        for name, task, settings in prepared:
            output.note(name)
            processor = time.process_time()
            with ProgressTable(output.err) as shown:
                result = plan(task, settings, progress=shown.show, cancel=cancelled)
            if cancelled.is_set():
                break
            rows.append(
                {
                    "variant": name,
                    "success": result.success,
                    "normalized_error": None if result.error is None else result.error.normalized,
                    "orientation_error": None if result.error is None else result.error.orientation,
                    "iterates": len(result.iterates),
                    "iterations": shown.iterations,
                    "elapsed": shown.elapsed,
                    "processor": time.process_time() - processor,
                }
            )
    columns = ("variant", "solved", "error", "turned", "iterates", "SCVX iterations", "elapsed", "processor")
    output.result({"variants": rows}, table(columns, map(_texts, rows)))
    if cancelled.is_set():
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


def _texts(row: dict[str, Any]) -> list[str]:
    error, turned = row["normalized_error"], row["orientation_error"]
    return [
        row["variant"],
        "yes" if row["success"] else "no",
        "" if error is None else f"{100 * error:.2f} %",
        "" if turned is None else f"{turned:.3f} rad",
        str(row["iterates"]),
        str(row["iterations"]),
        f"{row['elapsed']:.1f} s",
        f"{row['processor']:.1f} s",
    ]
