"""Replay a plan through the real tick loop on PyBullet, in lockstep: where does the body end there?

It needs PyBullet and no running workcell. A body that misses its target is a failure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULE = "robot_rt_control.testing.plan_replay"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a plan file")
    parser.add_argument(
        "--workcell", metavar="FILE", help="its workcell: a file, or a name (default: the one of the package that fits)"
    )
    parser.add_argument("--speed", type=float, nargs="+", default=[1.0], metavar="S", help="overrides (default: 1)")
    parser.add_argument("--save", action="store_true", help="write into the plan file what was found")
    parser.add_argument("--film", type=Path, metavar="FILE", help="film strip of the first replay, .png")
    parser.add_argument("--gif", type=Path, metavar="FILE", help="animation of the first replay, .gif")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.exit_codes import ExitCode
    from robot_rt_control.command_line.output import Output, table
    from robot_rt_control.command_line.planning.plan_workcell import workcell_of
    from robot_rt_control.planning.plan.plan import Plan
    from robot_rt_control.planning.plan.verdict import LEAST_DISTANCE
    from robot_rt_control.vocabulary.errors import RobotControlError

    output, plan = Output(as_json=arguments.json), Plan.load(arguments.plan)
    workcell = workcell_of(plan, arguments.workcell)
    command = [sys.executable, "-m", MODULE, str(arguments.plan), "--workcell", str(workcell), "--json"]
    command += ["--speed", *map(str, arguments.speed), *(["--save"] if arguments.save else [])]
    pictures = {name: file for name in ("film", "gif") if (file := getattr(arguments, name)) is not None}
    for name, file in pictures.items():
        command += [f"--{name}", str(file)]
    # A process of its own: it holds the tick loop and the simulator, which the command line does not.
    # What PyBullet writes about links without mass is shown only if the replay fails.
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found: Any = json.loads(ended.stdout)
    except ValueError:
        sys.stderr.write(ended.stderr)
        found = {"error": f"the replay ended with exit code {ended.returncode}"}
    if isinstance(found, dict):
        raise RobotControlError(str(found.get("error")))
    columns = ("speed", "error", "of the way", "turned", "at rest", "peak", "impulse")
    output.result({"replays": found}, table(columns, map(_texts, found)))
    for file in pictures.values():
        output.note(f"{file} shows it")
    if ended.returncode == 0:
        return ExitCode.DONE
    its = plan.tolerance
    least = max(its.position, LEAST_DISTANCE)
    accepted = f"at rest within {1e3 * least:.1f} mm" if plan.at_rest else f"within {1e3 * least:.1f} mm"
    missed = [f"{row['speed']:g}" for row in found if not its.holds(row, at_rest=plan.at_rest)]
    what = f"replay at speed {' and '.join(missed)}: the body"
    output.error(RobotControlError(f"{what} misses its target", expected=f"{accepted} and {its.orientation:.3f} rad"))
    return ExitCode.FAILED


def _texts(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['speed']:g}",
        f"{1e3 * row['error_to_target']:.1f} mm",
        f"{100 * row['normalized_error']:.1f} %",
        f"{row['orientation_error']:.3f} rad",
        "yes" if row["rests"] else "no",
        f"{row['peak']:.1f} N",
        f"{row['impulse']:.3f} N s",
    ]
