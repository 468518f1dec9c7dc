"""Recovery programs of parts, from the workcell file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.text.document import Document, read_text
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES


@dataclass(frozen=True, kw_only=True)
class RecoveryDescription:
    """The recovery of a part after a fault."""

    program: Document
    """Checked by `program.recovery_programs`, for who runs it."""
    place: str
    """Of the program in the workcell file, for messages."""
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
        mistakes: gets those of programs that cannot be read.
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
                program = Document(read_text(path, MAX_PROGRAM_BYTES), path.name, max_bytes=MAX_PROGRAM_BYTES)
            else:
                program = document.part(*place.path)
            found[name] = RecoveryDescription(
                program=program,
                place=str(place),
                automatic=given.automatic,
                until_event=given.until_event,
                timeout=given.timeout,
                cooldown=given.cooldown,
            )
    return found
