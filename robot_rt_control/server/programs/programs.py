"""What the control server does with programs: check them, add them to sessions, keep them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import FilledProgram, ProgramTemplate, renamed
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.programs.program_store import StoredProgram
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
        variables=contents.variables.refs,
        reactions=contents.reactions,
    )


def check_for_session(server: ServerCore, program: FilledProgram, session: Session | None) -> list[str]:
    """Check a program for a session that is there, or for one to come. Returns warnings.

    Raises:
        DefinitionError: with the line; several as a ProgramError.
    """
    return check_program(program, server.catalogue, facts_of(server, session) if session is not None else None)


def find_programs(
    server: ServerCore, name: str = "", search: str = "", tags: Iterable[str] = ()
) -> list[StoredProgram]:
    """The kept program of this name; no name: all that `ProgramStore.all` finds.

    Raises:
        DefinitionError: there is none of this name.
    """
    return [server.programs.get(name)] if name else server.programs.all(search, tags)


def save_program(server: ServerCore, text: str, *, name: str = "", check_only: bool) -> SavedProgram:
    """Check a program and keep it as the next version of its name, or only check it.

    Args:
        text: YAML text; with `name`, also the name of a kept program, which is copied.
        name: keep it under this name instead of its own.

    Raises:
        DefinitionError: with the line; several as a ProgramError; nothing is kept.
        RobotControlError: it cannot be kept.
    """
    if name:
        text = renamed(server.programs.template(text).text, name)
    template = ProgramTemplate(text, find=server.programs.template)
    warnings = check_program(template.sample(), server.catalogue)
    version = 0 if check_only else server.programs.save(text)
    return SavedProgram(version=version, warnings=tuple(warnings))
