"""Run a plan on a running workcell: approach its first point, check the start, follow it. Ctrl-C stops the motion.

Refused before anything moves: a plan of another workcell, a speed override below those at which its replay held, and,
with --pose, a body that is not where the plan begins.
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
    if not plan.header["success"]:
        output.warning("the plan is marked as not successful: the body will not arrive")
    with cancelled_by_signals() as cancelled, connect(arguments) as client:
        try:
            run_plan(
                client, plan, workcell, pose=arguments.pose, cancelled=cancelled.is_set, phase=output.note
            )
        except Cancelled:
            output.result({"done": False}, "cancelled: all parts hold")
            return ExitCode.INTERRUPTED
    output.result({"done": True}, "done")
    return ExitCode.DONE
