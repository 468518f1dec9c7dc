"""Show a plan: what it reaches, what touches when, how it was found, and the result of the verification.

It needs neither MuJoCo nor PIQP.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_rt_control.planning.plan.plan import Plan

_UNITS = {
    "position_error": "m",
    "error_to_plan": "m",
    "error_to_target": "m",
    "moved": "m",
    "spread": "m",
    "orientation_error": "rad",
    "peak": "N",
    "impulse": "N s",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `Verb`."""
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a plan file")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw it, .png")


def run(arguments: argparse.Namespace) -> int:
    """See `Verb`."""
    from robot_rt_control.command_line.output import Output, table
    from robot_rt_control.command_line.planning.contacts import contacts_of
    from robot_rt_control.planning.plan.plan import Plan

    output = Output(as_json=arguments.json)
    plan = Plan.load(arguments.plan)
    header, contacts = plan.header, contacts_of(plan)
    if arguments.picture is not None:
        from robot_rt_control.drawing.pictures import require_pictures

        require_pictures()
        from robot_rt_control.command_line.plan_pictures import draw_plan

        draw_plan(plan, arguments.picture)
    if output.as_json:
        output.result({"header": header, "contacts": contacts})
        return 0
    success = "solved" if not plan.lacking else "planned, NOT VERIFIED" if header["success"] else "NOT SOLVED"
    error = f"{1e3 * header['position_error']:.1f} mm ({100 * header['normalized_error']:.2f} % of the way)"
    rows = [
        ("body", f"{header['body']}, to {_triple(header['target'][0])} m"),
        ("result", f"{success}; {error} and {header['orientation_error']:.3f} rad are left"),
        *((("lacking", "; ".join(plan.lacking)),) if plan.lacking else ()),
        ("horizon", f"{header['time']:g} s in {header['steps']} steps"),
        ("joints", ", ".join(header["joints"])),
        ("driven by", "velocity" if all(header["velocity_driven"]) else "effort"),
        ("feedback", _feedback(plan)),
        ("made with", ", ".join(f"{name} {version}" for name, version in header["versions"].items())),
        ("workcell", f"digest {header['workcell']:x}"),
    ]
    output.result(None, table(("plan", str(arguments.plan)), rows))
    output.result(None, "", _contact_table(contacts))
    if header["convergence"]:
        output.result(None, "", _convergence_table(header["convergence"]))
    if verification := header.get("verification"):
        output.result(None, "", *_verification(verification))
    if arguments.picture is not None:
        output.note(f"{arguments.picture} shows it")
    return 0


def _feedback(plan: Plan) -> str:
    if plan.feedback is None:
        return "none: the same motion wherever the body is"
    return f"of the body's pose, given a sensor: at most {1e3 * plan.feedback.bounds[0]:.0f} mm aside"


def _triple(values: Any) -> str:
    return "(" + ", ".join(f"{value:.3f}" for value in values) + ")"


def _contact_table(contacts: Any) -> Any:
    from robot_rt_control.command_line.output import table

    columns = ("pair", "touches, s", "nearest", "greatest virtual force")
    return table(
        columns,
        (
            (
                contact.pair,
                ", ".join(f"{a:.2f} to {b:.2f}" for a, b in contact.intervals) or "never",
                f"{1e3 * contact.nearest:.1f} mm at {contact.nearest_at:.2f} s",
                f"{contact.virtual_force:.2g} N at {contact.virtual_at:.2f} s" if contact.virtual_force else "none",
            )
            for contact in contacts
        ),
    )


def _convergence_table(convergence: Any) -> Any:
    from robot_rt_control.command_line.output import table

    columns = ("iteration", "penalty", "error", "turned", "k mean", "k most", "accepted")
    return table(
        columns,
        (
            (
                i,
                f"{row['penalty']:.3g}",
                f"{100 * row['normalized_error']:.1f} %",
                f"{row['orientation_error']:.3f} rad",
                f"{row['stiffness_average']:.3f}",
                f"{row['stiffness_greatest']:.3f}",
                "yes" if row["accepted"] else "no",
            )
            for i, row in enumerate(convergence)
        ),
    )


def _verification(found: dict[str, Any]) -> list[Any]:
    """Tables of its lists, and lines of all else: its shape is verify.py's."""
    from robot_rt_control.command_line.output import table

    shown: list[Any] = []
    for name, value in found.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            columns = sorted((key for key, item in value[0].items() if not isinstance(item, list)), key=_later)
            rows = ([_shown(row.get(column)) for column in columns] for row in value)
            heads = [f"{column}, {_UNITS[column]}" if column in _UNITS else column for column in columns]
            shown.append(table([f"{name}: {heads[0]}", *heads[1:]], rows))
        elif isinstance(value, dict):
            items = (f"{key} {_shown(item)} {_UNITS.get(key, '')}".rstrip() for key, item in value.items())
            shown.append(f"{name}: " + ", ".join(items))
        else:
            shown.append(f"{name}: {_shown(value)} {_UNITS.get(name, '')}".rstrip())
    return shown


def _later(column: str) -> bool:
    """What a row is about comes first."""
    return column not in ("name", "speed")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return "" if value is None else str(value)
