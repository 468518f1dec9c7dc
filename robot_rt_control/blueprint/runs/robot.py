"""The robot as the executor of blueprints sees it: over ROS or over a lockstep cell, by a client's `Backend` alone."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.client.actions import Reaction
from robot_rt_control.client.backend import Backend, SessionRequest
from robot_rt_control.client.event import Event
from robot_rt_control.client.session import Session
from robot_rt_control.vocabulary.defaults import LEASE_S
from robot_rt_control.vocabulary.errors import (
    CommandRefused,
    DefinitionError,
    RobotControlError,
    SessionError,
    unknown,
)
from robot_rt_control.vocabulary.event_kinds import Kind

STOP_VARIABLE = "protective_stop"
Values = Mapping[str, float | Sequence[float]]


class Robot:
    """All runs of one process share it. One thread at a time; events may arrive in another one.

    Args:
        backend: the workcell.
        on_change: called when something has happened that `Executor.update` should look at; in any thread, and must
            return at once.
        say: takes a text for the speech output.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        on_change: Callable[[], object] = lambda: None,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.backend, self.on_change, self.say = backend, on_change, say
        self._fired: deque[Event] = deque()
        self._stop_came: bool | None = None
        """The protective stop by the last event; None: no event has come since the last look."""
        self._stopped = False
        self.stops = 0
        """Counts protective stops: one may be released before anybody has looked."""
        self._watches: dict[str, Watched] = {}
        self.problem = ""
        """Why the last question was not answered; empty: it was."""
        backend.add_listener(self._take)

    def close(self) -> None:
        """Let go of the backend's events."""
        self.backend.remove_listener(self._take)

    def _take(self, event: Event) -> None:
        """In the receiving thread."""
        if event.kind in (Kind.PROTECTIVE_STOP, Kind.PROTECTIVE_STOP_RELEASED):
            self._stop_came = event.kind == Kind.PROTECTIVE_STOP
            self.stops += self._stop_came
        elif event.kind == Kind.REACTION_FIRED and event.session in self._watches:
            self._fired.append(event)
        elif event.kind != Kind.SESSION_ENDED:
            return
        self.on_change()

    # --- what is true now -----------------------------------------------------------------------

    def values(self, names: Sequence[str]) -> Values:
        """State variables and vectors of the workcell, all of one tick. Unknown names are left out; the result
        is empty if the server does not answer."""
        try:
            found = self.backend.state_values(names, "") if names else {}
            self.problem = ""
        except RobotControlError as error:
            self.problem, found = str(error), {}
        vectors: dict[str, list[float]] = {}
        for name, value in found.items():
            if name.endswith("]"):
                vectors.setdefault(name[: name.rindex("[")], []).append(value)
        return {**vectors, **found}

    def look_for_stop(self) -> bool:
        """Whether there is a protective stop, asked for at this moment."""
        self._stop_came = None
        found = self.values([STOP_VARIABLE])
        if STOP_VARIABLE in found:
            self._stopped = found[STOP_VARIABLE] == 1.0
        return self._stopped

    @property
    def is_stopped(self) -> bool:
        """Whether there is a protective stop, as far as events say."""
        if self._stop_came is not None:
            self._stopped, self._stop_came = self._stop_came, None
        return self._stopped

    # --- sessions -------------------------------------------------------------------------------

    def check(self, parts: Sequence[str]) -> None:
        """Check that parts can be moved, before anything moves.

        Raises:
            CommandRefused: a protective stop, a part that is disabled or faulted.
            SessionError: a part is held; names the holder.
            DefinitionError: there is no such part.
        """
        known = {info.name: info for info in self.backend.list_parts()} if parts else {}
        for part in parts:
            if part not in known:
                raise DefinitionError(f"unknown part {part!r}", expected=unknown("part", part, known))
        # What moves nothing says, asks and calls others: it waits for the release as well.
        if self.look_for_stop():
            raise CommandRefused("a protective stop holds the robot", hint="Release it first")
        for part in parts:
            info = known[part]
            if info.operational_state == "faulted":
                raise CommandRefused(
                    f"part {part!r} is faulted: {info.fault}", hint="Clear the fault, and enable the part"
                )
            if info.operational_state != "enabled":
                raise CommandRefused(f"part {part!r} is {info.operational_state}", hint="Enable it first")
            if info.session:
                raise SessionError(f"part {part!r} is held by {self._shown(info.session)}")

    def _shown(self, session: str) -> str:
        name = next((s.name for s in self.backend.list_sessions() if s.id == session), "")
        return f"session {session!r} ({name})" if name else f"session {session!r}"

    def open(self, name: str, parts: Sequence[str]) -> Session:
        """A session on parts; a lease keeps it while this process lives.

        Raises:
            SessionError: a part is taken; names the holder.
        """
        return Session(self.backend, SessionRequest(name=name, parts=tuple(parts), lease_s=LEASE_S))

    def watch(self, name: str, conditions: Sequence[str]) -> Watched:
        """Have the loop judge conditions in every tick.

        Raises:
            DefinitionError: a condition is not valid.
        """
        session = Session(self.backend, SessionRequest(name=name, parts=(), lease_s=LEASE_S, read_only=True))
        watched = Watched(session=session, robot=self)
        self._watches[session.id] = watched
        try:
            session.add(reactions=[Reaction(when, event=f"r{i}", place="") for i, when in enumerate(conditions)])
        except RobotControlError:
            watched.close()
            raise
        return watched

    def sort_fired(self) -> None:
        """Hand what has fired to its watches."""
        while self._fired:
            event = self._fired.popleft()
            watched = self._watches.get(event.session)
            if watched is not None and event.name.startswith("r"):
                watched.fired.append(int(event.name[1:]))

    def forget(self, session: str) -> None:
        """A watch is closed."""
        self._watches.pop(session, None)


@dataclass(eq=False)
class Watched:
    """Conditions that the loop judges.

    Args:
        fired: indices of those that became true, in this order; the taker empties it.
    """

    session: Session
    robot: Robot
    fired: list[int] = field(default_factory=list)

    def close(self) -> None:
        """Have them judged no more."""
        self.robot.forget(self.session.id)
        self.session.close()


class Look(Mapping[str, float | Sequence[float]]):
    """State variables of one moment, read when the first is asked for, together with all in `names`.

    Args:
        names: those that may be asked for; grows with others that are.
    """

    def __init__(self, robot: Robot, names: dict[str, None]) -> None:
        self._robot, self._names = robot, names
        self._read: Values | None = None

    def _values(self, name: str) -> Values:
        if self._read is None or name not in self._names:
            self._names[name] = None
            self._read = self._robot.values(list(self._names))
        return self._read

    def __getitem__(self, name: str) -> float | Sequence[float]:
        return self._values(name)[name]

    def get(self, name: str, default: Any = math.nan) -> Any:
        return self._values(name).get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def moment(robot: Robot, names: dict[str, None]) -> Moment:
    """The present moment."""
    tick, time = robot.backend.present()
    return Moment(tick=tick, time=time, values=Look(robot, names))
