"""Plan a task, and save the plan. Ctrl-C ends it with the best plan so far.

The table shows the penalty loop: ω, how far the body stays from its target per way, the virtual stiffness that is left
(mean and most, scaled). The plan itself has no virtual forces: it is the best motion found without them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_rt_control.application.command_line.exit_codes import ExitCode
from robot_rt_control.application.command_line.start import allow_values_after_options
from robot_rt_control.application.command_line.values import assignment
from robot_rt_control.application.planning.task_arguments import add_task_arguments, prepared_task, setting


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    add_task_arguments(parser)
    parser.add_argument(
        "values", nargs="*", type=assignment, metavar="NAME=VALUE", help="parameters of the task: distance=0.2"
    )
    parser.add_argument(
        "--setting", action="append", default=[], type=setting, dest="settings", metavar="SECTION.KEY=VALUE",
        help="a setting in place of the task's, such as penalty.schedule=additive; may be repeated",
    )  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the plan (default: <name of the task>.plan)")
    allow_values_after_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.application.output import Output
    from robot_rt_control.application.planning.cancelling import cancelled_by_signals
    from robot_rt_control.application.planning.progress_table import ProgressTable, iterate_table
    from robot_rt_control.vocabulary.errors import RobotControlError

    output = Output(as_json=arguments.json)
    task, settings = prepared_task(arguments, dict(arguments.values), dict(arguments.settings))
    from robot_rt_control.planning.planner import plan  # it needs what was checked before

    with cancelled_by_signals() as cancelled, ProgressTable(output.err) as shown:
        result = plan(task, settings, progress=shown.show, cancel=cancelled)
    file = None
    if result.plan is not None:
        file = arguments.output or Path(f"{task.name}.plan")
        result.plan.save(file)
    error = result.error
    data = {
        "success": result.success,
        "message": result.message,
        "plan": None if file is None else str(file),
        "position_error": None if error is None else error.position,
        "normalized_error": None if error is None else error.normalized,
        "orientation_error": None if error is None else error.orientation,
        "iterates": result.iterates,
        "iterations": shown.iterations,
        "elapsed": shown.elapsed,
    }
    if output.as_json:
        output.result(data)
    else:
        output.result(data, iterate_table(list(result.iterates)))
        if error is not None:
            left = f"{1e3 * error.position:.1f} mm ({100 * error.normalized:.2f} % of the way)"
            output.note(f"without virtual forces: {left} and {error.orientation:.3f} rad are left")
        if file is not None:
            output.note(f"{file}, after {shown.elapsed:.1f} s, {shown.iterations} iterations of SCVX")
        if result.success:
            output.good("solved")
        else:
            kept = "; the best plan is kept, and marked as not successful" if file is not None else ""
            output.error(RobotControlError(f"not solved: {result.message}{kept}"))
    if cancelled.is_set():
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if result.success else ExitCode.FAILED
