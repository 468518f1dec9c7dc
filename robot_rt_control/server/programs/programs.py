"""What the control server does with programs: check them, add them to sessions, keep them."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import FilledProgram, ProgramTemplate
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.sessions import Session
from robot_rt_control.validation.definitions import SessionFacts


@dataclass(frozen=True, kw_only=True)
class SavedProgram:
    """What became of a program that was to be saved."""

    version: int
    """0: it was only checked."""
    warnings: tuple[str, ...]


def facts_of(server: ServerCore, session: Session) -> SessionFacts:
    """What `validation` needs to know of a session."""
    contents = server.contents(session)
    return SessionFacts(
        label=session.label,
        parts=session.parts,
        actions={a.id: (a.type.declared, frozenset(a.moved_parts)) for a in contents.actions.values()},
        axes={a.id: tuple(axis.name for axis in a.prepared.axes) for a in contents.actions.values()},
        used_ids=session.used_ids,
        reactions=contents.reactions,
    )


def check_for_session(server: ServerCore, program: FilledProgram, session: Session | None) -> list[str]:
    """Check a program for a session that is there, or for one to come. Returns warnings.

    Raises:
        DefinitionError: with the line; several as a ProgramError.
    """
    return check_program(program, server.catalogue, facts_of(server, session) if session is not None else None)


def save_program(server: ServerCore, text: str, *, check_only: bool) -> SavedProgram:
    """Check a program and keep it as the next version of its name, or only check it.

    Raises:
        DefinitionError: with the line; several as a ProgramError; nothing is kept.
        RobotControlError: it cannot be kept.
    """
    template = ProgramTemplate(text, find=server.programs.template)
    warnings = check_program(template.sample(), server.catalogue)
    version = 0 if check_only else server.programs.save(text)
    return SavedProgram(version=version, warnings=tuple(warnings))
