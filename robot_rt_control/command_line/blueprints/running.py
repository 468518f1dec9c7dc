"""Verbs that start something: run, command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_rt_control.command_line.blueprints.control import BREAKPOINT
from robot_rt_control.command_line.connection import add_workcell_arguments
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.start import allow_values_after_options
from robot_rt_control.command_line.values import assignment


class Run:
    """Run a blueprint or another skill, and show its nodes until its end. Ctrl-C cancels it.

    With --rehearse and --workcell it needs no robot: nothing moves, and each skill ends with its first declared
    success, as --choose says, or as you say with --ask.
    """

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("skill", metavar="SKILL", help="name, name@version, or a skill file")
        parser.add_argument(
            "values", nargs="*", type=assignment, metavar="NAME=VALUE", help="parameters: guest=Ann speed=0.1"
        )
        parser.add_argument(
            "--part", action="append", default=[], dest="parts", metavar="ROLE=PART", help="for a role; may be repeated"
        )
        parser.add_argument("--at", default="", metavar="NODE", help="begin with this node")
        parser.add_argument("--outputs-of", default="", metavar="RUN", help="with the outputs of an earlier run")
        parser.add_argument("--paused", action="store_true", help="stand before the first node")
        parser.add_argument(
            "--break", action="append", default=[], dest="breakpoints", metavar="NODE",
            help=f"{BREAKPOINT}; may be repeated. `breakpoints` sets those of a run under way",
        )  # fmt: skip
        parser.add_argument(
            "--busy", choices=("refuse", "wait", "replace"), default="",
            help="while another run holds its parts (default: refuse)",
        )  # fmt: skip
        parser.add_argument("--rehearse", action="store_true", help="nothing moves")
        parser.add_argument("--workcell", metavar="FILE", help="with --rehearse: without a robot, for this workcell")
        parser.add_argument(
            "--choose", action="append", default=[], type=_chosen, metavar="NODE=RESULT,…",
            help="with --workcell: how a node ends, at its first visit, its second, …; may be repeated",
        )  # fmt: skip
        parser.add_argument("--ask", action="store_true", help="with --workcell: ask you how each skill ends")
        parser.add_argument(
            "--at-most", type=int, default=1000, metavar="N", help="with --workcell: nodes until it is cancelled (1000)"
        )
        add_workcell_arguments(parser)
        allow_values_after_options(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.vocabulary.errors import DefinitionError

        if arguments.workcell is not None and arguments.rehearse:
            from robot_rt_control.command_line.blueprints.rehearse import rehearse

            return rehearse(arguments)
        for option in ("workcell", "choose", "ask"):
            if getattr(arguments, option):
                raise DefinitionError(f"--{option}", expected="with it also --rehearse and --workcell")
        return _run(arguments)


def _chosen(text: str) -> tuple[str, list[str]]:
    node, equals, results = text.partition("=")
    if not equals or not node or not all(results.split(",")):
        raise argparse.ArgumentTypeError(f"expected NODE=RESULT, or NODE=RESULT,RESULT; got {text!r}")
    return node.strip(), [result.strip() for result in results.split(",")]


def _run(arguments: argparse.Namespace) -> int:
    from robot_rt_control.blueprint.remote import StartRequest
    from robot_rt_control.command_line.blueprints.remote_blueprints import connected, source
    from robot_rt_control.command_line.cancelling import cancelled_by_signals
    from robot_rt_control.command_line.output import Output
    from robot_rt_control.text.document import read_text
    from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES

    output = Output(as_json=arguments.json)
    file = Path(arguments.skill)
    request = StartRequest(
        skill=read_text(file, MAX_PROGRAM_BYTES) if file.is_file() else arguments.skill,
        parameters=dict(arguments.values),
        parts=arguments.parts,
        start_at=arguments.at,
        outputs_of=arguments.outputs_of,
        paused=arguments.paused,
        breakpoints=tuple(arguments.breakpoints),
        rehearse=arguments.rehearse,
        busy=arguments.busy,
        source=source(),
    )
    with connected(arguments) as blueprints, cancelled_by_signals() as cancelled:
        run = blueprints.run(request)
        end = _followed(run, cancelled, output, file.stem)
    if output.as_json:
        output.result(end)
    elif end.success:
        outputs = "".join(f", {name} = {value}" for name, value in end.outputs.items())
        output.good(f"{end.result}{outputs}")
    else:
        from robot_rt_control.vocabulary.errors import RobotControlError

        output.error(RobotControlError(f"run {end.run} ended as {end.result}: {end.message}".removesuffix(": ")))
    if end.success:
        return ExitCode.DONE
    return ExitCode.INTERRUPTED if cancelled.is_set() else ExitCode.FAILED


def _followed(run: Any, cancelled: Any, output: Any, title: str) -> Any:
    """Show a run until its end; the first Ctrl-C cancels it."""
    from rich.live import Live

    from robot_rt_control.command_line.blueprints.tree import line_of_tree, shown_tree

    asked, before = False, ""
    with Live(console=output.err, auto_refresh=False, transient=True) as live:
        while (end := run.wait(0.1)) is None:
            if cancelled.is_set() and not asked:
                asked = True
                run.cancel()
            nodes = run.feedback.nodes if run.feedback is not None else []
            if output.err.is_terminal:
                live.update(shown_tree(nodes, f"starting {title}"), refresh=True)
            elif nodes and not output.as_json and (line := line_of_tree(nodes)) != before:
                before = line
                output.note(line)
    return end


class Command:
    """Say a sentence to the robot, or show it a gesture's label. "stop" cancels all runs."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("words", nargs="+", metavar="WORD", help="the sentence")
        parser.add_argument("--gesture", action="store_true", help="it is the label of a gesture")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        from robot_rt_control.command_line.blueprints.remote_blueprints import connected, source
        from robot_rt_control.command_line.output import Output

        with connected(arguments) as blueprints:
            said = blueprints.give_command(" ".join(arguments.words), gesture=arguments.gesture, source=source())
        shown = said.message or f"{said.blueprint} begins, run {said.run}"
        Output(as_json=arguments.json).result(said, shown)
        return ExitCode.DONE
