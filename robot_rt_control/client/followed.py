"""Actions that were started to be followed: where they are, and how they ended."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.backend import Backend
from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.event import Event
from robot_rt_control.definitions.definitions import ActionDefinition
from robot_rt_control.vocabulary.enums import StopCause
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, RobotControlError, SessionError
from robot_rt_control.vocabulary.event_kinds import Kind
from robot_rt_control.vocabulary.stop_causes import cause_of

_log = logging.getLogger(__name__)

REST_S = 10.0
"""[s] in which parts come to rest, at the latest."""
_LOOK_S, _SMALLEST_S = 0.01, 1e-6


class End(StrEnum):
    """How followed actions ended."""

    REACHED = "reached"
    CANCELLED = "cancelled"
    """By `stop` or `cancel` of the `Followed`."""
    PREEMPTED = "preempted"
    """Somebody stopped, displaced, replaced or removed one of them."""
    ABORTED = "aborted"
    """One failed, or ended by itself before the end was reached."""
    FAULTED = "faulted"
    """A part of it was faulted."""
    PROTECTIVE_STOP = "protective_stop"
    SESSION_LOST = "session_lost"
    """Their session ended: closed, or lost."""
    EVENTS_LOST = "events_lost"
    """They have ended, but the events that say how were lost."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How and why followed actions ended."""

    end: End
    name: str = ""
    """Which of the ends was reached; empty: none."""
    reason: str = ""
    """In words; empty if an end was reached."""
    action: str = ""
    """The action that ended; empty: the ending is another one."""
    tick: int = 0

    @property
    def reached(self) -> bool:
        """Whether an end was reached."""
        return self.end == End.REACHED


_ENDS = {
    StopCause.COMMAND: End.PREEMPTED,
    StopCause.REMOVED: End.PREEMPTED,
    StopCause.DISPLACED: End.PREEMPTED,
    StopCause.REPLACED: End.PREEMPTED,
    StopCause.PART_FAULT: End.FAULTED,
    StopCause.PROTECTIVE_STOP: End.PROTECTIVE_STOP,
}


class Following(Protocol):
    """What `Followed` needs of its session; `Session` describes it."""

    @property
    def backend(self) -> Backend: ...
    @property
    def ended(self) -> str | None: ...
    @property
    def parts(self) -> Iterable[str]: ...
    def add(self, *actions: Action | ActionDefinition, reactions: Iterable[Reaction] = ()) -> None: ...
    def start(self, *actions: str, at_tick: int = 0) -> int: ...
    def replace(self, actions: Iterable[Action], *, start: Iterable[str]) -> int: ...
    def stop(self, *actions: str) -> int: ...
    def values(self, prefixes: Iterable[str]) -> dict[str, float]: ...
    def judged(self, reactions: Iterable[str]) -> None: ...
    def drop(self, callback: CallbackQueue[Event]) -> None: ...
    def forget(self, followed: Followed) -> None: ...


class Followed:
    """Made by `Session.follow`. It has no thread; all methods may be called from any thread.

    Once it has ended it says so for ever, whatever happens later. What was not reached may still brake: `at_rest`.

    Args:
        session: in which they run.
        started: ids of what is started.
        ids: of all that belongs to it, also by reactions.
        until: name of an end → its condition.
        number: of this one in its session.
        on_change: called in the receiving thread when `poll` may have something new; must return at once.

    Attributes:
        tick: of the start; 0: it has not started yet.
        queue: calls the callback for its end; None: there is none.
    """

    def __init__(
        self,
        session: Following,
        started: Iterable[str],
        ids: Iterable[str],
        until: Mapping[str, str],
        number: int,
        on_change: Callable[[], object],
    ) -> None:
        self._session, self._until, self._on_change = session, until, on_change
        self._started, self._ids = tuple(started), frozenset(ids)
        self._number, self._tries = number, 0
        self._names: dict[str, str] = {}
        """Reaction that judges an end → the end's name."""
        self._changed = threading.Condition()
        self._active: dict[str, None] = {}
        self._parts: dict[str, None] = {}
        self._begun = False
        self._next: tuple[int, str] = -1, ""
        """The tick of the last switch to another action, and that action."""
        self._must_ask = self._stopping = self._starting = False
        self._asking = threading.Lock()
        self._idle_at: float | None = None
        """[s] When the server first reported that nothing of it is active."""
        self._stop, self._faults = "", dict[str, str]()
        self._early: list[Event] = []
        """Received before the tick of the start was known."""
        self._ending: Ending | None = None
        self.queue: CallbackQueue[Event] | None = None
        self.tick = 0

    # --- looking --------------------------------------------------------------------------------

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of its active actions, in the order in which they started, as last reported; also after its end: an
        action that is done stays active."""
        return tuple(self._active)

    def poll(self) -> Ending | None:
        """How it ended; None: it has not.

        It does not wait, except after lost events, or if an end held already before the start: then it asks the server
        for the present state, and the loop to judge the ends anew.
        """
        if self._must_ask:
            self._ask()
        if self._ending is None and self._session.ended is not None:
            with self._changed:
                self._decide(End.SESSION_LOST, self._session.ended)
        return self._ending

    def wait(self, timeout_s: float | None = None) -> Ending:
        """Wait for its end.

        Args:
            timeout_s: in the workcell's time; None: without end.

        Raises:
            TimeoutError: it did not end in time; it goes on.
        """
        backend = self._session.backend
        end = None if timeout_s is None else backend.now() + timeout_s
        while (ending := self.poll()) is None:
            remaining = None if end is None else end - backend.now()
            if remaining is not None and remaining <= _SMALLEST_S:
                raise TimeoutError(f"{', '.join(self._started)} did not end within {timeout_s:g} s")
            if self._must_ask:
                backend.sleep(_LOOK_S)
            else:
                backend.wait(self._changed, lambda: self._ending is not None or self._must_ask, remaining)
        return ending

    @property
    def faults(self) -> str:
        """Faults of its parts since its start, in words; empty: there were none."""
        return "; ".join(text for part, text in list(self._faults.items()) if part in self._parts)

    @property
    def at_rest(self) -> bool:
        """Whether all parts that its actions have moved stand still, by what the loop measures; unknown: no. A part
        without joints has none that could move."""
        names = [f"{part}.at_rest" for part in list(self._parts)]
        values = self._session.backend.state_values(names, "") if names else {}
        return all(values.get(name, 1.0) == 1.0 for name in names)

    # --- starting and ending --------------------------------------------------------------------

    def start(self, at_tick: int = 0) -> int:
        """Start what `Session.follow` has only prepared. Returns the tick.

        Raises:
            as `Session.start`; then it is over.
        """
        return self._begin(lambda: self._session.start(*self._started, at_tick=at_tick))

    def define_and_start(self, actions: Iterable[Action]) -> int:
        """As `start`, of new actions that no end is judged of: they are defined and start in one request, or neither.

        Raises:
            as `Session.replace`; then it is over.
        """
        return self._begin(lambda: self._session.replace(actions, start=self._started))

    def _begin(self, start: Callable[[], int]) -> int:
        self._starting = True
        try:
            tick = start()
        except BaseException:
            self.give_up()
            raise
        with self._changed:
            self.tick = tick
            for event in self._early:
                self._take(event)
            self._early.clear()
            self._changed.notify_all()
        self._tell()
        return tick

    def stop(self) -> None:
        """Ask for its end, and do not wait for it: parts take their default action, a motion group stops on its path.
        What was reached and is still active is stopped, too.

        Raises:
            RobotControlError: the workcell does not answer.
        """
        with self._changed:
            self._stopping = True
            is_over = self._ending is not None and not self._active
        if is_over or not self._starting:
            return
        with suppress(CommandRefused, SessionError):  # it has just ended, and the event that says so comes
            try:
                self._session.stop(*sorted(self._ids))  # all: one may have started a moment ago
            except DefinitionError:  # one was removed
                if self._active:
                    self._session.stop(*self.active)

    def cancel(self, timeout_s: float = REST_S) -> Ending:
        """Stop it, and wait until nothing of it is active and its parts stand still.

        Args:
            timeout_s: in the workcell's time.

        Raises:
            TimeoutError: they do not.
            RobotControlError: the workcell does not answer.
        """
        backend = self._session.backend
        until = backend.now() + timeout_s
        self.stop()
        ending = self.wait(timeout_s)
        while self._active or not self.at_rest:
            if backend.now() > until:
                raise TimeoutError(f"{', '.join(self._parts)} did not come to rest within {timeout_s:g} s")
            backend.sleep(_LOOK_S)
            self.poll()
        return ending

    # --- what the session calls -----------------------------------------------------------------

    def judge(self, *added: Action | ActionDefinition) -> None:
        """Define actions, and new reactions that judge the ends: they fire also if a condition holds already."""
        if not self._until and not added:
            return
        self._tries += 1
        names = {f"followed_{self._number}_{self._tries}_{i}": end for i, end in enumerate(self._until)}
        if not added and not names:
            return
        self._names |= names  # events may come before `add` returns
        try:
            self._session.add(
                *added,
                reactions=[Reaction(self._until[e], event=e, name=name, fire_once=True) for name, e in names.items()],
            )
        except BaseException:
            self._names = {name: end for name, end in self._names.items() if name not in names}
            raise

    def concerns(self, ids: Iterable[str]) -> bool:
        """Whether it has to do with one of these actions."""
        return not self._ids.isdisjoint(ids)

    def unjudged(self, gone: Iterable[str]) -> None:
        """An action of it was removed, and with it these reactions."""
        self._names = {name: end for name, end in self._names.items() if name not in gone}
        if not self._starting:
            self.give_up()

    def give_up(self) -> None:
        """It does not start."""
        queue, self.queue = self.queue, None
        if queue is not None:
            self._session.drop(queue)
        names, self._names = self._names, {}
        self._session.judged(names)
        self._session.forget(self)

    @property
    def reaction_names(self) -> list[str]:
        """All that it has in the session."""
        return list(self._names)

    def call(self, on_end: Callable[[Ending], object]) -> Callable[[Event], None]:
        """Have `on_end` called once. Returns the callback of `queue`, which is dropped then."""

        def look(_: Event) -> None:
            ending = self.poll()
            if ending is not None and self.queue is not None:
                queue, self.queue = self.queue, None
                self._session.drop(queue)
                on_end(ending)

        return look

    def leave(self, reason: str) -> None:
        """The session has ended, and no event has reported that."""
        with self._changed:
            self._active.clear()
            self._decide(End.SESSION_LOST, reason)
            self._changed.notify_all()
        self._tell()

    def receive(self, event: Event) -> None:
        """In the receiving thread; never blocks."""
        with self._changed:
            before = self.active, self._ending
            if self.tick:
                self._take(event)
                self._changed.notify_all()
            else:
                self._early.append(event)
            if not self._must_ask and (self.active, self._ending) == before:
                return
        self._tell()

    def _tell(self) -> None:
        queue = self.queue
        if queue is not None and (self._ending is not None or self._must_ask):
            queue.put(Event(kind=Kind.COMMAND_DONE, tick=self.tick))
        self._on_change()

    def _take(self, event: Event) -> None:
        kind, previous, current = event.kind, event.previous_action, event.current_action
        if kind == Kind.SESSION_ENDED:
            self._active.clear()
            self._decide(End.SESSION_LOST, event.reason, event.tick)
        elif kind == Kind.EVENTS_LOST:
            self._must_ask = True
        elif event.tick < self.tick:  # of what was before the start: what held then does not become true anew
            self._must_ask = self._must_ask or event.reaction in self._names
        elif kind == Kind.PROTECTIVE_STOP:
            self._stop = event.reason
        elif kind == Kind.PART_FAULTED:
            self._faults[event.part] = f"part {event.part!r}: {event.reason}"
        elif kind == Kind.COMMAND_REFUSED and current in self._started and not self._begun:
            self._decide(End.ABORTED, event.reason, event.tick)
        elif kind == Kind.REACTION_FIRED and event.reaction in self._names:
            self._decide(End.REACHED, "", event.tick, name=self._names[event.reaction])
        elif kind == Kind.REACTION_FIRED and previous in self._ids and current != previous:
            self._next = event.tick, current
        elif kind == Kind.ACTION_STARTED and current in self._ids:
            self._active[current] = None
            self._begun = True
            self._parts |= dict.fromkeys(event.part.split(", ") if event.part else ())
        elif kind in (Kind.ACTION_STOPPED, Kind.ACTION_FAILED) and previous in self._active:
            self._stopped(event)
        elif kind == Kind.ACTION_STOPPED and previous in self._started and event.tick == self.tick:
            self._must_ask = True  # it was entered again; likewise
        if self._ending is not None and not self._active:
            self._session.forget(self)

    def _stopped(self, event: Event) -> None:
        """One of its active actions has ended."""
        del self._active[event.previous_action]
        cause = cause_of(event.reason) if event.kind == Kind.ACTION_STOPPED else StopCause.FAILURE
        if cause in (StopCause.SESSION_END, StopCause.SERVER_LOST):
            return  # the end of the session follows, with the reason
        if cause == StopCause.REACTION:
            if self._next[0] == event.tick and self._next[1] in self._ids:
                self._active[self._next[1]] = None  # the event of its start comes next
            if self._active:
                return
        faults = self.faults
        if cause == StopCause.COMMAND and self._stopping:
            end = End.CANCELLED
        elif cause == StopCause.MEMBER_FAILED and faults:
            end = End.FAULTED
        else:
            end = End.ABORTED if cause is None else _ENDS.get(cause, End.ABORTED)
        more = self._stop if end == End.PROTECTIVE_STOP else faults if end == End.FAULTED else ""
        words = event.reason + (f": {more}" if more else "")
        self._decide(end, words, event.tick, action=event.previous_action)

    def _decide(self, end: End, reason: str, tick: int = 0, *, name: str = "", action: str = "") -> None:
        if self._ending is None:
            self._ending = Ending(end=end, name=name, reason=reason, action=action, tick=tick)
            names, self._names = self._names, {}
            self._session.judged(names)

    def _ask(self) -> None:
        """Events were lost: what is active now, and do its ends hold? The loop judges them by new reactions."""
        if not self._asking.acquire(blocking=False):
            return  # another thread does
        session, ids = self._session, sorted(self._ids)
        try:
            self._must_ask = False
            if not self.tick or session.backend.present()[0] < self.tick:
                self._must_ask = True  # its start is still to come
                return
            if self._idle_at is None and self._ending is None:
                with suppress(DefinitionError):  # an action of it was removed
                    self.judge()
            values = session.values(["time", *(f"{id}.elapsed" for id in ids)])
            active = [id for id in ids if not math.isnan(values.get(f"{id}.elapsed", math.nan))]
            self._found(dict.fromkeys(active), values["time"])
        except RobotControlError as error:  # `poll` sees it if the session has ended
            _log.warning("how %s goes on is not known yet: %s", ", ".join(self._started), error)
            self._must_ask = True
        finally:
            self._asking.release()

    def _found(self, active: dict[str, None], time: float) -> None:
        """What the server says: an older tick than the start's may be in its first answer, not in a later one."""
        with self._changed:
            if self._ending is not None:
                self._active = active
                return
            self._parts |= dict.fromkeys(self._session.parts)  # which of them is moved may be lost
            if active:
                self._active, self._begun, self._idle_at = active, True, None
            elif self._idle_at is None or time <= self._idle_at:
                self._idle_at = time if self._idle_at is None else self._idle_at
                self._must_ask = True
            else:
                self._decide(End.EVENTS_LOST, "it has ended, and events were lost: nothing says how")
