"""How sessions begin, are suspended, and end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.core.connection import Connection
from robot_rt_control.server.events.event_hub import EventHub
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.events.session_ends import SessionEnds, Stamp
from robot_rt_control.server.sessions import Session, SessionRegistry
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)


class SessionLife:
    """Keeps registry, loop and listeners in step. All methods may be called from any thread.

    The loop ends sessions as well, so an end needs no lock: the registry decides who has ended it, and that one tells.

    Args:
        changing: the server's lock for changes: held where the loop is asked for an end, never needed for one that the
            loop has told.
        tidy: called under it after a session was closed; what it raises is logged.
        period: of a tick [s].
    """

    def __init__(
        self,
        connection: Connection,
        registry: SessionRegistry,
        hub: EventHub,
        *,
        changing: threading.RLock,
        tidy: Callable[[], None],
        period: float,
    ) -> None:
        self._connection, self._registry, self._hub = connection, registry, hub
        self._changing, self._tidy, self._period = changing, tidy, period
        self._ends = SessionEnds(hub.emit)
        registry.is_active = self.is_active

    def open(
        self,
        name: str,
        parts: Sequence[str],
        lease: float = -1.0,
        *,
        read_only: bool = False,
        deadline: float = 0.0,
        unprotected: bool = False,
        detached: float = 0.0,
        yielding: bool = False,
    ) -> Session:
        """Take the exclusive right to move some parts; or, read-only, none of them. Arguments: `SessionRegistry.open`.

        Raises:
            DefinitionError: an unknown part, or none.
            CapacityError: the name is too long, or there are too many sessions.
            SessionError: a part is taken; names the holder.
            ChannelError: there is no executor.
        """
        self._connection.take_events()  # so that the event of its opening carries the present tick
        with self._changing:
            at = self._connection.at()
            for present in self._registry.giving_way(parts):
                self._close(present, f"another session, {name!r}, was opened on its parts")
            session = self._registry.open(
                name,
                parts,
                lease,
                at.store.new_identity(),
                read_only=read_only,
                deadline=deadline,
                unprotected=unprotected,
                detached=detached,
                yielding=yielding,
            )
            if detached > 0:
                at.store.detached[session.identity] = max(round(detached / self._period), 1)
            at.directory.sessions[session.identity] = session.id
            self._tell_guarded()
            self._hub.announce(Kind.SESSION_OPENED, session=session.id, parts=session.parts)
            if not read_only and at.stops()["latched"].any():
                self.suspend(session, self._connection.stamp())
        return session

    def get(self, session_id: str) -> Session:
        """A living session.

        Raises:
            SessionError: there is none; if it has ended, the message says why.
            ChannelError: there is no executor.
        """
        self._connection.at()
        return self._registry.get(session_id)

    def renew(self, session_id: str) -> None:
        """Count a session's lease from now. Raises as `get`."""
        self._connection.at()
        self._registry.renew(session_id)

    def close(self, session_id: str) -> None:
        """End a session: its actions end, and their parts take their safety action.

        Raises:
            SessionError: there is no such session.
            ChannelError: the executor did not answer; the session has ended all the same.
        """
        with self._changing:
            session = self.get(session_id)
            session.closed_by_client = True
            self._close(session, "closed by its client")

    @contextmanager
    def starting(self, session: Session, tick: int = 0) -> Iterator[None]:
        """While the loop is asked to start something of a session: it holds its parts.

        Args:
            tick: of the start; 0: the next one.

        Raises:
            SessionError: it has ended.
        """
        with self._changing:
            self.get(session.id)
            session.starting += 1
            session.last_start = max(session.last_start, tick or self._connection.tick(0))
            if session.yielding:
                self._tell_guarded()
        try:
            yield
        finally:
            with self._changing:
                session.starting -= 1

    def is_active(self, session: Session) -> bool:
        """Whether an action of a session is active, or will start in a later tick."""
        attachment = self._connection.living
        if attachment is None:
            return False
        view = self._connection.snapshot_after(attachment.link.latest[0])
        if view is None:
            return False
        contents = attachment.store.sessions.get(session.identity)
        actions = () if contents is None else contents.actions.values()
        return view.tick < session.last_start or any(view.active_since(a.entry.identity) is not None for a in actions)

    def poll(self) -> None:
        """Close the sessions that are overdue, and let the loop know of clients that are lost or there again. Under the
        server's lock for changes. Raises ChannelError."""
        at = self._connection.at()
        self._tell_guarded()
        for session, reason in self._registry.overdue():
            self._close(session, reason)
        for session, gone in self._registry.to_detach():
            if session.identity in at.store.sessions:
                at.link.send(Command.DETACH, session=session.identity, value=float(gone))
                session.counting = gone
            elif gone:  # nothing of it can be active
                self._close(session, f"its client did not renew it for its lease of {session.lease:g} s")

    def _close(self, session: Session, reason: str) -> None:
        at = self._connection.at()
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
            self.end(session, reason, self._connection.stamp())
            raise
        self.end(session, reason)
        try:
            self._tidy()
        except RobotControlError:
            _log.warning("the tables could not be tidied up yet", exc_info=True)

    def end(self, session: Session, reason: str, at: Stamp | None = None) -> None:
        """The session's end, once the loop knows of it. Its event follows the loop's own events of that tick.

        Args:
            at: when the loop ended it; None: the loop's answer to END_SESSION has the tick.
        """
        if not self._registry.end(session, reason):
            return
        self._tell_guarded()
        attachment = self._connection.present
        defined = attachment is not None and not self._connection.lost and session.identity in attachment.store.sessions
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
            at or (None if defined else self._connection.stamp()),
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

    def end_all(self, reason: str) -> None:
        """The executor is gone, or left: no more events will come."""
        for session in self._registry.live():
            self.end(session, reason, self._connection.stamp())
        self._ends.flush()

    def take_ended(self, attachment: Attachment) -> None:
        """Tell what sessions have ended by now. In the dispatcher's thread, after events were handed out."""
        for identity, at in attachment.take_ended():
            self._ends.set_end(identity, at)
        self._ends.flush(attachment.link.told)

    def _tell_guarded(self) -> None:
        """Let the executor know whether sessions with a secret hold parts: its own service asks for authority then."""
        attachment = self._connection.present
        if attachment is not None:
            attachment.guarded(len(self._registry.guarded()))

    # --- protective stops -----------------------------------------------------------------------

    def suspend(self, session: Session, at: Stamp) -> None:
        """A protective stop: nothing of the session starts from now on."""
        if not session.suspended:
            self.set_suspended(session.id, True)
            reason = "a protective stop: nothing of it starts until it is resumed"
            self._hub.emit(
                ServerEvent(kind=Kind.SESSION_SUSPENDED, session=session.id, tick=at[0], time_ns=at[1], reason=reason)
            )

    def set_suspended(self, session_id: str, suspended: bool) -> None:
        """Remember of a living session whether the loop starts nothing of it."""
        attachment = self._connection.present
        for session in self._registry.live():
            if session.id == session_id and attachment is not None:
                session.suspended = suspended
                marked = attachment.store.suspended
                (marked.add if suspended else marked.discard)(session.identity)

    def resume_undefined(self, session: Session) -> None:
        """Resume a session that has defined nothing yet, so that the loop does not know it."""
        if session.suspended:
            self.set_suspended(session.id, False)
            self._hub.announce(Kind.SESSION_RESUMED, session=session.id)
