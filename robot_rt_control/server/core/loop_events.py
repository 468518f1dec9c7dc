"""What the loop's events mean to sessions and listeners."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.core.connection import Connection
from robot_rt_control.server.core.session_life import SessionLife
from robot_rt_control.server.events.event_hub import EventHub
from robot_rt_control.server.events.events import EventTranslator, ServerEvent
from robot_rt_control.server.sessions import SessionRegistry
from robot_rt_control.vocabulary.enums import DETACHED_ENDED
from robot_rt_control.vocabulary.errors import SessionError
from robot_rt_control.vocabulary.event_kinds import Kind

SampleListener = Callable[[OutputSample], None]


class LoopEvents:
    """Takes what comes from the loop; `take…` and `after_dispatch` in the dispatcher's thread.

    That thread never waits for the server's lock for changes: who holds it may be waiting for an event.
    """

    def __init__(
        self, connection: Connection, registry: SessionRegistry, sessions: SessionLife, hub: EventHub
    ) -> None:
        self._connection, self._registry, self._sessions, self._hub = connection, registry, sessions, hub
        self._translator: EventTranslator
        self._sample_listeners: list[SampleListener] = []

    def begin(self, attachment: Attachment, workcell: Workcell) -> None:
        """Take the events of this attachment, before the first one comes."""
        self._translator = EventTranslator(
            attachment.directory,
            [p.name for p in workcell.parts],
            [p.motor_names or p.joint_names for p in workcell.parts],
            self._registry.session_of_part,
            tool_names=[p.tool_names for p in workcell.parts],
            log_file=attachment.fault_file,
            stops=attachment.stops,
        )

    def add_sample_listener(self, listener: SampleListener) -> None:
        """Hand `listener` every sample of a stream output from now on, in the dispatcher's thread."""
        self._sample_listeners.append(listener)

    def take(self, raw: np.record) -> None:
        """An event of the loop (`layout.event_dtype`) that concerns this server."""
        if raw["kind"] == DETACHED_ENDED:
            self._end_detached(raw)
            return
        event = self._translator.translate(raw)
        self._hub.emit(event)
        at = event.tick, event.time_ns
        if event.kind == Kind.PROTECTIVE_STOP:
            for session in self._registry.live():
                if not session.read_only:
                    self._sessions.suspend(session, at)
        elif event.kind == Kind.SESSION_RESUMED:
            self._sessions.set_suspended(event.session, False)
        if event.kind == Kind.ACTION_FAILED and event.session:
            self._end_failed(event)
        elif event.kind == Kind.SERVER_LOST:
            reason = "the executor heard nothing from the control server, and ended all sessions"
            attachment = self._connection.present
            defined = {} if attachment is None else attachment.store.sessions
            for session in self._registry.live():
                session.counting = session.detached > 0 and session.identity in defined
                if not session.counting:
                    self._sessions.end(session, reason, at)
            if attachment is not None:
                attachment.channel.renew_server()

    def _end_detached(self, raw: np.record) -> None:
        why = "its bound has passed" if raw["reason"] else "nothing of it is active any more"
        for session in self._registry.live():
            if session.identity == raw["session"]:
                without = f"it went on without its client or the control server for at most {session.detached:g} s"
                self._sessions.end(session, f"detached, {without}: {why}", (int(raw["tick"]), int(raw["time_ns"])))

    def _end_failed(self, event: ServerEvent) -> None:
        try:
            session = self._registry.get(event.session)
        except SessionError:
            return
        session.end_file = event.file
        reason = f"action {event.current_action!r} failed: {event.reason}"
        self._sessions.end(session, reason, (event.tick, event.time_ns))

    def after_dispatch(self) -> None:
        """Events were handed out: sessions may have ended, and stream outputs may have samples."""
        attachment = self._connection.present
        if attachment is None:
            return
        self._sessions.take_ended(attachment)
        for sample in attachment.streams.take():
            for listener in self._sample_listeners:
                listener(sample)

    def take_loss(self, reason: str) -> None:
        """The executor is gone. In the dispatcher's thread, or in that of an installation."""
        self._connection.lose(reason)
        self._sessions.end_all(reason)

    def take_refused_sample(self, session: str, action: str, reason: str) -> None:
        """A sample of a stream was refused. In any thread."""
        self._hub.announce(Kind.STREAM_REFUSED, session=session, action=action, reason=reason)
