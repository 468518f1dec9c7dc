"""Recovery: faults cleared, motion enabled and a part's recovery program run, on request or by configuration."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from robot_rt_control.model.workcell.recovery import RecoveryDescription
from robot_rt_control.program.recovery_programs import recovery_programs
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.runs.runs import Run, plan_program
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.vocabulary.enums import OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, RobotControlError, SessionError, unknown
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)

_RETRY_S = 0.5
"""An automatic recovery whose fault cannot be cleared yet is tried again after this time."""


@dataclass
class _Recovery:
    """A recovery under way."""

    part: str
    run: Run


class Recoveries:
    """All recoveries of a workcell, driven by the server's `poll`. Its methods may be called from any thread.

    An automatic recovery waits until the part is free and its fault can be cleared. A part that faults again during its
    recovery, or within the cooldown after it, is left to people: so nothing loops. So is one that waits when a
    protective stop comes: after it nothing moves before somebody has asked.

    Args:
        described: part → its recovery.
        clock: monotonic time [s].
    """

    def __init__(
        self,
        server: ControlServer,
        described: Mapping[str, RecoveryDescription],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._described, self._clock = server, described, clock
        self._programs = recovery_programs(described)
        self._lock = threading.RLock()
        self._running: list[_Recovery] = []
        self._waiting: dict[str, float] = {}
        """Part → when its automatic recovery is to be tried."""
        self._dropped: set[str] = set()
        """Parts that are not recovered by themselves any more, which is to be reported."""
        self._ended: dict[str, float] = {}
        """Part → when its last recovery ended."""
        if described:
            server.add_listener(self._take)
            server.on_poll.append(self._poll)

    # --- on request -----------------------------------------------------------------------------

    def recover(self, parts: Sequence[str] = ()) -> list[str]:
        """Begin the recovery of parts: of all of them or, where one is refused before anything begins, of none.

        Args:
            parts: empty: all that are faulted and have a recovery program.

        Returns:
            Ids of the sessions that recover them.

        Raises:
            DefinitionError: a part is unknown or has no recovery program, or there is nothing to recover.
            SessionError: a session holds one of the parts; names it.
            CommandRefused: a protective stop holds the parts, or a fault cannot be cleared.
            ChannelError: there is no executor.
        """
        with self._lock:
            names = list(dict.fromkeys(parts)) or self._faulted()
            for name in names:
                self._check(name)
            view = self._server.snapshot()
            for name in names:
                self._check_rest(name, view)
            if view is not None and view.protective_stop:
                raise CommandRefused(
                    "recovery was refused: a protective stop holds all parts",
                    hint="Release it first: the service protective_stop with stop: false, or Client.release()",
                )
            return [self._begin(name) for name in names]

    def _faulted(self) -> list[str]:
        view = self._server.snapshot()
        found = [
            name
            for name in self._described
            if view is not None and view.operational_state(self._server.parts[name].index) == OperationalState.FAULTED
        ]
        if not found:
            raise DefinitionError(
                "nothing to recover",
                expected="a part that is faulted and has a recovery program",
                got=f"none; parts with a recovery program: {', '.join(self._described) or 'none'}",
                hint="Name the parts, or give them a `recovery` in the workcell file",
            )
        return found

    def _check(self, name: str) -> None:
        if name not in self._server.parts:
            raise DefinitionError(
                f"recovery of part {name!r}", expected=unknown("part", name, self._server.parts), got=repr(name)
            )
        if name not in self._described:
            raise DefinitionError(
                f"part {name!r} has no recovery program",
                expected=f"one of: {', '.join(self._described)}" if self._described else "a part with `recovery`",
                hint="Clear its fault and enable it by hand, or give it a `recovery` in the workcell file",
            )
        holder = self._server.session_of_part(name)
        if holder:
            raise SessionError(
                f"recovery of part {name!r} was refused",
                expected="a part that no session holds",
                got=f"session {holder!r} holds it",
                hint="Close the session first",
            )

    def _check_rest(self, name: str, view: SnapshotView | None) -> None:
        """Elsewhere enabling waits; a loop that ticks on request only cannot be waited for."""
        if view is not None and self._server.gated and view.is_moving(self._server.parts[name].index):
            raise CommandRefused(
                f"recovery of part {name!r} was refused",
                expected="a part at rest",
                got="one that still brakes",
                hint="Let the loop tick until it is at rest",
            )

    def _begin(self, part: str) -> str:
        """Clear, enable and start, in a session of its own. Raises RobotControlError: nothing is left of it."""
        server, described = self._server, self._described[part]
        plan = plan_program(server, self._programs[part], until_event=described.until_event, timeout=described.timeout)
        parts = list(dict.fromkeys((part, *plan.parts)))

        def prepare() -> None:
            for command in ("clear_faults", "enable"):
                server.set_motion(parts, command)

        run = Run(server, plan, prepare)
        self._running.append(_Recovery(part, run))
        server.announce(Kind.RECOVERY_STARTED, session=run.session_id, parts=parts, reason=plan.name)
        return run.session_id

    # --- by itself ------------------------------------------------------------------------------

    def _take(self, event: ServerEvent) -> None:
        """In the dispatcher's thread."""
        described = self._described.get(event.part)
        if event.kind == Kind.PART_FAULTED and described is not None and described.automatic:
            self._waiting.setdefault(event.part, 0.0)
        if self._waiting and (event.kind == Kind.PROTECTIVE_STOP or self._is_stopped()):
            self._drop(*self._waiting)

    def _is_stopped(self) -> bool:
        view = self._server.snapshot()
        return view is not None and view.protective_stop

    def _drop(self, *parts: str) -> None:
        """After a protective stop nothing moves by itself: these parts are left to people."""
        for part in parts:
            self._waiting.pop(part, None)
            self._dropped.add(part)

    def _poll(self) -> None:
        """At each `poll` of the server: drives what is under way, and begins what is automatic."""
        if not self._running and not self._waiting and not self._dropped:
            return
        while self._dropped:
            reason = "not recovered by itself: a protective stop came. Release it, then recover the part by hand"
            self._server.announce(Kind.RECOVERY_ENDED, parts=[self._dropped.pop()], reason=reason)
        with self._lock:
            for recovery in list(self._running):
                self._drive(recovery)
            for part, due in list(self._waiting.items()):
                if self._clock() >= due:
                    self._try(part)

    def _drive(self, recovery: _Recovery) -> None:
        try:
            result = recovery.run.update()
            if result is None:
                return
            message = "done" if result.success else f"failed: {result.message}"
        except RobotControlError as error:
            message = f"failed: {error}"
        self._running.remove(recovery)
        self._ended[recovery.part] = self._clock()
        try:
            recovery.run.close()
        except RobotControlError as error:
            _log.warning("the session of a recovery could not be closed: %s", error)
        session, parts = recovery.run.session_id, [recovery.part]
        self._server.announce(Kind.RECOVERY_ENDED, session=session, parts=parts, reason=message)

    def _try(self, part: str) -> None:
        """Begin an automatic recovery, or see why not."""
        server, described = self._server, self._described[part]
        view = server.snapshot()
        if view is None or any(r.part == part for r in self._running):
            return
        if view.operational_state(server.parts[part].index) != OperationalState.FAULTED:
            self._waiting.pop(part, None)  # somebody was faster
            return
        since = self._clock() - self._ended.get(part, -float("inf"))
        if self._is_stopped():
            self._drop(part)
            return
        if since < described.cooldown:
            self._waiting.pop(part, None)
            server.announce(
                Kind.RECOVERY_ENDED,
                parts=[part],
                reason=f"not recovered by itself: it faulted again within {described.cooldown:g} s of its last one. "
                "Look for the cause, then recover it by hand",
            )
            return
        try:
            if server.session_of_part(part):
                raise SessionError(f"part {part!r} is not free")
            if not view.position_known(server.parts[part].index):
                raise CommandRefused(f"the position of part {part!r} is not known")
            if view.is_moving(server.parts[part].index):
                raise CommandRefused(f"part {part!r} still brakes")
            self._begin(part)
        except RobotControlError as error:
            _log.debug("automatic recovery of part %r waits: %s", part, error)
            if part in self._waiting:  # no protective stop has come since
                self._waiting[part] = self._clock() + _RETRY_S
        else:
            self._waiting.pop(part, None)
