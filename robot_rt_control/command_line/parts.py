"""List the parts of the workcell, or show one with its joints and limits."""

from __future__ import annotations

import argparse
from typing import Any

from robot_rt_control.command_line.connection import add_workcell_arguments, connect
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("name", nargs="?", default="", help="only this part, with its joints")
    add_workcell_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output, table

    output = Output(as_json=arguments.json)
    with connect(arguments) as client:
        parts = client.parts()
    if arguments.name:
        found = [part for part in parts if part.name == arguments.name]
        if not found:
            known = unknown("part", arguments.name, [part.name for part in parts])
            raise DefinitionError(f"part {arguments.name!r}", expected=known)
        parts = found
    overview = table(
        ("part", "kind", "joints", "commands", "state", "tool", "session", "device", "fault"),
        (
            (
                *(p.name, p.kind, len(p.joint_names), ", ".join(p.command_modes)),
                *(p.operational_state, _tool(p), p.session, p.device, p.fault),
            )
            for p in parts
        ),
    )
    output.result({"parts": parts}, overview, *((_joints(parts[0]),) if arguments.name else ()))
    return 0


def _tool(part: Any) -> str:
    """The tool that is on, and the others: "gripper (driver, none)"."""
    others = [name for name in part.tools if name != part.tool]
    return f"{part.tool} ({', '.join(others)})" if others else part.tool


def _joints(part: Any) -> Any:
    from robot_rt_control.command_line.output import table

    limits = ("position_lower", "position_upper", "velocity_limit", "acceleration_limit", "jerk_limit", "effort_limit")
    return table(
        ("joint", "unit", "lowest", "highest", "velocity", "acceleration", "jerk", "effort"),
        (
            (name, part.joint_units[j], *(f"{getattr(part, limit)[j]:.6g}" for limit in limits))
            for j, name in enumerate(part.joint_names)
        ),
    )
