"""The verb for runs of the past: log."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments
from robot_rt_control.command_line.exit_codes import ExitCode


class Log:
    """List the runs that are kept, the newest first; or print what happened in one."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run_id", nargs="?", default="", metavar="RUN", help="id of a run, or its file, .jsonl")
        parser.add_argument("--blueprint", default="", metavar="NAME", help="only its runs")
        parser.add_argument("--at-most", type=int, default=50, metavar="N", help="runs in the list (%(default)s)")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.blueprint.runs.run_log import read_log
        from robot_rt_control.command_line.blueprints.records import shown_records
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected
        from robot_rt_control.command_line.output import Output, table

        output = Output(as_json=arguments.json)
        if arguments.run_id.endswith(".jsonl"):
            records = read_log(Path(arguments.run_id))
        elif arguments.run_id:
            with connected(arguments) as blueprints:
                records = _records(blueprints, arguments.run_id)
        else:
            with connected(arguments) as blueprints:
                runs, total = blueprints.read_runs(blueprint=arguments.blueprint, at_most=arguments.at_most)
            more = [f"and {total - len(runs)} more; see --at-most"] if total > len(runs) else []
            shown = table(("run", "skill", "began", "ended", "took", "by", "why"), map(_row, runs))
            output.result({"runs": runs, "total": total}, *([shown, *more] if runs else ["no runs"]))
            return ExitCode.DONE
        output.result({"records": records}, shown_records(records))
        return ExitCode.DONE


def _records(blueprints: Any, run: str) -> list[dict[str, Any]]:
    """All records of a run, in several answers."""
    found: list[dict[str, Any]] = []
    while True:
        records, total = blueprints.read_runs(run, first=len(found))
        found += records
        if not records or len(found) >= total:
            return found


def _row(run: dict[str, Any]) -> tuple[str, ...]:
    from robot_rt_control.blueprint.graph.plan import ONLY  # slow

    result, seconds = run.get("result") or "", run.get("seconds")
    if not result:
        at = run.get("interrupted_at")
        at = run["skill"] if at == ONLY else at
        result = f"interrupted at {at}" if at else "under way"
    took = "" if seconds is None else f"{seconds:.1f} s"
    began, by, why = (str(run.get(key) or "") for key in ("began", "source", "reason"))
    return run["run"], str(run.get("skill", "")), began, result, took, by, why
