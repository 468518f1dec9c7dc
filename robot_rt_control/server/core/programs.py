"""What the control server does with programs: check them, add them to sessions, keep them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from robot_rt_control.program.check import check_program
from robot_rt_control.program.file import ProgramTemplate, renamed
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.programs.program_store import StoredProgram
from robot_rt_control.server.sessions import Session
from robot_rt_control.validation.definitions import SessionFacts
from robot_rt_control.validation.edges import Edge
from robot_rt_control.validation.strategies import KeptStrategy


@dataclass(frozen=True, kw_only=True)
class SavedProgram:
    """What became of a program that was to be saved."""

    version: int
    """0: it was only checked."""
    warnings: tuple[str, ...]


def facts_of(server: ServerCore, session: Session, replaced: Collection[str] = ()) -> SessionFacts:
    """What `validation` needs to know of a session.

    Args:
        replaced: ids of actions that get new definitions, if they exist.
    """
    contents = server.connection.contents(session)
    kept = [a for a in contents.actions.values() if a.id not in replaced]
    owned = [*((a.id, r) for a in kept for r in a.reactions), *(("", r) for r in contents.reactions.values())]
    return SessionFacts(
        label=session.label,
        parts=session.parts,
        actions={a.id: (a.type.declared, frozenset(a.moved_parts)) for a in kept},
        axes={a.id: tuple(axis.name for axis in a.prepared.axes) for a in kept},
        used_ids=contents.used_ids - (contents.actions.keys() & set(replaced)),
        variables=contents.variables.refs,
        reactions=contents.reactions,
        edges=[
            Edge(owner=owner, reaction=r.definition, path=("reactions", r.name))
            for owner, r in owned
            if not r.mentions.isdisjoint(replaced)
        ],
        strategies=[
            KeptStrategy(action=a.id, axis=axis.name, definition=law.definition, law=law.type.declared, unit=law.unit)
            for a in kept
            if not a.mentions.isdisjoint(replaced)
            for axis in a.prepared.axes
            for law in axis.laws
        ],
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


def save_program(
    server: ServerCore, text: str, *, name: str = "", check_only: bool, based_on: int = 0
) -> SavedProgram:
    """Check a program and keep it as the next version of its name, or only check it.

    Args:
        text: YAML text; with `name`, also the name of a kept program, which is copied.
        name: keep it under this name instead of its own.
        based_on: the version that it was made from; 0: whatever there is.

    Raises:
        DefinitionError: with the line; several as a ProgramError; nothing is kept.
        Overtaken: another version has come since `based_on`.
        RobotControlError: it cannot be kept.
    """
    if name:
        text = renamed(server.programs.template(text).text, name)
    template = ProgramTemplate(text, find=server.programs.template)
    warnings = check_program(template.sample(), server.catalogue)
    version = 0 if check_only else server.programs.save(text, based_on=based_on or None)
    return SavedProgram(version=version, warnings=tuple(warnings))
