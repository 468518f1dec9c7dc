"""Which states each session's program is in, from the events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.vocabulary.event_kinds import Kind

_REFRESH_AFTER = 128
"""Republish a state after this many other messages, so that late subscribers find it among the last 256."""
HISTORY = 256
"""How many messages the topic keeps for readers who come late."""


@dataclass(frozen=True, kw_only=True)
class SessionState:
    """The active states of one session."""

    session: str
    program: str = ""
    tick: int = 0
    """The tick of the last change."""
    time_ns: int = 0
    """Start of that tick, as `ServerEvent.time_ns`."""
    active: Mapping[str, int] = field(default_factory=dict)
    """Action → the tick in which it started; in the order of the starts."""
    strategies: Mapping[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """(active action, degree of freedom) → the governing strategy, and the tick in which it took over."""
    last_reaction: str = ""
    last_event: str = ""
    suspended: bool = False
    """A protective stop: nothing of it starts until it is resumed."""
    ended: bool = False
    end_reason: str = ""

    def after(self, event: ServerEvent) -> SessionState:
        """The state after an event of this session; the same object where nothing changed."""
        active = dict(self.active)
        changed = self
        if event.kind == Kind.ACTION_STARTED:
            active.pop(event.current_action, None)
            active[event.current_action] = event.tick
            changed = replace(self, active=active)
        elif event.kind == Kind.ACTION_STOPPED:
            active.pop(event.previous_action, None)
            left = {key: value for key, value in self.strategies.items() if key[0] != event.previous_action}
            changed = replace(self, active=active, strategies=left)
        elif event.kind == Kind.STRATEGY_CHANGED:
            key = event.current_action, event.degree_of_freedom
            changed = replace(self, strategies={**self.strategies, key: (event.to_strategy, event.tick)})
        elif event.kind == Kind.REACTION_FIRED:
            changed = replace(
                self, last_reaction=event.reaction or self.last_reaction, last_event=event.event or self.last_event
            )
        elif event.kind in (Kind.SESSION_SUSPENDED, Kind.SESSION_RESUMED):
            changed = replace(self, suspended=event.kind == Kind.SESSION_SUSPENDED)
        elif event.kind == Kind.SESSION_ENDED:
            changed = replace(self, active={}, strategies={}, ended=True, end_reason=event.reason)
        if changed == self:
            return self
        return replace(changed, tick=max(event.tick, self.tick), time_ns=event.time_ns or self.time_ns)


class ProgramStates:
    """Follows all sessions, and publishes their changes: one message for all changes of a session between two flushes.

    Args:
        program_of: session → name of its program.
        tell: called with each state to publish, in the thread of `flush`.
    """

    def __init__(self, program_of: Callable[[str], str], tell: Callable[[SessionState], None]) -> None:
        self._program_of, self._tell = program_of, tell
        self._states: dict[str, SessionState] = {}
        self._pending: dict[str, SessionState] = {}
        self._told_at: dict[str, int] = {}
        self._told = 0
        self._lock = threading.Lock()
        self.changed = threading.Event()
        """Whether there is something to publish."""

    def take(self, event: ServerEvent) -> None:
        """To be called at every event, in order."""
        if not event.session:
            return
        with self._lock:
            before = self._states.get(event.session) or SessionState(session=event.session)
            after = before.after(event)
            if after is before:
                return
            after = replace(after, program=before.program if after.ended else self._program_of(event.session))
            self._pending[event.session] = after
            if after.ended:
                self._states.pop(event.session, None)
            else:
                self._states[event.session] = after
        self.changed.set()

    def flush(self) -> None:
        """Publish what has changed. One thread at a time."""
        self.changed.clear()
        with self._lock:
            states = list(self._pending.values())
            self._pending.clear()
        for state in states:
            self._tell_one(state)
        while stale := self._stale():
            self._tell_one(stale)

    def _tell_one(self, state: SessionState) -> None:
        self._told += 1
        self._told_at[state.session] = self._told
        if state.ended:
            self._told_at.pop(state.session)
        self._tell(state)

    def _stale(self) -> SessionState | None:
        with self._lock:
            for session, at in self._told_at.items():
                if self._told - at >= _REFRESH_AFTER and session in self._states:
                    return self._states[session]
        return None
