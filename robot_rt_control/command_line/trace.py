"""Print the events of all sessions as they happen, one in each line, until Ctrl-C."""

from __future__ import annotations

import argparse
import queue
import time
from typing import TYPE_CHECKING, Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.vocabulary.event_kinds import Kind

if TYPE_CHECKING:
    from robot_rt_control.client import Event

_LOOK_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    add = parser.add_argument
    add("--session", default="", metavar="ID", help="only events of this session")
    add("--part", default="", help="only events that concern this part")
    kinds = [k.value for k in Kind]
    text = f"only this kind; may be repeated. One of {', '.join(kinds)}"
    add("--kind", action="append", default=[], choices=kinds, metavar="KIND", help=text)
    add("--name", default="", help="only the event that a reaction emits under this name")
    add("--past", action="store_true", help="begin with the last events that the control server keeps, up to 1000")
    add("--count", type=int, default=0, metavar="N", help="end after this number of events")
    add("--limit", type=float, default=0.0, metavar="SECONDS", help="end after this time")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output

    output = Output(as_json=arguments.json)
    arrived: queue.SimpleQueue[Event] = queue.SimpleQueue()
    deadline = time.monotonic() + arguments.limit if arguments.limit else None
    with connect(arguments) as client:
        client.add_listener(arrived.put)
        stamp = client.executor_status().stamp
        since = 0.0 if arguments.past else stamp.sec + stamp.nanosec * 1e-9
        printed = 0
        while (not arguments.count or printed < arguments.count) and (deadline is None or time.monotonic() < deadline):
            try:
                event = _next(client, arrived)
            except KeyboardInterrupt:
                break
            if event is not None and _wanted(event, since, arguments):
                output.result(event, line(event))
                printed += 1
        client.remove_listener(arrived.put)
    return 0


def _next(client: Any, arrived: queue.SimpleQueue[Event]) -> Event | None:
    """The next event; None: there is none yet."""
    try:
        if client.backend.threaded:
            return arrived.get(timeout=_LOOK_S)
        client.sleep(_LOOK_S)
        return arrived.get_nowait()
    except queue.Empty:
        return None


def _wanted(event: Event, since: float, arguments: argparse.Namespace) -> bool:
    return (
        (event.time >= since or event.kind == Kind.EVENTS_LOST)  # a loss has no time
        and arguments.session in ("", event.session)
        and (not arguments.part or arguments.part in event.part.split(", "))
        and (not arguments.kind or event.kind in arguments.kind)
        and arguments.name in ("", event.name)
    )


def line(event: Event) -> str:
    """An event for people."""
    actions = event.current_action
    if event.previous_action:
        actions = f"{event.previous_action} -> {event.current_action or '-'}"
    strategy = f"{event.degree_of_freedom}: {event.from_strategy or '-'} -> {event.to_strategy or '-'}"
    values = " ".join(f"{name}={value:.6g}" for name, value in event.values.items())
    words = (
        *(f"{event.time:.3f}", f"{event.tick:>8}", event.session or "-", event.kind, event.name),
        *(event.reaction and f"[{event.reaction}]", actions, strategy if event.degree_of_freedom else ""),
        *(event.part and f"({event.part})", values, event.reason, event.file),
    )
    return "  ".join(filter(None, words))
