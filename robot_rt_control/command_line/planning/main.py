# PYTHON_ARGCOMPLETE_OK
"""Plan motions through contact: which face of a body to touch, where and when, so that it moves to a target."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robot_rt_control.command_line.main import run_command_line, verb_parser
from robot_rt_control.command_line.planning.verbs import VERBS, find_verb

_EXAMPLES = """\
examples:
  %(prog)s new my_push.yaml --workcell push
  %(prog)s check my_push.yaml
  %(prog)s solve push_box distance=0.2 -o push.plan
  %(prog)s show push.plan --picture push.png
  %(prog)s replay push.plan
  %(prog)s export push.plan -o push.csv
  %(prog)s compare push_box penalty.schedule=additive post_processing.hill_climbing=true

%(prog)s VERB --help describes a verb; docs/planning.md leads from nothing to a pushed box. new, check, show and export
need neither MuJoCo nor PIQP. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 no workcell answered, 130 Ctrl-C.
"""


def parser() -> argparse.ArgumentParser:
    """The command line of `robot-rt-control-plan`."""
    return verb_parser("robot-rt-control-plan", __doc__, _EXAMPLES, VERBS, find_verb)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    return run_command_line(parser(), find_verb, argv)


if __name__ == "__main__":
    sys.exit(main())
