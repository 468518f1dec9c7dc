"""The control server: one object that does all that the ROS node offers, without ROS.

All public methods may be called from several threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.model.workcell import Workcell
from robot_rt_control.program.file import FilledProgram
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.events.reasons import fault_remedy
from robot_rt_control.server.link.refusals import explain
from robot_rt_control.server.link.snapshot_view import SnapshotView
from robot_rt_control.server.link.transactions import Answer
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.programs.programs import check_for_session, facts_of
from robot_rt_control.server.runs.recovery import Recoveries
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.streams.stream_hub import OpenedStream
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.text.document import Document
from robot_rt_control.validation.conflicts import not_together
from robot_rt_control.validation.definitions import check_definitions
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command, OperationalState, Refusal
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    ChannelError,
    CommandRefused,
    DefinitionError,
    raise_all,
    unknown,
)

_SNAPSHOT_WAIT_S = 0.1


class ControlServer(ServerCore):
    """Sessions, definitions and commands over the channel to one executor."""

    def __init__(
        self,
        workcell: Workcell,
        types: ActionTypes,
        *,
        clock: Callable[[], float] = time.monotonic,
        builder: Builder | None = None,
        programs: ProgramStore | None = None,
    ) -> None:
        super().__init__(workcell, types, clock=clock, builder=builder, programs=programs)
        self.recoveries = Recoveries(self, workcell.recoveries, clock=clock)

    def poll(self) -> None:
        """Also drives recoveries."""
        super().poll()
        self.recoveries.poll()

    # --- action types ---------------------------------------------------------------------------

    def load_action_types(
        self, source: str | type[ActionType] = "", *, code: str = "", replace: bool = False
    ) -> tuple[str, ...]:
        """Load action types while the loop runs: see `TypeKeeper.load`. Returns their names."""
        return self._keeper.load(source, code=code, replace=replace)

    def unload_action_types(self, names: Sequence[str]) -> None:
        """Unload action types that no action has: see `TypeKeeper.unload`."""
        self._keeper.unload(names)

    # --- definitions ----------------------------------------------------------------------------

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
            check_definitions(program, self.catalogue, facts_of(self, session))

        return self._add(session_id, program, check)

    def _add(
        self,
        session_id: str,
        program: ProgramDefinition,
        check: Callable[[Session], None],
        places: Document | None = None,
    ) -> int:
        """Add what `check` finds right for the session."""
        definer, session = self._at().definer, self.session(session_id)
        if program.actions:
            session.check_moves(f"define action {program.actions[0].id!r}")
        if any(reaction.start or reaction.stop or reaction.signal for reaction in program.reactions):
            session.check_moves("start, stop or signal anything by a reaction")
        before = definer.defined(session)
        check(session)
        prepared = definer.prepare(program.actions, places)
        with self._changing:
            session = self.session(session_id)  # it may have ended meanwhile, and the executor with it
            if self._at().definer is not definer:
                raise ChannelError("the executor was exchanged while the actions were prepared", hint="Try again")
            for action in prepared:
                self.types.check_present(action.type, f"action {action.id!r}")
            if definer.defined(session) is not before:
                check(session)  # again: others may have defined or removed meanwhile
            return self._tick(definer.define(session, program, prepared))

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
        session = self.session(session_id)
        template = self.programs.template(program_or_name)
        program = template.fill(parameters=parameters, parts=parts, defined=self.contents(session).actions)
        self.install_program(session_id, program)
        return program.definition

    def install_program(self, session_id: str, program: FilledProgram) -> list[str]:
        """Add everything of a program that has its values and parts. Returns warnings, with their lines.

        Raises:
            as `upload_program`.
        """
        warnings: list[str] = []

        def check(session: Session) -> None:
            warnings[:] = check_for_session(self, program, session)

        self._add(session_id, program.draft, check, program.places)
        self.session(session_id).program = program.template.name
        return warnings

    def remove(self, session_id: str, actions: Sequence[str], reactions: Sequence[str] = ()) -> int:
        """Remove actions and free-standing reactions: all of them or none. Parts of active ones take their default.

        Raises:
            DefinitionError: one does not exist, or another reaction refers to it; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._changing:
            return self._tick(self._at().definer.remove(self.session(session_id), actions, reactions))

    def clear(self, session_id: str) -> int:
        """Remove everything that a session has defined, as one change. Its parts take their default action.

        Raises:
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._changing:
            has = self.contents(self.session(session_id))
            if not has.actions and not has.reactions:
                return self._tick(0)
            return self.remove(session_id, list(has.actions), list(has.reactions))

    def set_parameters(self, session_id: str, action: str, values: Iterable[ParameterValue]) -> int:
        """Change some of an action's parameters, all in the same tick. Returns that tick.

        Raises:
            DefinitionError: no such action, or a value is not valid; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        self.session(session_id).check_moves("set parameters")
        with self.session(session_id).setting:  # one after the other; the author's code may take long
            with self._changing:
                old = self._at().definer.find(self.session(session_id), action)
                definer = self._at().definer
            prepared = definer.with_values(old, values)
            with self._changing:
                session, at = self.session(session_id), self._at()
                if at.definer is not definer:
                    raise ChannelError("the executor was exchanged while parameters were prepared", hint="Try again")
                definer.find(session, action)  # it may have been removed meanwhile
                if len(prepared.parameters) > capacities.PARAMETER_UPDATE_BYTES:
                    return self._tick(definer.replace_parameters(session, old, prepared))
                entry = old.entry
                posted = at.link.post_parameters(session.identity, (entry.slot, entry.identity), prepared.parameters)
                definer.keep_parameters(session, old, prepared)
        answer = at.link.answer(posted)
        self._refuse(Command.SET_PARAMETERS, session, [old], answer)
        return answer.tick or self._tick(0)


    def _tick(self, tick: int) -> int:
        """The tick of an answer; where nobody has answered yet, that of the next step."""
        return tick or self._at().now()[0] + 1

    # --- commands -------------------------------------------------------------------------------

    def start(self, session_id: str, actions: Sequence[str], target_tick: int = 0) -> int:
        """Start actions, all in the same tick or none.

        Args:
            target_tick: 0: the next one.

        Returns:
            The tick in which they started; gated: in which they will.

        Raises:
            DefinitionError: no such action, or two that use the same part.
            CommandRefused: the loop refused; nothing has started.
            SessionError: there is no such session.
            ChannelError: there is no executor, or it is silent.
        """
        session, found = self._find(session_id, actions, "start")
        raise_all(not_together([(action.id, action.moved_parts) for action in found]))
        return self._command(Command.START, session, found, target_tick=target_tick)

    def stop(self, session_id: str, actions: Sequence[str] = ()) -> int:
        """Stop actions, without names all of the session; their parts take their default action. Returns the tick.

        Args:
            session_id: empty, and no actions: all actions of all sessions, in one tick. The sessions live on.

        Raises:
            as `start`.
        """
        if not session_id and not actions:
            answer = self._at().link.send(Command.STOP_SESSION)
            return answer.tick or self._tick(0)
        if not actions:
            session = self.session(session_id)
            session.check_moves("stop anything")
            if not self.contents(session).actions:
                return self._tick(0)
            return self._command(Command.STOP_SESSION, session, [])
        session, found = self._find(session_id, actions, "stop")
        return self._command(Command.STOP, session, found)

    def signal(self, session_id: str, action: str, signal: str) -> int:
        """Raise a signal to an active action. Returns the tick in which the action sees it.

        Raises:
            DefinitionError: no such action or signal.
            CommandRefused: the action is not active; the signal was dropped.
            SessionError, ChannelError: as `start`.
        """
        session, (target,) = self._find(session_id, [action], "signal")
        signals = target.type.action_type.signals
        if signal not in signals:
            raise DefinitionError(
                f"action {action!r} (type {target.type.name!r}) has no signal {signal!r}",
                expected=unknown("signal", signal, signals),
                got=repr(signal),
            )
        return self._command(Command.SIGNAL, session, [target], signal=signals.index(signal), signal_name=signal)

    def _find(self, session_id: str, actions: Sequence[str], what: str) -> tuple[Session, list[DefinedAction]]:
        with self._changing:
            session = self.session(session_id)
            session.check_moves(f"{what} anything")
            definer = self._at().definer
            found = [definer.find(session, name) for name in actions]
        if not found:
            raise DefinitionError(f"nothing to {what}", expected="at least one action", got="none")
        if len({a.id for a in found}) < len(found):
            raise DefinitionError(f"an action to {what} is named twice", expected="each once", got=repr(list(actions)))
        if len(found) > capacities.MAX_ACTIONS_PER_COMMAND:
            raise CapacityError(
                f"too many actions to {what} in one tick",
                expected=f"at most {capacities.MAX_ACTIONS_PER_COMMAND} (MAX_ACTIONS_PER_COMMAND)",
                got=str(len(found)),
            )
        return session, found

    def _command(
        self,
        command: Command,
        session: Session,
        actions: Sequence[DefinedAction],
        *,
        target_tick: int = 0,
        signal: int = 0,
        signal_name: str = "",
    ) -> int:
        at = self._at()
        answer = at.link.send(
            command,
            session=session.identity,
            actions=[(a.entry.slot, a.entry.identity) for a in actions],
            target_tick=target_tick,
            signal=signal,
        )
        self._refuse(command, session, actions, answer, target_tick)
        if signal_name and at.signal_dropped(answer.transaction):
            raise CommandRefused(
                f"signal {signal_name!r} was dropped",
                expected="an active action",
                got=f"action {actions[0].id!r}, which is not active",
                hint="Start it first",
            )
        return answer.tick if not answer.queued else target_tick or self._tick(0)

    def _refuse(
        self,
        command: Command,
        session: Session,
        actions: Sequence[DefinedAction],
        answer: Answer,
        target_tick: int = 0,
    ) -> None:
        """Raise what a refusal of the loop means, if it is one."""
        if answer.refusal == Refusal.NONE:
            return
        if session.end_reason:
            self.session(session.id)  # raises, with the reason
        view = self.snapshot_after(answer.tick)
        raise explain(command, answer, actions, target_tick, view, self.fault_file)

    # --- streams --------------------------------------------------------------------------------

    def open_stream(self, session_id: str, action: str, stream: str) -> OpenedStream:
        """Get ready for the samples of a new source.

        Raises:
            DefinitionError: no such action, or it has no such stream input.
            SessionError, ChannelError: as `start`.
        """
        session, found = self._stream_of(session_id, action)
        return self._at().streams.open(session.id, found, stream)

    def write_stream(
        self,
        session_id: str,
        action: str,
        stream: str,
        values: Sequence[float] | np.ndarray,
        *,
        valid: Sequence[bool] = (),
        time: float | None = None,
        sequence: int = 0,
        tick: int = 0,
    ) -> bool:
        """Write one sample of a stream input. What is refused is counted, and reported by an event.

        Args:
            values: shape (n,); where the stream takes rates, also (2 n,), the rates behind the values.
            valid: which of them are given; empty: all. The others keep what they were.
            time: when the sample was made, on its source's clock [s]; only differences count. None: now.
            sequence: counts the samples of a source from 1; 0: not counted.
            tick: from which it holds; 0: the server chooses, see StreamTiming.

        Returns:
            Whether the loop will see it. False: it is out of order or too early, or too many wait for their tick.

        Raises:
            DefinitionError: no such action or stream, wrong number of values, or not finite.
            SessionError, ChannelError: as `start`.
        """
        session, found = self._stream_of(session_id, action)
        return self._at().streams.write(
            session.id, found, stream, values, valid=valid, source_time=time, sequence=sequence, tick=tick
        )

    def _stream_of(self, session_id: str, action: str) -> tuple[Session, DefinedAction]:
        """Without waiting for a definition that is being made: samples come in all the time."""
        session = self.session(session_id)
        return session, self._at().definer.find(session, action)

    def set_speed(self, speed: float) -> None:
        """Set the speed override, 0 to 1.

        Raises:
            DefinitionError: not from 0 to 1.
            ChannelError: there is no executor, or it is silent.
        """
        if not 0.0 <= speed <= 1.0:
            raise DefinitionError("speed override", expected="0 (standing still) to 1 (full speed)", got=f"{speed:g}")
        self._at().link.send(Command.SET_SPEED, value=speed)

    def protective_stop(self, stop: bool, reason: str = "") -> int:
        """End all actions, brake and hold all parts, and start nothing until it is released; or release it.

        Args:
            reason: why, for those who see it.

        Returns:
            The tick in which it took effect.

        Raises:
            ChannelError: there is no executor, or it is silent.
        """
        at = self._at()
        if stop:
            at.channel.memory.stop_reason = reason.encode()[:255]
        answer = at.link.send(Command.PROTECTIVE_STOP if stop else Command.RELEASE_PROTECTIVE_STOP)
        return answer.tick if not answer.queued else self._tick(0)

    def set_motion(self, parts: Sequence[str], command: str) -> str:
        """Enable or disable the motion of parts, or clear their faults.

        Args:
            parts: empty: all parts, each as far as it can.
            command: enable, disable or clear_faults.

        Returns:
            A remark: which parts are still not enabled; empty: none.

        Raises:
            DefinitionError: unknown part or command; nothing was done.
            CommandRefused: a part refused; the parts before it are done.
            ChannelError: there is no executor, or it is silent.
        """
        words = {"enable": Command.ENABLE, "disable": Command.DISABLE, "clear_faults": Command.CLEAR_FAULTS}
        if command not in words:
            raise DefinitionError("motion command", expected=unknown("command", command, words), got=repr(command))
        for part in parts:
            if part not in self.parts:
                raise DefinitionError("unknown part", expected=unknown("part", part, self.parts), got=repr(part))
        at = self._at()
        if not parts:
            answer = at.link.send(words[command], part=-1)
            if command == "enable" and not answer.queued:
                return self._not_enabled(answer.tick)
        for name in parts:
            answer = at.link.send(words[command], part=self.parts[name].index)
            if answer.refusal != Refusal.NONE:
                view = self.snapshot_after(answer.tick)
                index = self.parts[name].index
                fault = view.fault(index) if view is not None else ""
                remedy = fault_remedy(view.fault_reason(index)) if view is not None else ""
                log = self.fault_file(name)
                raise CommandRefused(
                    f"{command} of part {name!r} was refused",
                    got=(fault or "a part whose position is not known, or whose fault persists")
                    + (f" (the last ticks: {log})" if log else ""),
                    hint=f"Remove the cause{': ' + remedy if remedy else ''}, then clear_faults, then enable",
                )
        return ""

    def _not_enabled(self, tick: int) -> str:
        view = self.snapshot_after(tick)
        if view is None:
            return ""
        left = []
        for part in self.workcell.parts:
            state, fault = view.operational_state(part.index), view.fault(part.index)
            if state != OperationalState.ENABLED:
                left.append(f"{part.name} ({state.name.lower()}{': ' + fault if fault else ''})")
        return f"not enabled: {', '.join(left)}" if left else ""

    # --- looking --------------------------------------------------------------------------------

    def snapshot(self) -> SnapshotView | None:
        """The last tick; None: there was none yet, or there is no executor."""
        raw = self._raw_snapshot()
        return SnapshotView(raw) if raw is not None else None

    def snapshot_after(self, tick: int) -> SnapshotView | None:
        """The snapshot of this tick or a later one: answers come in the middle of a tick, the snapshot at its end."""
        deadline = time.monotonic() + _SNAPSHOT_WAIT_S
        while True:
            view = self.snapshot()
            if view is None or view.tick >= tick or time.monotonic() > deadline:
                return view
            time.sleep(0.0005)
