"""The core of the control server: the attachment to an executor, sessions, and events with names."""

from __future__ import annotations

import hmac
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.stops import Stop, latched_stops, secret_digest
from robot_rt_control.model.catalogue import workcell_catalogue, workcell_variables
from robot_rt_control.model.workcell import Workcell
from robot_rt_control.recording.fault_log import promised_log
from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.events.event_hub import EventHub, Listener
from robot_rt_control.server.events.events import EventTranslator, ServerEvent
from robot_rt_control.server.events.session_ends import SessionEnds, Stamp
from robot_rt_control.server.lease_clock import LeaseClock
from robot_rt_control.server.link import heartbeat
from robot_rt_control.server.link.refusals import explain
from robot_rt_control.server.link.snapshot_view import SnapshotView
from robot_rt_control.server.link.transactions import Answer
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.sessions import Session, SessionRegistry
from robot_rt_control.server.tables.definer import system_actions
from robot_rt_control.server.tables.entities import DefinedAction, SessionContents
from robot_rt_control.server.tables.part_view import PartView
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.validation.definitions import check_definitions
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import DETACHED_ENDED, Authority, Command, Refusal
from robot_rt_control.vocabulary.errors import ChannelError, RobotControlError, SessionError
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)

_SNAPSHOT_WAIT_S = 0.1

SampleListener = Callable[[OutputSample], None]


class ServerCore:
    """Attachment, sessions and events. All methods may be called from any thread; arguments: see ControlServer."""

    def __init__(
        self,
        workcell: Workcell,
        types: ActionTypes,
        *,
        clock: Callable[[], float] = time.monotonic,
        programs: ProgramStore | None = None,
    ) -> None:
        self.workcell, self.types = workcell, types
        self.parts = {p.name: PartView(p, self._measured) for p in workcell.parts}
        for view in self.parts.values():
            view.workcell = MappingProxyType(self.parts)
        for part in workcell.parts:
            for name in (part.default_action, part.safety_action):
                if name is not None:
                    types.get(name, f"part {part.name!r} of the workcell")
        self.variables = workcell_variables(workcell)
        self._catalogue = workcell_catalogue(workcell, ())
        self.programs = programs or ProgramStore()
        self._clock = clock
        self._sessions: SessionRegistry | None = None
        self._attachment: Attachment | None = None
        self._translator: EventTranslator
        self._system_pending = False
        self._lost = ""
        self.changing = threading.RLock()
        """Held while definitions and sessions change: for moments only, never while code of users runs."""
        self._hub = EventHub()
        self._ends = SessionEnds(self._hub.emit)
        self.on_poll: list[Callable[[], None]] = []
        """Called at each `poll`, without any lock."""
        self._sample_listeners: list[SampleListener] = []
        heartbeat.prepare()

    @property
    def catalogue(self) -> Catalogue:
        """What definitions are checked against."""
        return replace(self._catalogue, types={t.name: t.declared for t in self.types.all()})

    # --- life -----------------------------------------------------------------------------------

    def attach(self, channel: Channel, *, while_waiting: Callable[[], None] | None = None) -> None:
        """Take the place of the control server at an executor, and install default and safety actions.

        Args:
            channel: from `Channel.attach`, or a private one.
            while_waiting: if executor and server share one thread: lets the executor do its part. Then there are
                no threads, no heartbeats, and `poll` hands out the events.

        Raises:
            ChannelError: the executor does not answer; the server is not attached.
        """
        with self.changing:
            self.detach("the control server attached again")
            if not channel.server_attached:
                channel.claim_server()
            first = int(channel.memory.server_epoch) == 1
            self._ends.flush()
            if self._sessions is None:
                prefix = "s" if first else f"s{int(channel.memory.server_epoch)}_"
                self._sessions = SessionRegistry(self.parts, clock=self._clock, prefix=prefix)
            patient = bool(channel.memory.simulated) and while_waiting is None
            self._sessions.shortest_lease = defaults.SIMULATED_LEASE_S if patient else 0.0
            self._lost = ""
            attachment = Attachment(
                channel,
                self.types,
                self.parts,
                self._catalogue.variables or {},
                on_event=self._take_event,
                on_lost=self._take_loss,
                while_waiting=while_waiting,
                period=self.workcell.period,
                after_dispatch=self._after_dispatch,
                on_refused_sample=self._take_refused_sample,
                clock=self._clock,
            )
            self._translator = EventTranslator(
                attachment.directory,
                list(self.parts),
                [p.motor_names or p.joint_names for p in self.workcell.parts],
                self.session_of_part,
                log_file=lambda number: promised_log(bytes(channel.memory.fault_files), number),
                stops=lambda: attachment.stops(),
            )
            self._attachment = attachment
            self._set_clocks(self._sessions, attachment, simulated=patient)
            try:
                attachment.start()
                if not first:
                    # Tables of an earlier server may be active, with parameters in any place.
                    attachment.definer.install_nothing(attachment.system_identity)
                self._system_pending = True
                if first or not attachment.link.gated:
                    self._install_system()
            except BaseException:
                self.detach("the executor did not take the system's actions")
                raise

    def _set_clocks(self, sessions: SessionRegistry, attachment: Attachment, *, simulated: bool) -> None:
        """What leases and deadlines count."""
        if attachment.without_threads:  # nobody else runs: nobody stands still
            sessions.lease_clock = sessions.deadline_clock = self._clock
            return

        def simulated_time() -> float:
            return attachment.now()[1] * 1e-9

        sessions.lease_clock = LeaseClock(self._clock, simulated_time if simulated else None)
        sessions.longest_stall = math.inf if simulated else defaults.LEASE_STALL_S
        sessions.deadline_clock = simulated_time if simulated else self._clock

    @property
    def is_changing(self) -> bool:
        """Whether another thread holds `changing` at this moment."""
        if self.changing.acquire(blocking=False):
            self.changing.release()
            return False
        return True

    def _install_system(self) -> None:
        at = self.at()
        wanted = system_actions(self.workcell.parts)
        check_definitions(ProgramDefinition(actions=tuple(wanted)), self.catalogue)
        at.definer.install_system(at.system_identity, self.parts, wanted)
        self._system_pending = False

    def detach(self, reason: str) -> None:
        """Leave the executor; all sessions end with the reason, and the loop brings their parts to safety."""
        with self.changing:
            attachment, self._attachment = self._attachment, None
            if attachment is None:
                return
            attachment.close()
            self._end_all(reason)
            self._ends.flush()

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
        return self.at().link.gated

    def used_types(self) -> dict[RegisteredType, str]:
        """The types that actions have, each with one of these actions."""
        store = self._attachment.store if self._attachment is not None else None
        return store.used_types() if store is not None else {}

    def at(self) -> Attachment:
        if self._attachment is None:
            raise ChannelError("there is no executor: the control server is not attached", hint="Start the executor")
        if self._lost:
            raise ChannelError(f"there is no executor: {self._lost}", hint="Start the executor again")
        return self._attachment

    def tick(self, tick: int) -> int:
        """The tick of an answer; 0, as nobody has answered yet: the next one."""
        return tick or self.at().now()[0] + 1

    def _registry(self) -> SessionRegistry:
        self.at()
        assert self._sessions is not None  # made with the first attachment
        return self._sessions

    def poll(self) -> None:
        """Call it about every 50 ms: it ends sessions whose lease has run out, and tidies up the tables."""
        attachment = self._attachment
        if attachment is None or self._lost:
            return
        if attachment.without_threads:
            attachment.link.dispatch()
        attachment.streams.poll()
        with self.changing:
            for session, reason in self._registry().overdue():
                self._close(session, reason)
            for session, gone in self._registry().to_detach():
                self._detach(session, gone)
            self._tidy()
        lost = attachment.new_losses()
        if lost:
            reason = f"the loop could not report {lost} events: the control server did not take them in time"
            self._tell(Kind.EVENTS_LOST, reason=reason)
        for call in self.on_poll:
            call()

    def _tidy(self) -> None:
        """What waits for a good moment: the system's actions after an earlier server, sessions that ended."""
        at = self.at()
        if self._system_pending and at.store.all_taken:
            self._install_system()
        if not at.link.gated:  # there the next change does it: tables change at known steps only
            at.definer.tidy()

    # --- sessions -------------------------------------------------------------------------------

    def open_session(
        self,
        name: str,
        parts: Sequence[str],
        lease: float = -1.0,
        *,
        read_only: bool = False,
        deadline: float = 0.0,
        unprotected: bool = False,
        detached: float = 0.0,
    ) -> Session:
        """Take the exclusive right to move some parts; or, read-only, none of them.

        Args:
            name: for people; may be empty.
            lease: [s]; 0: until closed; negative: the default.
            read_only: `parts` is empty; it watches and reacts with events.
            deadline: [s] after which it ends, renewed or not; 0: none.
            unprotected: it gets no secret: anybody may command it.
            detached: [s] for which it may go on without client or server; 0: not at all.

        Raises:
            DefinitionError: an unknown part, or none.
            CapacityError: the name is too long, or there are too many sessions.
            SessionError: a part is taken; names the holder.
            ChannelError: there is no executor.
        """
        self.take_events()  # so that the event of its opening carries the present tick
        with self.changing:
            at = self.at()
            identity = at.store.new_identity()
            session = self._registry().open(
                name,
                parts,
                lease,
                identity,
                read_only=read_only,
                deadline=deadline,
                unprotected=unprotected,
                detached=detached,
            )
            if detached > 0:
                at.store.detached[identity] = max(round(detached / self.workcell.period), 1)
            at.directory.sessions[session.identity] = session.id
            self._tell_guarded()
            self._tell(Kind.SESSION_OPENED, session=session.id, parts=session.parts)
            if not read_only and at.stops()["latched"].any():
                self._suspend(session)
        return session

    def session(self, session_id: str) -> Session:
        """A living session.

        Raises:
            SessionError: there is none; if it has ended, the message says why.
        """
        return self._registry().get(session_id)

    def authorize(self, session_id: str, secret: str, what: str, *, operator: bool = False) -> Session:
        """A living session that a caller outside of this process may command.

        Args:
            secret: what the caller gave; empty: nothing.
            what: it is to do, for the message: "start_actions".
            operator: the operator's secret will do, too.

        Raises:
            SessionError: there is no such session, or this is not its secret.
        """
        session = self.session(session_id)
        if not (operator and self.authority(secret) == Authority.OPERATOR):
            session.check_secret(secret, what)
        return session

    def authority(self, secret: str) -> Authority:
        """What a caller outside of this process may do beyond stopping and slowing down.

        Args:
            secret: what the caller gave; empty: nothing.
        """
        operator = self.at().channel.memory.operator
        if operator.any() and hmac.compare_digest(secret_digest(secret).tobytes(), operator.tobytes()):
            return Authority.OPERATOR
        guarded = self._guarded()
        known = [hmac.compare_digest(session.secret.encode(), secret.encode()) for session in guarded]
        return Authority.GIVEN if not guarded or any(known) else Authority.NONE

    def _guarded(self) -> list[Session]:
        return [session for session in self.sessions() if session.secret and session.parts]

    def _tell_guarded(self) -> None:
        """Let the executor know whether sessions with a secret hold parts: its own service asks for authority then."""
        attachment = self._attachment
        if attachment is not None:
            attachment.guarded(len(self._guarded()))

    def holder_of(self, part: str) -> Session | None:
        """The session that holds a part."""
        return self._sessions.holder_of(part) if self._sessions is not None else None

    def sessions(self) -> list[Session]:
        """All living sessions, the oldest first."""
        return self._sessions.live() if self._sessions is not None else []

    def remaining(self, session: Session) -> float:
        """[s] until a session ends unless it is renewed; inf: until it is closed."""
        assert self._sessions is not None  # it has made the session
        return self._sessions.remaining(session)

    def session_of_part(self, part: str) -> str:
        """Id of the session that holds a part; empty: none."""
        holder = self.holder_of(part)
        return holder.id if holder is not None else ""

    def contents(self, session: Session) -> SessionContents:
        """What a session has defined."""
        return self.at().definer.contents(session)

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
        with self.changing:
            session = self.session(session_id)
            session.closed_by_client = True
            self._close(session, "closed by its client")

    def _detach(self, session: Session, gone: bool) -> None:
        """The client of a detached session is lost, or there again."""
        at = self.at()
        if session.identity not in at.store.sessions:  # nothing of it can be active
            if gone:
                self._close(session, f"its client did not renew it for its lease of {session.lease:g} s")
            return
        at.link.send(Command.DETACH, session=session.identity, value=float(gone))
        session.counting = gone

    def _close(self, session: Session, reason: str) -> None:
        at = self.at()
        try:
            if session.identity in at.store.sessions:
                at.link.send(
                    Command.END_SESSION,
                    session=session.identity,
                    on_transaction=lambda number: at.ending.update({number: session.identity}),
                )
        except RobotControlError:
            for number in [n for n, identity in at.ending.items() if identity == session.identity]:
                del at.ending[number]  # nobody will answer
            self._end(session, reason, self._stamp())
            raise
        self._end(session, reason)
        try:
            self._tidy()
        except RobotControlError:
            _log.warning("the tables could not be tidied up yet", exc_info=True)

    def _end(self, session: Session, reason: str, at: Stamp | None = None) -> None:
        """The session's end, once the loop knows of it. Its event follows the loop's own events of that tick.

        Args:
            at: when the loop ended it; None: the loop's answer to END_SESSION has the tick.
        """
        if self._sessions is None or not self._sessions.end(session, reason):
            return
        self._tell_guarded()
        attachment = self._attachment
        defined = attachment is not None and not self._lost and session.identity in attachment.store.sessions
        self._ends.add(
            session.identity,
            ServerEvent(
                kind=Kind.SESSION_ENDED,
                session=session.id,
                part=", ".join(session.parts),
                reason=reason,
                file=session.end_file,
                by_client=session.closed_by_client,
            ),
            at or (None if defined else self._stamp()),
        )
        if attachment is None:
            return
        attachment.preparer.leave(session)
        attachment.store.detached.pop(session.identity, None)
        attachment.store.suspended.discard(session.identity)
        if session.identity not in attachment.store.sessions:
            attachment.directory.forget([session.identity])
        elif session.identity not in attachment.ending.values():
            attachment.store.retiring.add(session.identity)
        self._ends.flush(attachment.link.told)

    def _end_all(self, reason: str, at: Stamp | None = None) -> None:
        for session in self.sessions():
            self._end(session, reason, at or self._stamp())

    def _stamp(self) -> Stamp:
        """The tick of the last event: the server's own events are in order of ticks as well."""
        return self._attachment.link.latest if self._attachment is not None else (0, 0)

    def _raw_snapshot(self) -> np.record | None:
        return self._attachment.snapshot() if self._attachment is not None and not self._lost else None

    def _measured(self) -> np.ndarray | None:
        snapshot = self._raw_snapshot()
        return None if snapshot is None else snapshot.parts["measured"][: len(self.parts)]

    def _suspend(self, session: Session, at: Stamp | None = None) -> None:
        """A protective stop: nothing of the session starts from now on."""
        if not session.suspended:
            self._set_suspended(session.id, True)
            tick, time_ns = at or self._stamp()
            reason = "a protective stop: nothing of it starts until it is resumed"
            self._hub.emit(
                ServerEvent(
                    kind=Kind.SESSION_SUSPENDED, session=session.id, tick=tick, time_ns=time_ns, reason=reason
                )
            )

    def _set_suspended(self, session_id: str, suspended: bool) -> None:
        attachment = self._attachment
        for session in self.sessions():
            if session.id == session_id and attachment is not None:
                session.suspended = suspended
                marked = attachment.store.suspended
                (marked.add if suspended else marked.discard)(session.identity)

    def resume_undefined(self, session: Session) -> None:
        """Resume a session that has defined nothing yet, so that the loop does not know it."""
        if session.suspended:
            self._set_suspended(session.id, False)
            self._tell(Kind.SESSION_RESUMED, session=session.id)

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

    def raise_refusal(
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

    # --- events ---------------------------------------------------------------------------------

    def announce(self, kind: Kind, *, session: str = "", parts: Sequence[str] = (), reason: str = "") -> None:
        """Publish an event of the server's own."""
        self._tell(kind, session=session, parts=parts, reason=reason)

    def _tell(
        self, kind: Kind, *, session: str = "", parts: Sequence[str] = (), reason: str = "", action: str = ""
    ) -> None:
        event = ServerEvent(kind=kind, session=session, part=", ".join(parts), reason=reason, current_action=action)
        self._hub.emit(event, at=self._stamp)

    def stops(self) -> list[Stop]:
        """The protective stops that are latched, the oldest first.

        Raises:
            ChannelError: there is no executor.
        """
        return latched_stops(self.at().stops())

    def fault_file(self, part: str) -> str:
        """The log of the last ticks before a part's fault, on the executor's machine; empty: there is none."""
        attachment, view = self._attachment, self._raw_snapshot()
        if attachment is None or view is None:
            return ""
        number = int(view.parts[self.parts[part].index].fault_log)
        return promised_log(bytes(attachment.channel.memory.fault_files), number)

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` with every event from now on."""
        self._hub.add(listener)

    def take_events(self) -> None:
        """Hand out, in this thread, all events that have come: then they are as new as an earlier snapshot."""
        attachment = self._attachment
        if attachment is not None and not self._lost:
            attachment.link.dispatch()

    def remove_listener(self, listener: Listener) -> None:
        """Do not call it any more."""
        self._hub.remove(listener)

    def add_sample_listener(self, listener: SampleListener) -> None:
        """Hand `listener` every sample of a stream output from now on, in the dispatcher's thread."""
        self._sample_listeners.append(listener)

    def _after_dispatch(self) -> None:
        """In the dispatcher's thread."""
        attachment = self._attachment
        if attachment is None:
            return
        for identity, at in attachment.take_ended():
            self._ends.set_end(identity, at)
        self._ends.flush(attachment.link.told)
        for sample in attachment.streams.take():
            for listener in self._sample_listeners:
                listener(sample)

    def _take_refused_sample(self, session: str, action: str, reason: str) -> None:
        self._tell(Kind.STREAM_REFUSED, session=session, action=action, reason=reason)

    def _take_event(self, raw: np.record) -> None:
        """In the dispatcher's thread."""
        if raw["kind"] == DETACHED_ENDED:
            self._end_detached(raw)
            return
        event = self._translator.translate(raw)
        self._hub.emit(event)
        if event.kind == Kind.PROTECTIVE_STOP:
            for session in self.sessions():
                if not session.read_only:
                    self._suspend(session, (event.tick, event.time_ns))
        elif event.kind == Kind.SESSION_RESUMED:
            self._set_suspended(event.session, False)
        if event.kind == Kind.ACTION_FAILED and event.session:
            self._end_by_id(event, f"action {event.current_action!r} failed: {event.reason}")
        elif event.kind == Kind.SERVER_LOST:
            reason = "the executor heard nothing from the control server, and ended all sessions"
            attachment = self._attachment
            defined = {} if attachment is None else attachment.store.sessions
            for session in self.sessions():
                session.counting = session.detached > 0 and session.identity in defined
                if not session.counting:
                    self._end(session, reason, (event.tick, event.time_ns))
            if attachment is not None:
                attachment.channel.renew_server()

    def _end_detached(self, raw: np.record) -> None:
        why = "its bound has passed" if raw["reason"] else "nothing of it is active any more"
        for session in self.sessions():
            if session.identity == raw["session"]:
                without = f"it went on without its client or the control server for at most {session.detached:g} s"
                self._end(session, f"detached, {without}: {why}", (int(raw["tick"]), int(raw["time_ns"])))

    def _end_by_id(self, event: ServerEvent, reason: str) -> None:
        if self._sessions is None:
            return
        try:
            session = self._sessions.get(event.session)
        except SessionError:
            return
        session.end_file = event.file
        self._end(session, reason, (event.tick, event.time_ns))

    def _take_loss(self, reason: str) -> None:
        """In the dispatcher's thread, or in that of an installation."""
        self._lost = reason
        self._end_all(reason)
        self._ends.flush()
