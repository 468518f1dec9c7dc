"""List the open sessions of all clients, with their parts and actions."""

from __future__ import annotations

import argparse
import math

from robot_rt_control.command_line.connection import add_workcell_arguments, connect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output, table

    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        sessions = client.sessions()
    shown = table(
        ("session", "name", "parts", "active", "actions", "program", "ends in"),
        (
            (
                *(s.id, s.name, "only watches" if s.read_only else ", ".join(s.parts)),
                "suspended" if s.suspended else ", ".join(s.active),
                *(len(s.actions), s.program, f"{s.remaining:.1f} s" if math.isfinite(s.remaining) else ""),
            )
            for s in sessions
        ),
    )
    output.result({"sessions": sessions}, shown if sessions else "no sessions")
    return 0
