# PYTHON_ARGCOMPLETE_OK
"""Look at a workcell, start and stop its robots, examine files and this machine."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable, Sequence

from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.verbs import VERBS, Verb, find_verb, summary
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError

_EXAMPLES = """\
examples:
  %(prog)s status --live
  %(prog)s start move_joint --part arm position='[0, 0.3, 0, -1.6, 0, 1.2, 0]'
  %(prog)s stop
  %(prog)s trace --kind reaction_fired --json
  %(prog)s validate config/arm7.yaml my_program.yaml
  %(prog)s doctor

%(prog)s VERB --help describes a verb. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 no workcell answered,
130 interrupted. On a ROS 2 installation with ros2cli the same verbs are there as `ros2 rt VERB`.
"""


def add_verb(parser: argparse.ArgumentParser, verb: Verb) -> None:
    """Fill the parser of a verb, which may be ros2cli's."""
    parser.description = inspect.cleandoc(verb.__doc__ or "")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--json", action="store_true", help="print results as JSON: docs/command_line.md has the shape")
    verb.add_arguments(parser)


def verb_parser(
    prog: str, about: str | None, examples: str, verbs: Sequence[str], find: Callable[[str], Verb]
) -> argparse.ArgumentParser:
    """A command line of verbs; `find` imports the module of one."""
    made = argparse.ArgumentParser(
        prog=prog, description=about, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    added = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in verbs:
        verb = find(name)
        add_verb(added.add_parser(name, help=summary(verb)), verb)
    return made


def parser() -> argparse.ArgumentParser:
    """The command line of `robot-rt`."""
    return verb_parser("robot-rt", __doc__, _EXAMPLES, VERBS, find_verb)


def run_verb(verb: Verb, arguments: argparse.Namespace) -> int:
    """Run a verb, and print its error. Returns the exit code."""
    from robot_rt_control.command_line.output import Output  # slow

    try:
        code = verb.run(arguments)
        sys.stdout.flush()
        return code
    except RobotControlError as error:
        Output(as_json=arguments.json).error(error)
        return ExitCode.NO_WORKCELL if isinstance(error, NoAnswer) else ExitCode.FAILED
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE


def parsed(made: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """The words of a command line of verbs; no word at all is answered by the help."""
    if not (sys.argv[1:] if argv is None else argv):
        made.print_help(sys.stderr)
        made.exit(ExitCode.USAGE, f"\n{made.prog}: error: expected a verb; got none\n")
    return made.parse_args(argv)


def run_command_line(made: argparse.ArgumentParser, find: Callable[[str], Verb], argv: Sequence[str] | None) -> int:
    """Run the verb that a command line asks for, or complete it at the Tab key. Returns the exit code."""
    try:
        import argcomplete
    except ImportError:
        pass  # without it, there is no completion by the Tab key
    else:
        argcomplete.autocomplete(made)
    arguments = parsed(made, argv)
    return int(run_verb(find(arguments.verb), arguments))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    return run_command_line(parser(), find_verb, argv)


if __name__ == "__main__":
    sys.exit(main())
