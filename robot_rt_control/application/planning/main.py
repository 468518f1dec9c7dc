"""Plan motions through contact: which face of a body to touch, where and when, so that it moves to a target."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robot_rt_control.application.command_line.main import add_verb, run_verb
from robot_rt_control.application.command_line.verbs import summary
from robot_rt_control.application.planning.verbs import VERBS, find_verb

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
    made = argparse.ArgumentParser(
        prog="robot-rt-control-plan",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in VERBS:
        verb = find_verb(name)
        add_verb(verbs.add_parser(name, help=summary(verb)), verb)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    arguments = parser().parse_args(argv)
    return int(run_verb(find_verb(arguments.verb), arguments))


if __name__ == "__main__":
    sys.exit(main())
