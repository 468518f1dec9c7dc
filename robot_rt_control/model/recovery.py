"""Recovery programs of parts, from the workcell file."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from robot_rt_control.model import workcell_schema as schema
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.yaml_source import Document
from robot_rt_control.program.file import parse_program
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class RecoveryDescription:
    """The recovery of a part after a fault."""

    program: str
    """YAML text."""
    automatic: bool
    until_event: str
    timeout: float
    """[s]"""
    cooldown: float
    """[s] from the end of a recovery to the next automatic one."""


def read_recoveries(content: schema.WorkcellFile, document: Document) -> dict[str, RecoveryDescription]:
    """Part → its recovery.

    Raises:
        DefinitionError: a program cannot be read, is not valid, or starts nothing.
    """
    found = {}
    for name, part in content.parts.items():
        given = part.recovery if isinstance(part, schema.MovingPart) else None
        if given is None:
            continue
        place = document.root / "parts" / name / "recovery" / "program"
        if isinstance(given.program, str):
            path = resolve_path(given.program, document.path.parent, str(place))
            try:
                text, source = path.read_text(encoding="utf-8"), path.name
            except (OSError, UnicodeDecodeError) as error:
                raise DefinitionError(str(place), expected="a program's YAML file", got=str(error)) from error
        else:
            text, source = yaml.safe_dump(given.program, sort_keys=False), str(place)
        if not parse_program(text, source=source).start:
            raise DefinitionError(str(place), expected="start: [id, …]", got="a program that starts no action")
        found[name] = RecoveryDescription(
            program=text,
            automatic=given.automatic,
            until_event=given.until_event,
            timeout=given.timeout,
            cooldown=given.cooldown,
        )
    return found
