"""Verbs that control a run: pause, resume, step, breakpoints, jump, skip, answer, cancel; arm and disarm."""

from __future__ import annotations

import argparse
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments
from robot_rt_control.command_line.exit_codes import ExitCode

BREAKPOINT = "stand before this node, such as seat or drinks/open_bottle; with 'after NODE' (one word, quoted) after it"


def _add_run(parser: argparse.ArgumentParser) -> None:
    """Arguments of all verbs for one run."""
    parser.add_argument("--run", default="", dest="run_id", metavar="ID", help="of the run (default: the only one)")
    add_workcell_arguments(parser)


def _add_value(parser: argparse.ArgumentParser, name: str, value: str, node: str) -> None:
    """Arguments of a verb that gives a node a value; all but the parser are texts of the help."""
    parser.add_argument("value", metavar=name, help=value)
    parser.add_argument("--node", default="", metavar="NODE", help=node)
    _add_run(parser)


def _control(arguments: argparse.Namespace, command: str, **fields: Any) -> int:
    from robot_rt_control.command_line.blueprints.remote_blueprints import connected, source
    from robot_rt_control.command_line.output import Output

    with connected(arguments) as blueprints:
        remark = blueprints.control(command, run=getattr(arguments, "run_id", ""), source=source(), **fields)
    Output(as_json=arguments.json).result({"message": remark}, remark or f"{command}: taken")
    return ExitCode.DONE


class Pause:
    """Let a run stand after the present node, or at once."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--now", action="store_true", help="cancel the present node; its parts hold")
        _add_run(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "pause", now=arguments.now)


class Resume:
    """Let a run that stands go on."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "how", nargs="?", choices=("again", "next"),
            help="visit the node again, or go on with what comes (default: again if it was cut, else next)",
        )  # fmt: skip
        _add_run(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "resume", how=arguments.how or "")


class Step:
    """Let a run that stands do one node, and stand again."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--into", action="store_true", help="also stand in what the node calls")
        _add_run(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "step", into=arguments.into)


class Jump:
    """Let a run go to another node after the present one, and on from there; the blueprint does not change."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("node", metavar="NODE", help="the target: drinks, or drinks/open_bottle")
        parser.add_argument("--now", action="store_true", help="cancel the present node first")
        parser.add_argument("--come-back", action="store_true", help="then go where the run would have gone")
        _add_run(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        fields = {"node": arguments.node, "now": arguments.now, "come_back": arguments.come_back}
        return _control(arguments, "jump", **fields)


class Breakpoints:
    """Set the breakpoints of a run under way. They are all that it has from now on; without NODE it has none."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("nodes", nargs="*", metavar="NODE", help=BREAKPOINT)
        _add_run(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "breakpoints", breakpoints=arguments.nodes)


class Skip:
    """Give the present node a result in place of its own; what it calls is cancelled."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        result, node = "done, failed, or another result of the node", "one of those that run (default: the innermost)"
        _add_value(parser, "RESULT", result, node)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "skip", value=arguments.value, node=arguments.node)


class Answer:
    """Answer a run's question."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        _add_value(parser, "ANSWER", "one of those that the question names", "that asks (default: the only one)")

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "answer", value=arguments.value, node=arguments.node)


class Cancel:
    """End one run, or all of them; its parts come to rest."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run_id", nargs="?", default="", metavar="RUN", help="its id (default: all runs)")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "cancel")


class Arm:
    """Allow sensors to start blueprints, for a time."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("seconds", type=float, metavar="SECONDS", help="for how long")
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "arm", seconds=arguments.seconds)


class Disarm:
    """Allow sensors to start nothing any more."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "disarm")
