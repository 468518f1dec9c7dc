"""Commands to what sessions have defined, and to the loop as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.validation.conflicts import not_together
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import CapacityError, CommandRefused, DefinitionError, raise_all, unknown


class Commands:
    """All methods may be called from any thread."""

    def __init__(self, core: ServerCore) -> None:
        self._core = core

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
            answer = self._core.at().link.send(Command.STOP_SESSION)
            return answer.tick or self._core.tick(0)
        if not actions:
            session = self._core.session(session_id)
            session.check_moves("stop anything")
            if not self._core.contents(session).actions:
                return self._core.tick(0)
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
            session = self._core.session(session_id)
            session.check_moves(f"{what} anything")
            definer = self._core.at().definer
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
        at = self._core.at()
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
        return answer.tick if not answer.queued else target_tick or self._core.tick(0)

    def set_speed(self, speed: float) -> None:
        """Set the speed override, 0 to 1.

        Raises:
            DefinitionError: not from 0 to 1.
            ChannelError: there is no executor, or it is silent.
        """
        if not 0.0 <= speed <= 1.0:
            raise DefinitionError("speed override", expected="0 (standing still) to 1 (full speed)", got=f"{speed:g}")
        self._core.at().link.send(Command.SET_SPEED, value=speed)

    def protective_stop(self, stop: bool, reason: str = "") -> int:
        """End all actions, brake and hold all parts, and start nothing until it is released; or release it.

        Args:
            reason: why, for those who see it.

        Returns:
            The tick in which it took effect.

        Raises:
            ChannelError: there is no executor, or it is silent.
        """
        at = self._core.at()
        if stop:
            at.channel.memory.stop_reason = reason.encode()[:255]
        answer = at.link.send(Command.PROTECTIVE_STOP if stop else Command.RELEASE_PROTECTIVE_STOP)
        return answer.tick if not answer.queued else self._core.tick(0)
