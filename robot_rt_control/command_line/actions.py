"""List the action types, or show one with its parameters, units and state variables."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("name", nargs="?", default="", help="only this type, with all that it declares")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output, table

    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        types = client.action_types(arguments.name)
    if arguments.name:
        output.result({"action_types": types}, *_one(types[0]))
        return 0
    rows = ((t.name, ", ".join(slot.name for slot in t.slots), t.description.partition("\n")[0]) for t in types)
    output.result({"action_types": types}, table(("action", "parts", "what it does"), rows))
    return 0


def _one(shown: Any) -> Iterator[Any]:
    from robot_rt_control.command_line.output import table

    yield f"{shown.name}: {shown.description}"
    sections: list[tuple[tuple[str, ...], Iterable[tuple[object, ...]]]] = [
        (
            ("part", "kinds", "", "role"),
            ((s.name, ", ".join(s.kinds), "moved" if s.moves else "read", s.description) for s in shown.slots),
        ),
        (
            ("parameter", "type", "unit", "default", "range", "what it does"),
            (
                (
                    *(p.name, p.type + ("" if p.length == "1" else f"[{p.length}]"), p.unit),
                    *("required" if p.required else p.default_value, _range(p), p.description),
                )
                for p in shown.parameters
            ),
        ),
        (
            ("stream", "direction", "values", "units", "what it carries"),
            (
                (s.name, "out" if s.is_output else "in", s.length, ", ".join(s.units), s.description)
                for s in shown.streams
            ),
        ),
        (
            ("state variable", "type", "unit", "what it tells"),
            ((v.name, v.type, v.unit, v.description) for v in shown.state_variables),
        ),
        (("signal",), ((name,) for name in shown.signals)),
    ]
    for columns, rows in sections:
        made = table(columns, rows)
        if made.row_count:
            yield ""
            yield made


def _range(parameter: Any) -> str:
    if parameter.choices:
        return " | ".join(parameter.choices)
    low, high = parameter.minimum, parameter.maximum
    if low == float("-inf") and high == float("inf"):
        return ""
    return f"{low:g} … {high:g}".replace("-inf", "").replace("inf", "").strip()
