# PYTHON_ARGCOMPLETE_OK
"""Blueprints and skills: write, check, draw and rehearse them; keep, run, watch and control them on a robot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robot_rt_control.command_line.blueprints.verbs import VERBS, find_verb
from robot_rt_control.command_line.main import run_command_line, verb_parser

_EXAMPLES = """\
examples:
  %(prog)s new tour.yaml --workcell bench
  %(prog)s check tour.yaml --workcell bench
  %(prog)s draw tour.yaml -o tour.svg
  %(prog)s run tour.yaml --rehearse --workcell bench --choose touch=contact,not_found
  %(prog)s save *.yaml
  %(prog)s list --robots --scenario welcome
  %(prog)s run welcome guest=Ann
  %(prog)s jump drinks/open_bottle --now

%(prog)s VERB --help describes a verb. new, check, draw, expand, import, export and run --rehearse need no robot.
Exit codes: 0 done, 1 failed, 2 wrong command line, 3 no workcell answered, 130 Ctrl-C.
"""


def parser() -> argparse.ArgumentParser:
    """The command line of `robot-rt-control-blueprint`."""
    return verb_parser("robot-rt-control-blueprint", __doc__, _EXAMPLES, VERBS, find_verb)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    return run_command_line(parser(), find_verb, argv)


if __name__ == "__main__":
    sys.exit(main())
