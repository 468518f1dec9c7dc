"""Run a plan on a running workcell: approach its first point, check the start, follow it. Ctrl-C stops the motion.

Refused before anything moves: a plan that is not verified, one of another workcell, a speed override below those at
which its replay held, and, with --pose, a body that is not where the plan begins. With --pose it also says where the
body ends, and fails if that is not its target; and a plan with feedback is led by the body's pose while it moves.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_rt_control.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.command_line.exit_codes import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a plan file")
    parser.add_argument(
        "--workcell", metavar="FILE", help="the running one: a file or a name (default: that of the package that fits)"
    )
    parser.add_argument(
        "--pose", default="", metavar="PART", help="sensor part that measures where the body is (default: not checked)"
    )
    parser.add_argument("--no-feedback", action="store_true", help="do not let the body's pose lead the motion")
    parser.add_argument(
        "--unverified", action="store_true", help="also run a plan that no other engine confirms"
    )
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.cancelling import cancelled_by_signals
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.command_line.planning.plan_workcell import workcell_of
    from robot_rt_control.model.workcell.workcell import load_workcell
    from robot_rt_control.planner.execution import Cancelled, run_plan
    from robot_rt_control.planning.plan.plan import Plan

    output = Output(as_json=arguments.json)
    plan = Plan.load(arguments.plan)
    workcell = load_workcell(workcell_of(plan, arguments.workcell))
    if plan.header["success"] and plan.lacking and arguments.unverified:
        output.warning(f"planned, not verified: {'; '.join(plan.lacking)}")
    with cancelled_by_signals() as cancelled, connect(arguments) as client:
        try:
            found = run_plan(
                client, plan, workcell, pose=arguments.pose, unverified=arguments.unverified,
                feedback=not arguments.no_feedback, cancelled=cancelled.is_set, phase=output.note,
            )  # fmt: skip
        except Cancelled:
            output.result({"done": False}, "cancelled: all parts hold")
            return ExitCode.INTERRUPTED
    if found.end is None:
        output.result({"done": True, "end": None}, "done; --pose names a sensor part that tells where the body is now")
    else:
        output.result({"done": True, "end": found.end}, f"done; the body is {found.where}")
    found.check_arrived(plan)
    return ExitCode.DONE
