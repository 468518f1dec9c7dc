"""What the control server does with programs: check them, add them to sessions, keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robot_rt_control.definitions.definitions import ActionDefinition
from robot_rt_control.program.catalogue import Catalogue, KnownPart
from robot_rt_control.program.check import SessionFacts, check_program
from robot_rt_control.program.file import FilledProgram, ProgramTemplate
from robot_rt_control.program.places import Mistakes, Places
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.preparation import PreparedAction
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class SavedProgram:
    """What became of a program that was to be saved."""

    version: int
    """0: it was only checked."""
    warnings: tuple[str, ...]


def catalogue(server: ServerCore) -> Catalogue:
    """What programs of this server are checked against."""
    parts = {
        name: KnownPart(
            kinds=(view.kind.name.lower(),),
            dof=view.dof,
            joint_unit=view.joint_unit,
        )
        for name, view in server.parts.items()
    }
    return Catalogue(
        types={t.name: t.action_type for t in server.types.all()},
        parts=parts,
        variables={name: variable.ref for name, variable in server.variables.items()},
    )


def check_for_session(server: ServerCore, program: FilledProgram, session: Session | None) -> list[str]:
    """Check a program for a session that is there, or for one to come. Returns warnings.

    Raises:
        DefinitionError: with the line; several as a ProgramError.
    """
    facts = None
    if session is not None:
        actions = server.contents(session).actions.values()
        facts = SessionFacts(
            parts=session.parts,
            actions={a.id: (a.type.action_type, frozenset(a.moved_parts)) for a in actions},
        )
    return check_program(program, catalogue(server), facts)


def prepare_with_places(
    prepare: Callable[[Sequence[ActionDefinition]], list[PreparedAction]],
    actions: Sequence[ActionDefinition],
    places: Places | None,
) -> list[PreparedAction]:
    """Run the code of the action types' authors; with places, all that they refuse is told, each with its line.

    Raises:
        DefinitionError: names what is wrong.
    """
    if places is None:
        return prepare(actions)
    mistakes, prepared = Mistakes(), []
    for action in actions:
        with mistakes.collect():
            try:
                prepared += prepare([action])
            except DefinitionError as error:
                raise places.locate(error, "actions", action.id) from None
    mistakes.raise_all()
    return prepared


def save_program(server: ServerCore, text: str, *, check_only: bool) -> SavedProgram:
    """Check a program and keep it as the next version of its name, or only check it.

    Raises:
        DefinitionError: with the line; several as a ProgramError; nothing is kept.
        RobotControlError: it cannot be kept.
    """
    template = ProgramTemplate(text)
    if not check_only:
        server.programs.name_to_save(text)
    warnings = check_program(template.sample(), catalogue(server))
    version = 0 if check_only else server.programs.save(text)
    return SavedProgram(version=version, warnings=tuple(warnings))
