"""Stop robots: the protective stop of the whole workcell, or the actions of a session.

Stopping needs no secret: every client may do it. Without arguments, all actions end, all parts brake and hold, and
nothing starts until `release`, and then `resume`. This is no safety function: an emergency stop is hardware.
"""

from __future__ import annotations

import argparse

from robot_rt_control.command_line.connection import add_workcell_arguments, connect, person


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--session", default="", metavar="ID", help="stop the actions of this session; it stays open")
    group.add_argument("--all-actions", action="store_true", help="stop the actions of all sessions; they stay open")
    group.add_argument("--release", action="store_true", help="release the protective stop; nothing starts by itself")
    parser.add_argument("--source", default="", metavar="NAME", help="of the protective stop; each latches by itself")
    parser.add_argument("--reason", default="", help="of the protective stop, for those who see it")
    parser.add_argument("actions", nargs="*", metavar="ACTION", help="with --session: only these")
    parser.set_defaults(usage_error=parser.error)
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    if arguments.actions and not arguments.session:
        arguments.usage_error(f"actions {', '.join(arguments.actions)}: expected --session ID; got none")
    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        if arguments.release:
            tick, done = client.release(arguments.source, who=person()), "the protective stop is released"
        elif arguments.session:
            tick = client.stop_session(arguments.session, *arguments.actions)
            done = f"{', '.join(arguments.actions) or 'all actions'} of session {arguments.session} stopped"
        elif arguments.all_actions:
            tick, done = client.stop_all(), "the actions of all sessions stopped"
        else:
            tick = client.protective_stop(arguments.reason, source=arguments.source, who=person())
            done = "all parts brake and hold until `release`"
    output.result({"tick": tick, "done": done}, f"{done} (tick {tick})")
    return 0
