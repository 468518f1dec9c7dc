"""Verbs that control a run: pause, resume, step, jump, skip, answer, cancel; arm and disarm the sensors' commands."""

from __future__ import annotations

import argparse
from typing import Any

from robot_rt_control.application.command_line.connection import add_workcell_arguments
from robot_rt_control.application.command_line.exit_codes import ExitCode


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", default="", dest="run_id", metavar="ID", help="of the run (default: the only one)")


def _control(arguments: argparse.Namespace, command: str, **fields: Any) -> int:
    from robot_rt_control.application.blueprints.remote_blueprints import connected, source
    from robot_rt_control.application.output import Output

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
        add_workcell_arguments(parser)

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
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "resume", how=arguments.how or "")


class Step:
    """Let a run that stands do one node, and stand again."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--into", action="store_true", help="also stand in what the node calls")
        _add_run(parser)
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "step", into=arguments.into)


class Jump:
    """Let a run go to another node after the present one, and on from there; the blueprint does not change."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("node", help="the target: drinks, or drinks/open_bottle")
        parser.add_argument("--now", action="store_true", help="cancel the present node first")
        parser.add_argument("--come-back", action="store_true", help="then go where the run would have gone")
        _add_run(parser)
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        fields = {"node": arguments.node, "now": arguments.now, "come_back": arguments.come_back}
        return _control(arguments, "jump", **fields)


class Skip:
    """Give the present node a result in place of its own; what it calls is cancelled."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("result", help="done, failed, or another result of the node")
        parser.add_argument("--node", default="", help="one of those that run (default: the innermost)")
        _add_run(parser)
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "skip", value=arguments.result, node=arguments.node)


class Answer:
    """Answer a run's question."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("answer", help="one of those that the question names")
        parser.add_argument("--node", default="", help="that asks (default: the only one)")
        _add_run(parser)
        add_workcell_arguments(parser)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        return _control(arguments, "answer", value=arguments.answer, node=arguments.node)


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
