"""The control server: one object that does all that the ROS node offers, without ROS.

All public methods may be called from several threads.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from robot_rt_control.model.workcell import Workcell
from robot_rt_control.program import capacities
from robot_rt_control.program.definitions import ActionDefinition, ParameterValue, ProgramDefinition, ReactionDefinition
from robot_rt_control.program.errors import (
    CapacityError,
    ChannelError,
    CommandRefused,
    DefinitionError,
    RobotControlError,
    SessionError,
    unknown,
)
from robot_rt_control.program.program_file import parse_program
from robot_rt_control.program.vocabulary import Command, EventKind, Refusal
from robot_rt_control.realtime.channel import Channel
from robot_rt_control.server import heartbeat
from robot_rt_control.server.action_types import ActionTypes
from robot_rt_control.server.attachment import Attachment
from robot_rt_control.server.entities import DefinedAction, SessionContents
from robot_rt_control.server.events import SESSION_ENDED, EventTranslator, ServerEvent
from robot_rt_control.server.part_view import PartView
from robot_rt_control.server.reasons import status_text
from robot_rt_control.server.refusals import explain
from robot_rt_control.server.sessions import Session, SessionRegistry
from robot_rt_control.server.snapshot_view import SnapshotView
from robot_rt_control.server.variables import workcell_variables

_log = logging.getLogger(__name__)

Listener = Callable[[ServerEvent], None]
"""Called for every event, in order, in the thread that found it: quick, and without calling the server."""


class ControlServer:
    """Sessions, definitions and commands over the channel to one executor.

    Args:
        workcell: the same that the executor has read.
        types: the action types, built.
        clock: monotonic time [s], for leases.

    Raises:
        DefinitionError: the workcell asks for an action type that does not exist.
    """

    def __init__(
        self, workcell: Workcell, types: ActionTypes, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.workcell, self.types = workcell, types
        self.parts = {p.name: PartView(p, self._raw_snapshot) for p in workcell.parts}
        for part in workcell.parts:
            for name in (part.default_action, part.safety_action):
                if name is not None:
                    types.get(name, f"part {part.name!r} of the workcell")
        self.variables = workcell_variables(workcell)
        self._refs = {name: v.ref for name, v in self.variables.items()}
        self._clock = clock
        self._sessions: SessionRegistry | None = None
        self._attachment: Attachment | None = None
        self._system_pending = False
        self._lost = ""
        self._changing = threading.RLock()
        self._emitting = threading.RLock()
        self._listeners: list[Listener] = []
        self._sequence = 0
        heartbeat.prepare()

    # --- life -----------------------------------------------------------------------------------

    def attach(self, channel: Channel, *, while_waiting: Callable[[], None] | None = None) -> None:
        """Take the place of the control server at an executor, and install default and safety actions.

        Args:
            channel: from `Channel.attach`, or a private one.
            while_waiting: where executor and server share one thread: lets the executor do its part. Then there are
                no threads, no heartbeats, and `poll` hands out the events.

        Raises:
            ChannelError: the executor does not answer; the server is not attached.
        """
        with self._changing:
            self.detach("the control server attached anew")
            if channel.memory.server_pid == 0:
                channel.claim_server()
            first = int(channel.memory.server_epoch) == 1
            if self._sessions is None:
                prefix = "s" if first else f"s{int(channel.memory.server_epoch)}_"
                self._sessions = SessionRegistry(self.parts, clock=self._clock, prefix=prefix)
            self._translator: EventTranslator
            self._lost = ""
            attachment = Attachment(
                channel,
                self.types,
                self.parts,
                self._refs,
                on_event=self._take_event,
                on_lost=self._take_loss,
                while_waiting=while_waiting,
            )
            self._translator = EventTranslator(
                attachment.directory,
                list(self.parts),
                [p.joint_names for p in self.workcell.parts],
                self.session_of_part,
            )
            self._attachment = attachment
            try:
                if not first:
                    # Tables of a server before this one may be active, with parameters wherever they are.
                    attachment.definer.install_nothing(attachment.system_identity)
                self._system_pending = True
                if first or not attachment.link.gated:
                    self._install_system()
            except BaseException:
                self.detach("the executor did not take the system's actions")
                raise

    def _install_system(self) -> None:
        at = self._at()
        types = [(p.default_action, p.safety_action) for p in self.workcell.parts]
        at.definer.install_system(at.system_identity, list(self.parts.values()), types)
        self._system_pending = False

    def detach(self, reason: str) -> None:
        """Leave the executor; all sessions end with the reason, and the loop brings their parts to safety."""
        with self._changing:
            attachment, self._attachment = self._attachment, None
            if attachment is None:
                return
            attachment.close()
            self._end_all(reason)

    @property
    def lost(self) -> str:
        """Why the executor is gone; empty: attached, or never attached. `detach` and `attach` again."""
        return self._lost

    @property
    def attached(self) -> bool:
        """Whether there is an executor."""
        return self._attachment is not None and not self._lost

    @property
    def gated(self) -> bool:
        """Whether the loop ticks on request only: then commands are not awaited."""
        return self._at().link.gated

    def _at(self) -> Attachment:
        if self._attachment is None:
            raise ChannelError("there is no executor: the control server is not attached", hint="Start the executor")
        if self._lost:
            raise ChannelError(f"there is no executor: {self._lost}", hint="Start the executor again")
        return self._attachment

    def _registry(self) -> SessionRegistry:
        self._at()
        assert self._sessions is not None  # made with the first attachment
        return self._sessions

    def poll(self) -> None:
        """To be called every 50 ms or so: ends sessions whose lease has run out, and tidies up the tables."""
        attachment = self._attachment
        if attachment is None or self._lost:
            return
        if attachment.without_threads:
            attachment.link.dispatch()
        with self._changing:
            for session in self._registry().overdue():
                self._close(session, f"its client did not renew it for its lease of {session.lease:g} s")
            self._tidy()

    def _tidy(self) -> None:
        """What waits for a good moment: the system's actions after a server before this one, sessions that ended."""
        at = self._at()
        if self._system_pending and at.store.all_taken:
            self._install_system()
        if at.retiring and not at.link.gated:
            gone = set(at.retiring)
            at.definer.remove_sessions(gone)
            at.retiring -= gone

    # --- sessions -------------------------------------------------------------------------------

    def open_session(self, name: str, parts: Sequence[str], lease: float = -1.0) -> Session:
        """Take the exclusive right to move some parts.

        Args:
            name: for people; may be empty.
            lease: [s]; 0: until closed; negative: the default.

        Raises:
            DefinitionError: an unknown part, or none.
            SessionError: a part is taken; names the holder.
            ChannelError: there is no executor.
        """
        with self._changing:
            at = self._at()
            session = self._registry().open(name, parts, lease, at.store.new_identity())
            at.directory.sessions[session.identity] = session.id
        return session

    def session(self, session_id: str) -> Session:
        """A living session.

        Raises:
            SessionError: there is none; tells why it ended where there was one.
        """
        return self._registry().get(session_id)

    def sessions(self) -> list[Session]:
        """All living sessions, the oldest first."""
        return self._sessions.live() if self._sessions is not None else []

    def session_of_part(self, part: str) -> str:
        """Id of the session that holds a part; empty: none."""
        holder = self._sessions.holder_of(part) if self._sessions is not None else None
        return holder.id if holder is not None else ""

    def renew_session(self, session_id: str) -> None:
        """Count a session's lease from now.

        Raises:
            SessionError: there is no such session.
        """
        self._registry().renew(session_id)

    def close_session(self, session_id: str) -> None:
        """End a session: its actions end, and their parts take their safety action.

        Raises:
            SessionError: there is no such session.
            ChannelError: the executor did not answer; the session has ended all the same.
        """
        with self._changing:
            self._close(self.session(session_id), "closed by its client")

    def _close(self, session: Session, reason: str) -> None:
        at = self._at()
        try:
            if session.identity in at.store.sessions:
                if at.link.gated:
                    at.link.send(
                        Command.END_SESSION,
                        session=session.identity,
                        on_transaction=lambda number: at.ending.update({number: session.identity}),
                    )
                else:
                    at.link.send(Command.END_SESSION, session=session.identity)
        finally:
            self._end(session, reason)
        try:
            self._tidy()
        except RobotControlError:
            _log.warning("the tables could not be tidied up yet", exc_info=True)

    def _end(self, session: Session, reason: str) -> None:
        """The session's end, once the loop knows of it."""
        if self._sessions is None or not self._sessions.end(session, reason):
            return
        attachment = self._attachment
        tick, time_ns = (0, 0) if attachment is None else attachment.now()
        self._emit(
            ServerEvent(
                kind=SESSION_ENDED,
                session=session.id,
                tick=tick,
                time_ns=time_ns,
                part=", ".join(session.parts),
                reason=reason,
            )
        )
        if attachment is None:
            return
        if session.identity not in attachment.store.sessions:
            attachment.directory.forget([session.identity])
        elif session.identity not in attachment.ending.values():
            attachment.retiring.add(session.identity)

    def _end_all(self, reason: str) -> None:
        for session in self.sessions():
            self._end(session, reason)

    # --- definitions ----------------------------------------------------------------------------

    def define(
        self, session_id: str, actions: Sequence[ActionDefinition], reactions: Sequence[ReactionDefinition] = ()
    ) -> int:
        """Add actions and free-standing reactions to a session: all of them or none.

        Returns:
            The tick from which they are there; gated: the next one.

        Raises:
            DefinitionError: names what is wrong; nothing has changed, and the session lives on.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._changing:
            session = self.session(session_id)
            return self._tick(self._at().definer.define(session, actions, reactions))

    def upload_program(self, session_id: str, text: str) -> ProgramDefinition:
        """Add everything of a program in YAML: all of it or nothing. Nothing starts by this.

        Raises:
            DefinitionError: with the line of the program; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._changing:
            session = self.session(session_id)
            program = parse_program(text, defined=self.contents(session).actions)
            foreign = [p for p in program.parts if p not in session.parts]
            if foreign:
                raise DefinitionError(
                    f"the program moves part {foreign[0]!r}",
                    expected=f"parts of {session.label}: {', '.join(session.parts)}",
                    got="a part that the session does not hold",
                )
            self._at().definer.define(session, program.actions, program.reactions)
        return program

    def remove(self, session_id: str, actions: Sequence[str], reactions: Sequence[str] = ()) -> int:
        """Remove actions and free-standing reactions: all of them or none. Parts of active ones take their default.

        Raises:
            DefinitionError: one does not exist, or another reaction refers to it; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._changing:
            return self._tick(self._at().definer.remove(self.session(session_id), actions, reactions))

    def set_parameters(self, session_id: str, action: str, values: Iterable[ParameterValue]) -> int:
        """Change some of an action's parameters, all in the same tick. Returns that tick.

        Raises:
            DefinitionError: no such action, or a value is not valid; nothing has changed.
            SessionError: there is no such session.
            ChannelError: there is no executor.
        """
        with self._changing:
            return self._tick(self._at().definer.set_parameters(self.session(session_id), action, values))

    def contents(self, session: Session) -> SessionContents:
        """What a session has defined."""
        return self._at().definer.contents(session)

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
        for i, action in enumerate(found):
            for other in found[:i]:
                shared = sorted(set(action.moved_parts) & set(other.moved_parts))
                if shared:
                    raise DefinitionError(
                        f"actions {other.id!r} and {action.id!r} cannot start together",
                        expected="actions that share no part",
                        got=f"both move {', '.join(shared)}",
                    )
        return self._command(Command.START, session, found, target_tick=target_tick)

    def stop(self, session_id: str, actions: Sequence[str] = ()) -> int:
        """Stop actions, without names all of the session; their parts take their default action. Returns the tick.

        Raises:
            as `start`.
        """
        if not actions:
            session = self.session(session_id)
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
        if answer.refusal != Refusal.NONE:
            if session.end_reason:
                self.session(session.id)  # raises, with the reason
            raise explain(command, answer.refusal, actions, target_tick, self.snapshot())
        if signal_name and at.signal_dropped(answer.transaction):
            raise CommandRefused(
                f"signal {signal_name!r} was dropped",
                expected="an active action",
                got=f"action {actions[0].id!r}, which is not active",
                hint="Start it first",
            )
        return answer.tick if not answer.queued else target_tick or self._tick(0)

    def set_speed(self, speed: float) -> None:
        """Set the speed override, 0 to 1.

        Raises:
            DefinitionError: not from 0 to 1.
            ChannelError: there is no executor, or it is silent.
        """
        if not 0.0 <= speed <= 1.0:
            raise DefinitionError("speed override", expected="0 (standing still) to 1 (full speed)", got=f"{speed:g}")
        self._at().link.send(Command.SET_SPEED, value=speed)

    def set_motion(self, parts: Sequence[str], command: str) -> None:
        """Enable or disable the motion of parts, or clear their faults.

        Args:
            parts: empty: all parts, each as far as it can.
            command: enable, disable or clear_faults.

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
            at.link.send(words[command], part=-1)
        for name in parts:
            answer = at.link.send(words[command], part=self.parts[name].index)
            if answer.refusal != Refusal.NONE:
                view = self.snapshot()
                fault = view.fault(self.parts[name].index) if view is not None else ""
                raise CommandRefused(
                    f"{command} of part {name!r} was refused",
                    got=fault or "a part whose position is not known, or whose fault persists",
                    hint="Remove the cause, then clear_faults, then enable",
                )

    # --- looking --------------------------------------------------------------------------------

    def _raw_snapshot(self) -> np.record | None:
        return self._attachment.snapshot() if self._attachment is not None and not self._lost else None

    def snapshot(self) -> SnapshotView | None:
        """The last tick; None: there was none yet, or there is no executor."""
        raw = self._raw_snapshot()
        return SnapshotView(raw) if raw is not None else None

    def action_name(self, identity: int) -> str:
        """Id of an action by its identity; empty: none, or an action of the system."""
        at = self._attachment
        action = at.directory.actions.get(identity) if at is not None else None
        if at is None or action is None or action.entry.session == 0:
            return ""
        return action.id

    # --- events ---------------------------------------------------------------------------------

    def add_listener(self, listener: Listener) -> None:
        """Tell `listener` every event from now on."""
        with self._emitting:
            self._listeners = [*self._listeners, listener]

    def remove_listener(self, listener: Listener) -> None:
        """Tell it no more."""
        with self._emitting:
            self._listeners = [entry for entry in self._listeners if entry is not listener]

    def _emit(self, event: ServerEvent) -> None:
        with self._emitting:
            self._sequence += 1
            numbered = replace(event, sequence=self._sequence)
            for listener in self._listeners:
                try:
                    listener(numbered)
                except Exception:
                    _log.exception("a listener could not handle %s", numbered)

    def _take_event(self, raw: np.record) -> None:
        """In the dispatcher's thread."""
        event = self._translator.translate(raw)
        self._emit(event)
        if event.kind == "action_failed" and event.session:
            status = status_text(int(raw["status"]))
            self._end_by_id(event.session, f"action {event.current_action!r} failed: {status}")
        elif int(raw["kind"]) == EventKind.SERVER_LOST:
            self._end_all("the executor heard nothing from the control server, and ended all sessions")
            attachment = self._attachment
            if attachment is not None:
                attachment.channel.renew_server()

    def _end_by_id(self, session_id: str, reason: str) -> None:
        if self._sessions is None:
            return
        try:
            session = self._sessions.get(session_id)
        except SessionError:
            return
        self._end(session, reason)

    def _take_loss(self, reason: str) -> None:
        """In the dispatcher's thread, or in that of an installation."""
        self._lost = reason
        self._end_all(reason)
