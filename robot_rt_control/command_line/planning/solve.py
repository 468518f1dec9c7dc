"""Plan a task, and save the plan. Ctrl-C ends it with the best plan so far.

The table shows the penalty loop: ω, how far the body stays from its target per way, the virtual stiffness that is left
(mean and most, scaled). The plan itself has no virtual forces: it is the best motion found without them. Then another
engine plays it through the tick loop, and it is rolled out with other friction, mass and contact stiffness: it is
solved if all of them end within the task's tolerance, else planned, not verified.
"""

from __future__ import annotations

import argparse
import os
import sys
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
        "--no-verify", action="store_true", help="save what was planned without letting another engine play it"
    )
    allow_values_after_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.cancelling import BrokenOff, cancelled_by_signals, within_grace
    from robot_rt_control.command_line.output import Output, table
    from robot_rt_control.command_line.planning.progress_table import ProgressTable, iterate_table
    from robot_rt_control.planning.plan.plan import Plan
    from robot_rt_control.vocabulary.errors import RobotControlError

    output = Output(as_json=arguments.json)
    previous = None if arguments.previous is None else Plan.load(arguments.previous)
    task, settings = prepared_task(arguments, dict(arguments.values), dict(arguments.settings))
    from robot_rt_control.planning.solve import planner, verified  # they need what was checked before

    verifications: list[Any] = []
    latest: list[Any] = [None]
    with cancelled_by_signals() as cancelled, ProgressTable(output.err) as shown:

        def progress(its: Any) -> None:
            latest[0] = its
            shown.show(its)

        def work() -> Any:
            options = {"start_from": previous, "time_limit": arguments.time_limit}
            if arguments.no_verify:
                return planner.plan(task, settings, progress=progress, cancel=cancelled, **options)
            played = verifications.append
            return verified.solve(task, settings, progress=progress, cancel=cancelled, played=played, **options)

        try:
            result, hangs = within_grace(work, cancelled), False
        except BrokenOff:
            result, hangs = planner.cancelled_result(latest[0]), True
    file, found = None, result.plan
    planned = found is not None and bool(found.header["success"])  # in the planner's engine
    state = "solved" if result.success and not arguments.no_verify else "planned" if planned else "not solved"
    if found is not None:
        file = arguments.output or Path(f"{task.name}.plan")
        found.save(file)
    error = result.error
    data = {
        "success": state == "solved",
        "planned": planned,
        "message": result.message,
        "plan": None if file is None else str(file),
        "position_error": None if error is None else error.position,
        "normalized_error": None if error is None else error.normalized,
        "orientation_error": None if error is None else error.orientation,
        "start": result.start,
        "iterates": result.iterates,
        "iterations": shown.iterations,
        "elapsed": shown.elapsed,
        "verification": None if found is None else found.header.get("verification"),
        "verifying": verifications[-1].elapsed if verifications else None,
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
        if verifications:
            output.result(data, table(_COLUMNS, (row for its in verifications for row in _rows(its))))
        if file is not None:
            output.note(f"{file}, after {shown.elapsed:.1f} s, {shown.iterations} iterations of SCVX")
        if state == "solved":
            output.good("solved")
            if result.message:
                output.warning(result.message)
        elif state == "planned":
            output.warning(f"planned, not verified: {'as asked for' if arguments.no_verify else result.message}")
        else:
            kept = "; the best plan is kept, and marked as not successful" if file is not None else ""
            output.error(RobotControlError(f"not solved: {result.message}{kept}"))
    if hangs:
        leave(ExitCode.INTERRUPTED)
    if cancelled.is_set():
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if result.success else ExitCode.FAILED


def leave(code: int) -> None:
    """End the process at once: a thread of it is still at work."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


_COLUMNS = ("verified by", "error", "of the way", "turned", "peak", "other worlds", "elapsed")


def _rows(played: Any) -> list[list[str]]:
    """Of a verification: the other engines' replays, and the greatest error in worlds that differ."""
    its = played.plan.header["verification"]
    return [_row(played, row) for row in (its["replays"][0], *its.get("others", ()))]


def _row(played: Any, row: Any) -> list[str]:
    worlds = [world["position_error"] for world in played.plan.header["verification"]["perturbed"] if world["world"]]
    diverged = any(error is None for error in worlds)
    return [
        row["engine"] + (", aimed" if played.aimed else ""),
        f"{1e3 * row['error_to_target']:.1f} mm",
        f"{100 * row['normalized_error']:.1f} %",
        f"{row['orientation_error']:.3f} rad",
        f"{row['peak']:.1f} N",
        "diverged" if diverged else f"{1e3 * max(worlds, default=0.0):.1f} mm",
        f"{played.elapsed:.1f} s",
    ]
