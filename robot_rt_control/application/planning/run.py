"""Run a plan on a running workcell: approach its first point, check the start, follow it. Ctrl-C stops the motion.

Refused before anything moves: a plan of another workcell, a speed override below those at which its replay held, and,
with --pose, a body that is not where the plan begins.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robot_rt_control.application.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.application.command_line.exit_codes import ExitCode

if TYPE_CHECKING:
    from robot_rt_control.client import Client
    from robot_rt_control.model.workcell import Workcell
    from robot_rt_control.planner.measured import Measure
    from robot_rt_control.planning import Plan


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
    from robot_rt_control.application.command_line.cancelling import cancelled_by_signals
    from robot_rt_control.application.output import Output
    from robot_rt_control.application.planning.plan_workcell import workcell_of
    from robot_rt_control.model.workcell import load_workcell
    from robot_rt_control.planner.execution import Cancelled, run_plan
    from robot_rt_control.planner.measured import check_start
    from robot_rt_control.planning.plan import Plan

    output = Output(as_json=arguments.json)
    plan = Plan.load(arguments.plan)
    workcell = load_workcell(workcell_of(plan, arguments.workcell))
    if not plan.header["success"]:
        output.warning("the plan is marked as not successful: the body will not arrive")
    with cancelled_by_signals() as cancelled, connect(arguments) as client:

        def check() -> None:
            check_start(plan, workcell, arguments.pose, _measured(client), client.executor_status().speed)

        _check_before_anything_moves(plan, workcell, arguments.pose, client)
        try:
            run_plan(client, plan, check=check, cancelled=cancelled.is_set, phase=output.note)
        except Cancelled:
            output.result({"done": False}, "cancelled: all parts hold")
            return ExitCode.INTERRUPTED
    output.result({"done": True}, "done")
    return ExitCode.DONE


def _check_before_anything_moves(plan: Plan, workcell: Workcell, pose: str, client: Client) -> None:
    """All but the joints, which the approach brings to the start."""
    from robot_rt_control.planner.measured import measure_start

    found = measure_start(workcell, (), pose, _measured(client), body=True).body if pose else None
    plan.check_start(workcell=workcell.digest, body=found, speed=client.executor_status().speed)


def _measured(client: Client) -> Measure:
    return lambda prefixes: client.backend.state_values(prefixes, "")
