"""A session of a lockstep client: waiting lets the workcell tick."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from robot_rt_control.client.actions import Reaction
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition
from robot_rt_control.client.recording import Recording
from robot_rt_control.server.link.snapshot_view import SnapshotView
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.testing.cell_session import CellSession
from robot_rt_control.vocabulary.errors import DefinitionError, SessionError, unknown

if TYPE_CHECKING:
    from robot_rt_control.testing.lockstep_client import LockstepClient

Reader = Callable[[SnapshotView], float]


def _action_value(action: DefinedAction, variable: str, view: SnapshotView) -> float:
    return view.action_value(action, variable)


class LockstepSession(CellSession):
    """Made by `LockstepClient.session`; a context manager, with the methods of `client.Session`.

    Callbacks are called between two ticks, in the program's own thread: simulated time stands still meanwhile.
    """

    def __init__(
        self,
        client: LockstepClient,
        parts: Iterable[str],
        *,
        lease_s: float,
        name: str,
        deadline_s: float = 0.0,
        read_only: bool = False,
    ) -> None:
        super().__init__(
            client.cell, parts, lease_s=lease_s, name=name, deadline_s=deadline_s, read_only=read_only
        )
        self._client = client
        self._received: list[Event] = []
        self._taken: dict[str, int] = {}
        self._waiting: deque[Callable[[], None]] = deque()
        self._names = 0
        client.add_listener(self._receive)

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self) -> LockstepSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session; its parts take their safety action. Callbacks finish what has come."""
        if self.ended is None:
            super().close()
            self._client.step()
        self._call_back()
        self._client.remove_listener(self._receive)

    # --- looking --------------------------------------------------------------------------------

    def value(self, name: str) -> float:
        """Value of a state variable of a part, or of an action of this session, after the last tick; NaN: unknown.

        Raises:
            DefinitionError: there is none of this name.
        """
        return self._reader(name)(self._cell.view)

    def _reader(self, name: str) -> Reader:
        """What finds the variable in a snapshot."""
        variables = self._cell.server.variables
        if name in variables:
            offset = variables[name].offset
            return lambda view: view.value(offset)
        own: dict[str, Reader] = {}
        for action in self._cell.server.contents(self._session).actions.values():
            for variable in action.type.action_type.state_variables:
                read = functools.partial(_action_value, action, variable.name)
                own[f"{action.id}.{variable.name}"] = read
        if name not in own:
            known = unknown("state variable", name, [*own, *variables])
            raise DefinitionError(f"state variable {name!r} is not known", expected=known)
        return own[name]

    @contextmanager
    def record(self, *names: str, period_s: float = 0.0) -> Iterator[Recording]:
        """Record state variables while the context lives, in each tick (`period_s` is for the wall clock).

        Raises:
            DefinitionError: there is none of this name.
        """
        recording = Recording(names)
        self._client.start_recording(recording, [self._reader(name) for name in names])
        try:
            yield recording
        finally:
            self._client.end_recording(recording)

    # --- events ---------------------------------------------------------------------------------

    @property
    def events(self) -> list[Event]:  # type: ignore[override]  # as an application's session gives them
        """The session's events, oldest first."""
        return list(self._received)

    @property
    def called_by_cell(self) -> bool:
        """Never: whatever waits calls back, so that a callback may wait, too."""
        return False

    def wait_for(self, name: str, timeout_s: float | None = None) -> Event:
        """Run ticks until the next event of this name that `wait_for` has not given yet; also one that came before.

        Raises:
            TimeoutError: it did not come in time (simulated).
            SessionError: the session ended meanwhile, with the reason.
        """
        cell = self._client.cell
        last = None if timeout_s is None else cell.tick + round(timeout_s / cell.workcell.period)
        while True:
            self._call_back()
            for event in self._received:
                if name in (event.name, event.kind) and event.sequence > self._taken.get(name, 0):
                    self._taken[name] = event.sequence
                    return event
            if self.ended is not None:
                what = f"session {self.id!r} ended while waiting for the event {name!r}: {self.ended}"
                raise SessionError(what)
            if last is not None and cell.tick >= last:
                came = sorted({e.name for e in self._received if e.name})
                raise TimeoutError(f"the event {name!r} did not come within {timeout_s:g} s; events so far: {came}")
            self._client.step()

    def wait_until(self, condition: str | Condition, timeout_s: float | None = None) -> Event:
        """Run ticks until a condition on state variables holds.

        Raises:
            DefinitionError: the condition is not valid.
            TimeoutError: it did not hold in time (simulated).
            SessionError: the session ended meanwhile.
        """
        self._names += 1
        name = f"wait_{self._names}"
        self.add(reactions=[Reaction(condition, event=name, name=name, fire_once=True)])
        try:
            return self.wait_for(name, timeout_s)
        except TimeoutError:
            raise TimeoutError(f"the condition {str(condition)!r} did not hold within {timeout_s:g} s") from None
        finally:
            if self.ended is None:
                self.remove(reactions=[name])

    def _receive(self, event: Event) -> None:
        if event.session not in (self.id, ""):
            return
        self._received.append(event)
        self._waiting += self._calls_for(event)

    def _call_back(self) -> None:
        while self._waiting:
            self._waiting.popleft()()
