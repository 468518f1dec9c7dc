"""Recovery programs of parts, as the workcell file gives them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.model import workcell_schema as schema
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.text.document import Document
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class RecoveryDescription:
    """How a part comes back after a fault."""

    program: str
    """YAML text."""
    automatic: bool
    until_event: str
    timeout: float
    """[s]"""
    cooldown: float
    """[s] from the end of a recovery to the next automatic one."""


def read_recoveries(
    content: schema.WorkcellFile, document: Document, folder: Path, mistakes: Mistakes
) -> dict[str, RecoveryDescription]:
    """Part → its recovery.

    Args:
        folder: relative paths of program files begin there.
        mistakes: gets those of programs that cannot be read, are not valid, or start nothing.
    """
    found = {}
    for name, part in content.parts.items():
        given = part.recovery if isinstance(part, schema.MovingPart) else None
        if given is None:
            continue
        place = document.root / "parts" / name / "recovery" / "program"
        with mistakes.collect():
            if isinstance(given.program, str):
                path = resolve_path(given.program, folder, str(place))
                template = ProgramTemplate.load(path)
            else:
                template = ProgramTemplate.of(document.part(*place.path))
            if not template.fill().definition.start:
                raise DefinitionError(str(place), expected="start: [id, …]", got="a program that starts no action")
            found[name] = RecoveryDescription(
                program=template.text,
                automatic=given.automatic,
                until_event=given.until_event,
                timeout=given.timeout,
                cooldown=given.cooldown,
            )
    return found
