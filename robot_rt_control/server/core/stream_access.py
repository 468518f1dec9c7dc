"""Streams of a session's actions, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_rt_control.server.core.connection import Connection
from robot_rt_control.server.core.session_life import SessionLife
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.streams.stream_hub import OpenedStream
from robot_rt_control.server.tables.entities import DefinedAction


class StreamAccess:
    """All methods may be called from any thread."""

    def __init__(self, connection: Connection, sessions: SessionLife) -> None:
        self._connection, self._sessions = connection, sessions

    def open_stream(self, session_id: str, action: str, stream: str) -> OpenedStream:
        """Get ready for the samples of a new source.

        Raises:
            DefinitionError: no such action, or it has no such stream input.
            SessionError, ChannelError: as `start`.
        """
        session, found = self._stream_of(session_id, action)
        opened = self._connection.at().streams.open(session, found, stream)
        return replace(opened, token=session.stream_token(action, found.entry.identity, stream))

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
        token: str | None = None,
    ) -> bool:
        """Write one sample of a stream input. What is refused is counted, and reported by an event.

        Args:
            values: shape (n,); if the stream takes rates, also (2 n,), the rates after the values.
            valid: which of them are given; empty: all. The others keep what they were.
            time: when the sample was made, on its source's clock [s]; only differences count. None: now.
            sequence: counts the samples of a source from 1; 0: not counted.
            tick: from which it holds; 0: the server chooses, see StreamTiming.
            token: that `open_stream` answered; None: the caller is code of this process.

        Returns:
            Whether the loop will see it. False: it is out of order or too early, or too many wait for their tick.

        Raises:
            DefinitionError: no such action or stream; wrong number of values, not finite, or beyond their range.
            SessionError: there is no such session, or this is not the stream's token.
            ChannelError: as `start`.
        """
        session, found = self._stream_of(session_id, action)
        if token is not None:
            session.check_token(action, found.entry.identity, stream, token)
        return self._connection.at().streams.write(
            session, found, stream, values, valid=valid, source_time=time, sequence=sequence, tick=tick
        )

    def _stream_of(self, session_id: str, action: str) -> tuple[Session, DefinedAction]:
        """Without waiting for a definition that is being made: samples come in all the time."""
        session = self._sessions.get(session_id)
        return session, self._connection.at().definer.find(session, action)
