"""Plan a task, and save the plan. Ctrl-C ends it with the best plan so far.

The table shows the penalty loop: ω, how far the body stays from its target per way, the virtual stiffness that is left
(mean and most, scaled). The plan itself has no virtual forces: it is the best motion found without them. A solved one
is verified: rolled out again, and with another friction, mass, contact stiffness, start and speed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.planning.task_arguments import add_task_arguments, prepared_task, setting
from robot_rt_control.command_line.start import allow_values_after_options
from robot_rt_control.command_line.values import assignment


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
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="longest time; then the best plan so far (default: none)"
    )
    parser.add_argument(
        "--from", type=Path, dest="previous", metavar="PLAN", help="a previous plan, whose motion is one more start"
    )
    parser.add_argument(
        "--no-verify", action="store_true", help="save a solved plan without rolling it out in perturbed worlds"
    )
    allow_values_after_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.cancelling import cancelled_by_signals
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.command_line.planning.progress_table import ProgressTable, iterate_table
    from robot_rt_control.planning.plan.plan import Plan
    from robot_rt_control.vocabulary.errors import RobotControlError

    output = Output(as_json=arguments.json)
    previous = None if arguments.previous is None else Plan.load(arguments.previous)
    task, settings = prepared_task(arguments, dict(arguments.values), dict(arguments.settings))
    from robot_rt_control.planning.solve.planner import plan  # it needs what was checked before

    with cancelled_by_signals() as cancelled, ProgressTable(output.err) as shown:
        options = {"start_from": previous, "time_limit": arguments.time_limit}
        result = plan(task, settings, progress=shown.show, cancel=cancelled, **options)
    file, found, verification = None, result.plan, None
    if found is not None and result.success and not arguments.no_verify:
        from robot_rt_control.planning.solve.verify import verify

        verification = verify(found, task)
        found = found.with_verification(verification)
    if found is not None:
        file = arguments.output or Path(f"{task.name}.plan")
        found.save(file)
    error = result.error
    data = {
        "success": result.success,
        "message": result.message,
        "plan": None if file is None else str(file),
        "position_error": None if error is None else error.position,
        "normalized_error": None if error is None else error.normalized,
        "orientation_error": None if error is None else error.orientation,
        "start": result.start,
        "iterates": result.iterates,
        "iterations": shown.iterations,
        "elapsed": shown.elapsed,
        "verification": verification,
    }
    if output.as_json:
        output.result(data)
    else:
        if result.iterates:
            output.result(data, iterate_table((result.start, iterate) for iterate in result.iterates))
        if result.start:
            output.note(f"found from the start {result.start!r}")
        if error is not None:
            left = f"{1e3 * error.position:.1f} mm ({100 * error.normalized:.2f} % of the way)"
            output.note(f"without virtual forces: {left} and {error.orientation:.3f} rad are left")
        if verification is not None:
            output.note(_verified(verification, at_rest=task.at_rest))
        if file is not None:
            output.note(f"{file}, after {shown.elapsed:.1f} s, {shown.iterations} iterations of SCVX")
        if result.success:
            output.good("solved")
            if result.message:
                output.warning(result.message)
        else:
            kept = "; the best plan is kept, and marked as not successful" if file is not None else ""
            output.error(RobotControlError(f"not solved: {result.message}{kept}"))
    if cancelled.is_set():
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if result.success else ExitCode.FAILED


def _verified(found: dict[str, Any], *, at_rest: bool) -> str:
    end, contact = found["at_rest" if at_rest else "mujoco"]["normalized_error"], found["at_rest"]["peak"]
    if end is None or contact is None:
        return "verified: the simulation diverges after the horizon"
    when = "at rest" if at_rest else "at the end"
    left = f"{when} {100 * end:.2f} % are left, contact peak {contact:.1f} N"
    return f"verified: {left}; in perturbed worlds the body ends up to {1e3 * found['spread']:.1f} mm away"
