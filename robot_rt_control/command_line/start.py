"""Run an action or a program in a session of its own, and wait for its end. Ctrl-C cancels it.

WHAT is an action type (`actions` lists them), a program file, or the name of a kept program. An action takes its
parts as PART or SLOT=PART; a program takes ROLE=PART. The run belongs to the control server: if this command is killed,
it goes on; `stop` ends it.
"""

from __future__ import annotations

import argparse
import signal
import threading
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.command_line.exit_codes import ExitCode
from robot_rt_control.command_line.values import assignment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("what", metavar="WHAT", help="action type, program file, or program: name, name@version")
    parser.add_argument(
        "values", nargs="*", type=assignment, metavar="NAME=VALUE", help="parameters: speed=0.1 'linear=[0, 0, -0.1]'"
    )
    parser.add_argument(
        "--part",
        action="append",
        default=[],
        dest="parts",
        metavar="PART",
        help="arm, or SLOT=PART, ROLE=PART; may be repeated",
    )
    parser.add_argument(
        "--until", default="", help="of an action: a condition; of a program: an event (default: when it is done)"
    )
    parser.add_argument("--limit", type=float, default=0.0, metavar="SECONDS", help="longest time to run (none)")
    parser.add_argument("--program", action="store_true", help="WHAT is a program, even if an action has this name")
    add_workcell_arguments(parser)
    allow_values_after_options(parser)


def allow_values_after_options(parser: argparse.ArgumentParser) -> None:
    """`WHAT --part arm NAME=VALUE`: argparse takes all positional words in one go, unless asked for this."""
    plain = parser.parse_known_args

    def intermixed(args: Any = None, namespace: Any = None) -> Any:
        setattr(parser, "parse_known_args", plain)  # noqa: B010  # which parse_known_intermixed_args calls
        try:
            return parser.parse_known_intermixed_args(args, namespace)
        finally:
            setattr(parser, "parse_known_args", intermixed)  # noqa: B010

    setattr(parser, "parse_known_args", intermixed)  # noqa: B010


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        return run_until_end(
            client,
            output,
            arguments.what,
            arguments.parts,
            dict(arguments.values),
            is_action=not arguments.program and arguments.what in [t.name for t in client.action_types()],
            until=arguments.until,
            limit_s=arguments.limit,
        )


def run_until_end(
    client: Any,
    output: Any,
    what: str,
    parts: list[str],
    values: dict[str, Any],
    *,
    is_action: bool,
    until: str,
    limit_s: float,
    **options: Any,
) -> int:
    """Run an action or a program; Ctrl-C and SIGTERM cancel it, the second time they break the wait off.

    Args:
        options: further ones of `Programs.run`.
    """
    from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

    end: dict[str, Any] = {"until" if is_action else "until_event": until, "timeout_s": limit_s, **options}
    for name in end.keys() & values.keys():
        raise DefinitionError(f"parameter {name!r}", expected="a parameter of the run", hint="See --until and --limit")
    cancelled = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def cancel(*_: object) -> None:
        cancelled.set()
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, cancel)
    try:
        with output.err.status("starting …") as status:

            def progress(feedback: Any) -> None:
                event = f", last event {feedback.last_event}" if feedback.last_event else ""
                status.update(f"{feedback.active_action or 'nothing active'}, {feedback.elapsed:.1f} s{event}")

            do = client.run_action if is_action else client.programs.run
            outcome = do(what, parts, on_progress=progress, cancelled=cancelled, **end, **values)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    event = f"; last event: {outcome.last_event}" if outcome.last_event else ""
    if output.as_json:
        output.result(outcome)
    elif outcome.success:
        output.good(f"done after {outcome.ticks} ticks{event}")
    else:
        output.error(RobotControlError(f"{outcome.message or 'it did not succeed'}{event}"))
    if outcome.success:
        return ExitCode.DONE
    return ExitCode.INTERRUPTED if cancelled.is_set() else ExitCode.FAILED
