"""Who may command a session, and the loop as a whole."""

from __future__ import annotations

import hmac

from robot_rt_control.memory.stops import secret_digest
from robot_rt_control.server.core.connection import Connection
from robot_rt_control.server.sessions import Session, SessionRegistry
from robot_rt_control.vocabulary.enums import Authority


class Authorities:
    """Judges secrets. All methods may be called from any thread."""

    def __init__(self, connection: Connection, registry: SessionRegistry) -> None:
        self._connection, self._registry = connection, registry

    def authorize(self, session_id: str, secret: str, what: str, *, operator: bool = False) -> Session:
        """A living session that a caller outside of this process may command.

        Args:
            secret: what the caller gave; empty: nothing.
            what: it is to do, for the message: "start_actions".
            operator: the operator's secret will do, too.

        Raises:
            SessionError: there is no such session, or this is not its secret.
            ChannelError: there is no executor.
        """
        self._connection.at()
        session = self._registry.get(session_id)
        if not (operator and self.authority(secret) == Authority.OPERATOR):
            session.check_secret(secret, what)
        return session

    def authority(self, secret: str) -> Authority:
        """What a caller outside of this process may do beyond stopping and slowing down.

        Args:
            secret: what the caller gave; empty: nothing.
        """
        operator = self._connection.at().channel.memory.operator
        if operator.any() and hmac.compare_digest(secret_digest(secret).tobytes(), operator.tobytes()):
            return Authority.OPERATOR
        guarded = self._registry.guarded()
        known = [session.admits(secret) for session in guarded]
        return Authority.GIVEN if not guarded or any(known) else Authority.NONE
