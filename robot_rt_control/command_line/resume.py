"""After a released protective stop: let sessions start motion again. Nothing starts by itself.

Without a session: of all that are suspended; `sessions` lists them.
"""

from __future__ import annotations

import argparse

from robot_rt_control.command_line.connection import add_workcell_arguments, connect, person


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("sessions", nargs="*", metavar="SESSION", help="ids; none: all that are suspended")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        sessions = arguments.sessions or [s.id for s in client.sessions() if s.suspended]
        ticks = {session: client.resume_session(session, who=person()) for session in sessions}
    shown = [f"session {session} is resumed (tick {tick})" for session, tick in ticks.items()]
    output.result({"resumed": ticks}, *(shown or ["no session is suspended"]))
    return 0
