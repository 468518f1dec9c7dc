"""Commands to what sessions have defined, and to the loop as a whole."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from robot_rt_control.memory.stops import AUTHORITY_HINT, listed, release_refused, source_of, stop_request
from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.events.reasons import refusal_text
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.server.views.tool_refusals import tool_refused
from robot_rt_control.validation.conflicts import not_together
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import Authority, Command, Refusal
from robot_rt_control.vocabulary.errors import CapacityError, CommandRefused, DefinitionError, raise_all, unknown

_log = logging.getLogger(__name__)


class Commands:
    """All methods may be called from any thread."""

    def __init__(self, core: ServerCore) -> None:
        self._core, self._connection, self._sessions = core, core.connection, core.sessions

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
        with self._sessions.starting(session, target_tick):
            return self._command(Command.START, session, found, target_tick=target_tick)

    def stop(self, session_id: str, actions: Sequence[str] = ()) -> int:
        """Stop actions, without names all of the session; their parts take their default action. Returns the tick.

        Args:
            session_id: empty, and no actions: all actions of all sessions, in one tick. The sessions live on.

        Raises:
            as `start`.
        """
        if not session_id and not actions:
            answer = self._connection.at().link.send(Command.STOP_SESSION)
            return answer.tick or self._connection.tick(0)
        if not actions:
            session = self._sessions.get(session_id)
            session.check_moves("stop anything")
            if not self._connection.contents(session).actions:
                return self._connection.tick(0)
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
        signals = target.type.declared.signals
        if signal not in signals:
            raise DefinitionError(
                f"action {action!r} (type {target.type.name!r}) has no signal {signal!r}",
                expected=unknown("signal", signal, signals),
                got=repr(signal),
            )
        return self._command(Command.SIGNAL, session, [target], signal=signals.index(signal), signal_name=signal)

    def _find(self, session_id: str, actions: Sequence[str], what: str) -> tuple[Session, list[DefinedAction]]:
        with self._core.changing:
            session = self._sessions.get(session_id)
            session.check_moves(f"{what} anything")
            definer = self._connection.at().definer
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
        at = self._connection.at()
        answer = at.link.send(
            command,
            session=session.identity,
            actions=[(a.entry.slot, a.entry.identity) for a in actions],
            target_tick=target_tick,
            signal=signal,
        )
        self._core.raise_refusal(command, session, actions, answer, target_tick)
        if signal_name and at.signal_dropped(answer.transaction):
            raise CommandRefused(
                f"signal {signal_name!r} was dropped",
                expected="an active action",
                got=f"action {actions[0].id!r}, which is not active",
                hint="Start it first",
            )
        return answer.tick if not answer.queued else target_tick or self._connection.tick(0)

    def set_speed(self, speed: float, *, secret: str | None = None) -> None:
        """Set the speed override, 0 to 1; below `SLOWEST_SPEED` it counts as 0. Beyond its present target it needs
        authority.

        Args:
            secret: of a caller outside of this process; None: code of this process.

        Raises:
            DefinitionError: not from 0 to 1.
            CommandRefused: it is faster, and the secret gives no authority.
            ChannelError: there is no executor, or it is silent.
        """
        if not 0.0 <= speed <= 1.0:
            raise DefinitionError("speed override", expected="0 (standing still) to 1 (full speed)", got=f"{speed:g}")
        speed = speed if speed >= defaults.SLOWEST_SPEED else 0.0
        answer = self._connection.at().link.send(Command.SET_SPEED, value=speed, signal=int(self._authority(secret)))
        if answer.refusal == Refusal.NO_AUTHORITY:
            raise CommandRefused(
                f"set_speed to {speed:g} was refused: it is faster than before",
                expected="authority",
                got="a secret that gives none" if secret else "no secret",
                hint=AUTHORITY_HINT,
            )

    def change_tool(self, session_id: str, part: str, tool: str) -> int:
        """Put a tool on a part of the session, at rest. All that follows from the tool changes in that tick.

        Returns:
            The tick.

        Raises:
            DefinitionError: there is no such part or tool, or the session does not hold the part.
            CommandRefused: the part moves, an action commands it, or sensors say that another tool is on.
            SessionError: there is no such session.
            ChannelError: there is no executor, or it is silent.
        """
        session = self._sessions.get(session_id)
        session.check_moves("change a tool")
        known = self._core.parts
        if part not in known:
            raise DefinitionError("change_tool: part", expected=unknown("part", part, known), got=repr(part))
        if part not in session.parts:
            raise DefinitionError(
                f"change_tool of part {part!r}",
                expected=f"a part of {session.label}: " + ", ".join(session.parts),
                got=f"one that {session.label} does not hold",
                hint="Open a session on the part",
            )
        described = known[part].description
        number = described.tool_index(tool)
        at = self._connection.at()
        answer = at.link.send(
            Command.CHANGE_TOOL,
            session=session.identity if session.identity in at.store.sessions else 0,
            part=described.index,
            signal=number,
        )
        if answer.refusal != Refusal.NONE:
            if session.end_reason:
                self._sessions.get(session_id)  # raises, with the reason
            raise tool_refused(answer.refusal, described, tool, self._connection.snapshot_after(answer.tick))
        return answer.tick if not answer.queued else self._connection.tick(0)

    def _authority(self, secret: str | None) -> Authority:
        return Authority.GIVEN if secret is None else self._core.authorities.authority(secret)

    def protective_stop(
        self,
        stop: bool,
        reason: str = "",
        *,
        source: str = "",
        who: str = "",
        secret: str | None = None,
        everything: bool = False,
    ) -> int:
        """End all actions, brake and hold all parts, and start nothing until each source is released; or release one.

        Args:
            reason: why, for those who see it.
            source: which stop. Empty: of a stop its reason, else "stop"; of a release the only one that is latched.
            who: asks, for those who see it.
            secret: stop: its release needs the same; empty or None: none. Release: that of the stop, or one that gives
                authority; None: the caller is code of this process.
            everything: release all that need no secret of their own.

        Returns:
            The tick in which it took effect.

        Raises:
            CommandRefused: nothing was released.
            ChannelError: there is no executor, or it is silent.
        """
        if stop:
            request = stop_request(source=source_of(source, reason), reason=reason, who=who, secret=secret or "")
            answer = self._connection.at().link.send(Command.PROTECTIVE_STOP, record=request)
        else:
            name = source_of(source, "") if source else ""
            authority = self._authority(secret)
            request = stop_request(
                source=name,
                reason=reason,
                who=who,
                secret=secret or "",
                everything=everything,
                authority=authority,
            )
            answer = self._connection.at().link.send(Command.RELEASE_PROTECTIVE_STOP, record=request)
            if answer.refusal != Refusal.NONE:
                raise release_refused(answer.refusal, name, self._connection.stops())
        return answer.tick if not answer.queued else self._connection.tick(0)

    def resume(self, session_id: str, who: str = "") -> int:
        """Let actions of a session that a protective stop has suspended start again. Starts nothing itself.

        Returns:
            The tick from which they may.

        Raises:
            CommandRefused: a protective stop is still latched.
            SessionError: there is no such session.
            ChannelError: there is no executor, or it is silent.
        """
        session = self._sessions.get(session_id)
        session.check_moves("be resumed: it starts nothing")
        if session.identity in self._connection.at().store.sessions:
            tick = self._command(Command.RESUME, session, [])
        else:
            stops = self._connection.stops()
            if stops:
                raise CommandRefused(
                    f"{session.label} was not resumed: {refusal_text(Refusal.PROTECTIVE_STOP)}", got=listed(stops)
                )
            self._sessions.resume_undefined(session)
            tick = self._connection.tick(0)
        _log.info("%s is resumed%s", session.label, f" by {who}" if who else "")
        return tick
