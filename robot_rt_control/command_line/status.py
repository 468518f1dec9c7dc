"""Show what the loop, its parts and the sessions are doing.

It needs the executor alone; without a control server the sessions are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.vocabulary.enums import LOCKSTEP
from robot_rt_control.vocabulary.errors import NoAnswer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("--live", action="store_true", help="show it again and again, until Ctrl-C")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from rich.live import Live

    from robot_rt_control.command_line.output import Output

    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        if not arguments.live:
            data = _look(client)
            output.result(data, _shown(data))
            return 0
        try:
            if arguments.json:
                while True:
                    output.result(_look(client))
            with Live(console=output.out, auto_refresh=False) as live:
                while True:
                    try:
                        shown = _shown(_look(client))
                    except NoAnswer as error:  # the workcell may come back
                        shown = str(error)
                    live.update(shown, refresh=True)
        except KeyboardInterrupt:
            return 0


def _look(client: Any) -> dict[str, Any]:
    status = client.executor_status()  # waits for the next one: a few times a second
    sessions = None
    if status.server_attached:
        # It may have just died: what the executor says is worth more than an error.
        with contextlib.suppress(NoAnswer):
            sessions = client.sessions()
    return {"executor": status, "sessions": sessions}


def _shown(data: dict[str, Any]) -> Any:
    from rich.console import Group

    from robot_rt_control.command_line.output import table

    status, sessions = data["executor"], data["sessions"]
    lines = table(("", ""), _lines(status, sessions))
    lines.show_header = False
    parts = table(
        ("part", "state", "tool", "session", "action", "fault"),
        (
            (
                *(p.name, p.operational_state, p.tool, p.session, p.active_action),
                " ".join(filter(None, (p.fault, p.fault_file))),
            )
            for p in status.parts
        ),
    )
    unmonitored = [f"{p.name} is not monitored: {'; '.join(p.unmonitored)}" for p in status.parts if p.unmonitored]
    return Group(lines, "", parts, *unmonitored)


def _lines(status: Any, sessions: Any) -> list[tuple[str, str]]:
    pace = f"every {status.period * 1e3:g} ms, clock {status.clock}"
    if not math.isnan(status.real_time_factor):
        pace += f", {status.real_time_factor:.2f} of real time"
    stop = "no"
    if status.protective_stop:
        stop = "in force: nothing moves until each of these is released"
    stops = [(f"  {s.source}", _stop(s)) for s in status.stops]
    missed = f"{status.deadline_misses} deadlines (policy: {status.overrun_policy}), {status.events_lost} events"
    server = "not attached: no sessions, no commands"
    if status.server_attached:
        server = "does not answer" if sessions is None else f"attached, {len(sessions)} sessions"
    return [
        ("loop", f"{status.lifecycle_state}, tick {status.tick}, {pace}"),
        ("thread", status.scheduler),
        ("compute", _times(status, "compute")),
        ("lateness", _times(status, "lateness")),
        ("missed", missed),
        ("speed", f"{status.speed * 100:.0f} %"),
        ("protective stop", stop),
        *stops,
        ("control server", server),
    ]


def _stop(stop: Any) -> str:
    said = [stop.reason if stop.reason != stop.source else "", stop.who, f"since tick {stop.tick}"]
    return ", ".join(filter(None, [*said, "needs its secret" if stop.needs_secret else ""]))


def _times(status: Any, what: str) -> str:
    if math.isnan(getattr(status, f"{what}_p50")):
        return "not measured" + (" in simulated time" if status.clock == LOCKSTEP else "")
    shown = (("p50", "median"), ("p99", "p99"), ("p999", "p99.9"), ("max", "longest"))
    return ", ".join(f"{word} {getattr(status, f'{what}_{suffix}') * 1e6:.0f} µs" for suffix, word in shown)
