"""What sessions define: actions and reactions, one by one or as programs, and the actions' parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace

from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.program.text_store import reference_of
from robot_rt_control.server.core.programs import check_for_session, facts_of
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.link.transactions import changes_of
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.definer import StartRefused
from robot_rt_control.text.document import Document
from robot_rt_control.validation.definitions import check_definitions
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command, Refusal
from robot_rt_control.vocabulary.errors import ChannelError, DefinitionError, RobotControlError
from robot_rt_control.vocabulary.names import SESSION


class Definitions:
    """All methods may be called from any thread."""

    def __init__(self, core: ServerCore) -> None:
        self._core, self._connection, self._sessions = core, core.connection, core.sessions

    def define(
        self,
        session_id: str,
        actions: Sequence[ActionDefinition],
        reactions: Sequence[ReactionDefinition] = (),
    ) -> int:
        """Add actions and free-standing reactions to a session: all of them or none.

        Returns:
            The tick from which they are there; gated: the next one.

        Raises:
            DefinitionError: names what is wrong, several mistakes as a ProgramError; nothing has changed, and the
                session lives on.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        program = ProgramDefinition(actions=tuple(actions), reactions=tuple(reactions))

        def check(session: Session) -> None:
            check_definitions(program, self._core.catalogue, facts_of(self._core, session))

        return self._add(session_id, program, check)

    def replace(self, session_id: str, actions: Sequence[ActionDefinition], start: Sequence[str] = ()) -> int:
        """Give actions new definitions under their ids, add those with new ids, and start some: all in one tick.

        Args:
            start: ids of the actions that start; none: active ones that are replaced.

        Returns:
            The tick of it; gated: the next one.

        Raises:
            DefinitionError: as `define`; also what does not fit reactions and strategies that refer to these actions.
            CommandRefused: what is to start cannot.
            SessionError, ChannelError: as `define`.
        """
        program = ProgramDefinition(actions=tuple(actions), start=tuple(start))
        ids = [action.id for action in actions]
        if not ids:
            raise DefinitionError("nothing to replace", expected="at least one action", got="none")

        def check(session: Session) -> None:
            check_definitions(program, self._core.catalogue, facts_of(self._core, session, ids))

        session = self._sessions.get(session_id)
        tick = self._replace_values(session, program) if len(ids) == 1 else 0
        if tick:
            return tick
        with self._sessions.starting(session) if start else nullcontext():
            try:
                return self._add(session_id, program, check, start=True)
            except StartRefused as refused:
                self._core.raise_refusal(Command.START, self._sessions.get(session_id), refused.actions, refused.answer)
                raise

    def _replace_values(self, session: Session, program: ProgramDefinition) -> int:
        """Replace an inactive action by one with other values, and nothing else: the loop needs no new tables for that.
        Returns the tick; 0: it is another case, and nothing has changed.

        Raises:
            as `replace`.
        """
        (given,) = program.actions
        if program.start not in ((), (given.id,)):
            return 0
        with session.setting:
            with self._core.changing:
                definer = self._connection.at().definer
                old = definer.contents(session).actions.get(given.id)
            prepared = None if old is None else definer.again(old, given)
            if old is None or prepared is None:
                return 0
            changes = changes_of(old.prepared.parameters, prepared.parameters)
            if changes is None:
                return 0
            last_start = session.last_start
            with self._sessions.starting(session) if program.start else nullcontext():
                with self._core.changing:
                    at, view = self._connection.at(), self._connection.snapshot()
                    if view is None or at.definer.contents(session).actions.get(given.id) is not old:
                        return 0
                    action = old.entry.slot, old.entry.identity
                    if view.active_since(action[1]) is not None or last_start > view.tick or not at.link.is_idle:
                        return 0  # it is active, or may be about to start
                    posted = at.link.post_changes(session.identity, action, changes, start=bool(program.start))
                    # Until the loop has answered, nobody knows its record: what differs from it must not be asked.
                    sent = definer.keep_parameters(session, old, replace(prepared, definition=None))
                answer = at.link.answer(posted)
            with self._core.changing:
                if definer.contents(session).actions.get(given.id) is sent and not answer.queued:
                    if answer.refusal == Refusal.NONE:
                        definer.keep_parameters(session, sent, prepared)
                    else:  # it may have taken them before it refused the start
                        with suppress(RobotControlError):  # then the next replacement needs new tables
                            definer.replace_parameters(session, sent, old.prepared)
        self._core.raise_refusal(Command.START if program.start else Command.SET_PARAMETERS, session, [old], answer)
        return answer.tick or self._connection.tick(0)

    def _add(
        self,
        session_id: str,
        program: ProgramDefinition,
        check: Callable[[Session], None],
        places: Document | None = None,
        *,
        start: bool = False,
    ) -> int:
        """Add what `check` finds right for the session."""
        definer, session = self._connection.at().definer, self._sessions.get(session_id)
        if program.actions:
            session.check_moves(f"define action {program.actions[0].id!r}")
        if any(reaction.start or reaction.stop or reaction.signal for reaction in program.reactions):
            session.check_moves("start, stop or signal anything by a reaction")
        before = definer.defined(session)
        check(session)
        prepared = definer.prepare(session, program.actions, places)
        with self._core.changing:
            session = self._sessions.get(session_id)  # it may have ended since, and the executor with it
            at = self._connection.at()
            if at.definer is not definer:
                raise ChannelError("the executor was exchanged while the actions were prepared", hint="Try again")
            for action in prepared:
                for used in (action.type, *(law.type for axis in action.axes for law in axis.laws)):
                    self._core.types.check_present(used, f"action {action.id!r}")
            if definer.defined(session) is not before:
                check(session)  # again: others may have defined or removed since
            return self._connection.tick(definer.define(session, program, prepared, start=start))

    def upload_program(
        self,
        session_id: str,
        program_or_name: str,
        parameters: Iterable[ParameterValue] = (),
        parts: Mapping[str, str] | Iterable[str] = (),
    ) -> ProgramDefinition:
        """Add everything of a program: all of it or nothing. Nothing starts by this.

        Args:
            program_or_name: YAML text, or the name of a kept program: "trace_edge", "trace_edge@2".
            parameters: values of its parameters; what is left out takes its default.
            parts: parts for its roles, role → part or "role=part".

        Raises:
            DefinitionError: with the line of the program; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        session = self._sessions.get(session_id)
        template = self._core.programs.template(program_or_name)
        program = template.fill(parameters=parameters, parts=parts, defined=self._connection.contents(session).actions)
        self.install_program(session_id, program)
        return program.definition

    def install_program(self, session_id: str, program: FilledProgram) -> list[str]:
        """Add everything of a program that has its values and parts. Returns warnings, with their lines.

        Raises:
            as `upload_program`.
        """
        warnings: list[str] = []

        def check(session: Session) -> None:
            warnings[:] = check_for_session(self._core, program, session)

        self._add(session_id, program.draft, check, program.places)
        self._sessions.get(session_id).program = reference_of(program.template)
        return warnings

    def remove(self, session_id: str, actions: Sequence[str], reactions: Sequence[str] = ()) -> int:
        """Remove actions and free-standing reactions: all of them or none. Parts of active ones take their default.

        Raises:
            DefinitionError: one does not exist, or another reaction refers to it; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._core.changing:
            at, session = self._connection.at(), self._sessions.get(session_id)
            return self._connection.tick(at.definer.remove(session, actions, reactions))

    def clear(self, session_id: str) -> int:
        """Remove everything that a session has defined, as one change. Its parts take their default action.

        Raises:
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._core.changing:
            has = self._connection.contents(self._sessions.get(session_id))
            if not has.actions and not has.reactions:
                return self._connection.tick(0)
            return self.remove(session_id, list(has.actions), list(has.reactions))

    def set_parameters(self, session_id: str, action: str, values: Iterable[ParameterValue]) -> int:
        """Change some of an action's parameters, all in the same tick. Returns that tick.

        Args:
            action: its id; "<action>.<degree of freedom>.<strategy>": parameters of that strategy; "session": write
                variables of the session.

        Raises:
            DefinitionError: no such action, or a value is not valid; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        if action == SESSION:
            return self._write_variables(session_id, values)
        self._sessions.get(session_id).check_moves("set parameters")
        if "." in action:
            return self._set_law_parameters(session_id, action, values)
        with self._sessions.get(session_id).setting:  # one after the other; the author's code may take long
            with self._core.changing:
                old = self._connection.at().definer.find(self._sessions.get(session_id), action)
                definer = self._connection.at().definer
            prepared = definer.with_values(old, values)
            with self._core.changing:
                session, at = self._sessions.get(session_id), self._connection.at()
                if at.definer is not definer:
                    raise ChannelError("the executor was exchanged while parameters were prepared", hint="Try again")
                definer.find(session, action)  # it may have been removed meanwhile
                if len(prepared.parameters) > capacities.PARAMETER_UPDATE_BYTES:
                    return self._connection.tick(definer.replace_parameters(session, old, prepared))
                entry = old.entry
                posted = at.link.post_parameters(session.identity, (entry.slot, entry.identity), prepared.parameters)
                # The loop may yet refuse them: what differs from them must not be asked.
                definer.keep_parameters(session, old, replace(prepared, definition=None))
        answer = at.link.answer(posted)
        self._core.raise_refusal(Command.SET_PARAMETERS, session, [old], answer)
        return answer.tick or self._connection.tick(0)

    def _write_variables(self, session_id: str, values: Iterable[ParameterValue]) -> int:
        with self._sessions.get(session_id).setting, self._core.changing:
            session, at = self._sessions.get(session_id), self._connection.at()
            variables = at.definer.write_variables(session, values)
            posted = at.link.post_parameters(session.identity, None, variables.record)
            at.definer.keep_variables(session, variables)
        answer = at.link.answer(posted)
        self._core.raise_refusal(Command.SET_PARAMETERS, session, [], answer)
        return answer.tick or self._connection.tick(0)

    def _set_law_parameters(self, session_id: str, name: str, values: Iterable[ParameterValue]) -> int:
        id_, _, rest = name.partition(".")
        axis, _, strategy = rest.rpartition(".")
        with self._sessions.get(session_id).setting:
            with self._core.changing:
                definer = self._connection.at().definer
                old = definer.find(self._sessions.get(session_id), id_)
            changed, i, k = definer.with_law_values(old, axis, strategy, values)
            with self._core.changing:
                session = self._sessions.get(session_id)
                if self._connection.at().definer is not definer:
                    raise ChannelError("the executor was exchanged while parameters were prepared", hint="Try again")
                definer.find(session, id_)  # it may have been removed meanwhile
                return self._connection.tick(definer.replace_law(session, changed, i, k))
