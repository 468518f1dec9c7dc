"""The verbs as a command of ros2cli: `ros2 rt VERB`. Only ros2cli imports this."""

from __future__ import annotations

import argparse
from typing import Any

from ros2cli.command import CommandExtension, add_subparsers_on_demand
from ros2cli.verb import VerbExtension

from robot_rt_control.command_line.main import add_verb, run_verb
from robot_rt_control.command_line.verbs import VERBS, find_verb

GROUP = "robot_rt_control.verb"
"""Entry points of this group are verbs; other packages may add theirs."""


class RtCommand(CommandExtension):
    """Look at a workcell of robot_rt_control, start and stop its robots."""

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str, *, argv: Any = None) -> None:
        """Called by ros2cli."""
        self._parser = parser
        add_subparsers_on_demand(parser, cli_name, "_verb", GROUP, required=False, argv=argv)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Called by ros2cli. Returns the exit code."""
        if not hasattr(args, "_verb"):
            self._parser.print_help()
            return 0
        return int(args._verb.main(args=args))


class _Verb(VerbExtension):
    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        add_verb(parser, find_verb(self.NAME))

    def main(self, *, args: argparse.Namespace) -> int:
        return int(run_verb(find_verb(self.NAME), args))


def __getattr__(name: str) -> type[_Verb]:
    """A class for each verb, as entry points want it: `ros2:status`. Its text is ros2cli's help."""
    if name not in VERBS:
        raise AttributeError(name)
    return type(name, (_Verb,), {"__doc__": find_verb(name).__doc__})
